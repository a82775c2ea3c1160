"""Writes a file whole or not at all. It does not know what it writes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from docmind.errors import StorageError

_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS}


def write_atomic(path: Path, text: str) -> None:
    """Write `text` to `path` as UTF-8 with `\\n` line ends. Readers see the old file or the new one, never a part.

    Missing folders are made. Raises StorageError where the disk is full or the place cannot be written; what stood at
    `path` is then as before.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror}. {_remedy(path, error)}") from error


def _remedy(path: Path, error: OSError) -> str:
    if error.errno in _FULL:
        return f"Free space on the disk that holds {path.parent}, or name a folder on another disk."
    if error.errno in _REFUSED:
        return f"Make {path.parent} writable, or name another folder."
    return f"{path.parent} must be a folder that can be written; name another if it cannot."
