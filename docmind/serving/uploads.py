"""The documents of one visitor: kept in a temporary folder, with indexes of their own, and gone with the visit."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from threading import RLock

from docmind.config import Settings
from docmind.corpus import FORMATS, decoding, pdf
from docmind.errors import CorpusError, StorageError
from docmind.files import own_folder
from docmind.models import Models
from docmind.protocols import Progress
from docmind.retrieval.searcher import Searcher
from docmind.text import nfc

MEGABYTES = pdf.MAX_BYTES // 2**20
"""Of a PDF. `.streamlit/config.toml` has a browser refuse a larger file before it is sent."""

TEXT_MEGABYTES = decoding.MAX_BYTES // 10**6
"""Of any other file."""

NAME_BYTES = 200
"""Of a file's name without its suffix: file systems take 255."""

DOCUMENTS = "documents"
"""The folder of the files, below the corpus: at the top of a corpus some names, such as README.md, are left out."""


@dataclass(frozen=True, slots=True)
class Told:
    """What became of one file. `trouble` says why it was refused or, if it was `taken`, what of it cannot be found.
    `replaced`: it took the place of another of its name."""

    name: str
    taken: bool
    trouble: str = ""
    replaced: bool = False


class Uploads:
    """The files of one visitor under unique `names`, and the `searcher` over them, None where there are none.

    A change is made whole or not at all: files are read and indexed aside, then the new searcher takes the place of
    the old. The files and indexes of what was replaced or deleted are removed at once (not its vectors, of which each is
    known by the hash of its text alone). All is removed by `close`, or when this object or the process ends.
    """

    def __init__(self, models: Models) -> None:
        self._models = models
        self._folder = own_folder()
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._lock = RLock()
        self._closed = False
        self._version = 0
        self.searcher: Searcher | None = None
        self.names: tuple[str, ...] = ()

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """While this is held no other thread changes or removes anything."""
        with self._lock:
            try:
                yield
            finally:
                if self._closed:
                    self._end()

    def add(self, files: Sequence[tuple[str, bytes]], strategy_name: str, progress: Progress) -> list[Told]:
        """Take in the `files` (name, contents) of one upload, and index them for that strategy. What cannot be read is
        refused, and an earlier file of its name stays.

        A file whose name is there already replaces the other. Of files with one name within the upload, those that
        differ are kept apart, as "name (2).md". Raises DocMindError where they cannot be indexed; nothing is changed.
        """
        with self._changing() as aside:
            told, kept = [], self._paths()
            apart = _apart(files, self.names)
            with progress("reading", len(apart)) as advance:
                for name, contents in apart.items():
                    path = aside / DOCUMENTS / name
                    taken = _take(path, contents)
                    if taken.taken:
                        taken = replace(taken, replaced=name in kept and kept[name].read_bytes() != contents)
                        kept[name] = path
                    told.append(taken)
                    advance(1)
            if any(file.taken for file in told):
                self._replace(aside, kept, strategy_name, progress)
            return told

    def delete(self, name: str, strategy_name: str, progress: Progress) -> None:
        """Forget the file of that name, one of `names`."""
        with self._changing() as aside:
            kept = self._paths()
            del kept[name]
            self._replace(aside, kept, strategy_name, progress)

    def close(self) -> None:
        """Remove everything: at once, or where it is in use, as soon as it is not."""
        self._closed = True
        if self._lock.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._lock.release()

    def _end(self) -> None:
        if self.searcher:
            self.searcher.close()
        self.searcher, self.names = None, ()
        self._remove()

    def _paths(self) -> dict[str, Path]:
        return {name: self._folder / str(self._version) / DOCUMENTS / name for name in self.names}

    @contextmanager
    def _changing(self) -> Iterator[Path]:
        """The folder of the next version. Whatever happens, only the version that counts is there afterwards. Raises
        StorageError where the disk is full or the folder gone; and after `close`: what is added then, nobody would remove."""
        with self.in_use():
            if self._closed:
                raise StorageError(
                    "This visit has ended, and its documents are removed. Reload the page to begin anew."
                )
            aside = self._folder / str(self._version + 1)
            try:
                (aside / DOCUMENTS).mkdir(parents=True)
                yield aside
            except OSError as error:
                raise StorageError(
                    f"The documents cannot be kept: {error.strerror or error}. Free space on the disk that holds "
                    f"{self._folder.parent}; if it has room, reload the page and add them anew."
                ) from error
            finally:
                for version in self._folder.glob("[0-9]*"):
                    if version.name != str(self._version):
                        shutil.rmtree(version, ignore_errors=True)

    def _replace(self, aside: Path, kept: Mapping[str, Path], strategy_name: str, progress: Progress) -> None:
        """Make `kept`, the paths by name, the documents: indexed in `aside`, and only then asked."""
        searcher = None
        used = set()
        index_dir = self._folder / "index"
        for name, path in kept.items():
            if not path.is_relative_to(aside):
                shutil.copy2(path, aside / DOCUMENTS / name)
        if kept:
            settings = Settings(corpus=aside, index_dir=index_dir)
            searcher = Searcher(settings, self._models, progress, keep=False)  # text that is deleted shall be gone
            try:
                strategy = searcher.find(strategy_name)
                searcher.retriever(strategy, progress)
                used.add(searcher.collection(strategy.chunker).index.folder)
            except BaseException:  # the page ends a run by an exception of its own
                searcher.close()
                raise
        old, self.searcher = self.searcher, searcher
        self.names, self._version = tuple(sorted(kept)), self._version + 1
        if old:
            old.close()
        for index in index_dir.iterdir():
            if index.is_dir() and index not in used:
                shutil.rmtree(index)


def _apart(files: Sequence[tuple[str, bytes]], there: Sequence[str]) -> dict[str, bytes]:
    """The contents under names of their own that are safe in a folder. Equal files of one name are one; a name made up
    for another is none of those `there`."""
    apart: dict[str, bytes] = {}
    for given, contents in files:
        path = PurePosixPath(_safe(given))
        stem = path.stem.encode()[:NAME_BYTES].decode(errors="ignore")
        name, copy = f"{stem}{path.suffix}", 1
        while apart.get(name, contents) != contents or (copy > 1 and name in there):
            copy += 1
            name = f"{stem} ({copy}){path.suffix}"
        apart[name] = contents
    return apart


def _safe(name: str) -> str:
    """The last part of the path, composed (NFC), without what cannot be seen, and without the dot that hides a file."""
    last = nfc(name).replace("\\", "/").rpartition("/")[2]
    return "".join(filter(str.isprintable, last)).strip().lstrip(".") or "document"


def _take(path: Path, contents: bytes) -> Told:
    """Write the file and read it as it will be read; a refused one is not left there."""
    name = path.name
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        return Told(name, False, f"{name} is none of the formats that are read: {', '.join(FORMATS)}.")
    path.write_bytes(contents)
    try:
        document = FORMATS[suffix](path, name)
        if not document.text.strip():
            raise CorpusError(f"{name} is empty: there is no text in it.")
    except CorpusError as error:
        path.unlink()
        return Told(name, False, str(error).replace(str(path), name))
    return Told(name, True, " ".join(f"{name}: {trouble}." for trouble in pdf.troubles(document)))
