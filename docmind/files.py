"""Reads and writes files whole or not at all. It does not know what is in them."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Collection, Mapping
from pathlib import Path

from docmind.errors import StorageError

MOST_BYTES = 500_000_000
"""Of a file that is read at once."""

_OWN = "docmind-"
_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}


def read_whole(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of the file. Raises OSError where it cannot be read, has more than `most`, or is a device or a pipe: these may
    never end, or never begin."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # of a folder the system says what it is
        raise OSError(errno.EINVAL, "it is a device or a pipe, which may never end; save what it gives as a file")
    with path.open("rb") as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
    return found


def write_atomic(files: Mapping[Path, str], instead_of: Collection[Path] = ()) -> None:
    """Write each text to its path as UTF-8 with `\\n` line ends. Readers see old files or new ones, never a part.

    All are written beside their places before the first is moved there, so that files which belong together stay
    together. What stood at `instead_of` is removed in between, so that of a run that is killed no file stands beside one
    of another run that tells the same. Missing folders are made. Raises StorageError where the disk is full or a place
    cannot be written; what stood there is then as before. What killed processes left beside these places is removed.
    """
    written: dict[Path, Path] = {}
    path = Path()
    try:
        _sweep({*files, *instead_of})
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_native_id()}.tmp")
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                written[path] = temporary
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        for path in instead_of:
            path.unlink(missing_ok=True)
        for path, temporary in written.items():
            temporary.replace(path)
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror}. {_remedy(path, error)}") from error
    finally:
        for temporary in written.values():
            temporary.unlink(missing_ok=True)


def _sweep(paths: Collection[Path]) -> None:
    """Remove what `write_atomic` left beside `paths` in processes that were killed meanwhile."""
    for folder in {path.parent for path in paths}:
        for left in folder.glob(".*.tmp"):
            name, _, writer = left.name[1:].removesuffix(".tmp").rpartition(".")
            if folder / name in paths and gone(writer.partition("-")[0]):
                left.unlink(missing_ok=True)


def check_writable(folder: Path) -> None:
    """Raise StorageError where `folder` cannot hold files, though it need not exist yet: asked before any work."""
    try:
        there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    except OSError as error:
        raise StorageError(f"{folder}: cannot be a folder: {error.strerror}. Name another.") from error
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise StorageError(
            f"{folder}: nothing can be written there. It must be a folder that can be written; name another."
        )


def _remedy(path: Path, error: OSError) -> str:
    if error.errno in _FULL:
        return f"Free space on the disk that holds {path.parent}, or name a folder on another disk."
    if error.errno in _REFUSED:
        return f"Make {path.parent} writable, or name another folder."
    return f"{path.parent} must be a folder that can be written; name another if it cannot."


def append_line(path: Path, line: str) -> None:
    """Add `line` to the file, on disk before this returns. A line that an earlier writer left unfinished is ended first.
    Raises StorageError as write_atomic does."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    line = f"\n{line}"
            file.write(f"{line}\n".encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror}. {_remedy(path, error)}") from error


def own_folder() -> Path:
    """A new folder for temporary files of this process alone. Those that processes left which were killed are removed."""
    for left in Path(tempfile.gettempdir()).glob(f"{_OWN}*"):
        if gone(left.name.removeprefix(_OWN).partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_OWN}{os.getpid()}-"))


def gone(process: str) -> bool:
    """Whether no process of that number is running, of which a name tells. Only a POSIX system can be asked; on another none is
    known to be gone, nor is what is no such number."""
    if os.name != "posix" or not re.fullmatch(r"[1-9][0-9]{0,6}", process):
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it is somebody else's
        return False
    return False
