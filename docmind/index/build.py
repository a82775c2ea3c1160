"""An index on disk: built aside, checked, renamed into place, and never changed after.

    <index folder>/
      vectors.sqlite3               the vector cache (cache.py)
      headers-3fd0c1…/              an index, named by the hash of model, chunks and code
        chroma/  vectors.npy        store.py
        token_*.npy                 tokens.py, where the model gives token vectors
        manifest.json               checksums of the files above; written last
      used-….json                   which of them the last runs used (upkeep.py)
      .building-…                   an index that is being made, or that a killed build left

A changed chunk has another hash, and so has other code or another library that makes an index or its vectors, so that an
old index can never be taken for a new one.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import shutil
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import numpy as np

from docmind.code import digest
from docmind.errors import StorageError
from docmind.files import gone
from docmind.index import canaries, store, tokens
from docmind.index.cache import COMMIT_EVERY, CachedEmbedder
from docmind.index.rows import RowFile
from docmind.index.store import ChromaIndex
from docmind.index.tokens import TokenStore, TokenWriter
from docmind.protocols import Advance
from docmind.types import Chunk

log = logging.getLogger(__name__)

FORMAT = 2
"""Counts the changes of what an index folder holds, so that a newer DocMind leaves an older one's folders alone."""

CODE, LIBRARIES = ("index",), ("chromadb", "numpy")
"""What makes an index of vectors."""

MANIFEST = "manifest.json"
BUILDING = ".building-"
ABANDONED_AFTER = 3600.0
"""Seconds without a change after which a half-built folder is taken for a killed build's, where its process cannot be looked
for. A build writes for seconds: its vectors are in the cache before it makes the folder."""

ATTEMPTS = 3
"""Chroma's graph is random; a rare one that fails its check is made again."""


class Index:
    """An opened index: `vectors`, and `tokens` where the model gives them. Positions are those of `chunks`."""

    def __init__(self, folder: Path, chunks: Sequence[Chunk], *, built: bool = False) -> None:
        """`built`: it was made just now, and not found."""
        self.folder = folder
        self.built = built
        self.vectors = ChromaIndex(folder, chunks)
        self.tokens = TokenStore(folder) if (folder / tokens.FILES[0]).exists() else None

    def close(self) -> None:
        """Let go of the files."""
        self.vectors.close()


def open_or_build(
    name: str, chunks: Sequence[Chunk], embedder: CachedEmbedder, index_dir: Path, advance: Advance | None = None
) -> Index:
    """The index of `chunks`, which rise by (document, order); built if it is not there or is damaged.

    `advance` is told of chunks embedded, or found in the cache. Raises ModelError where a chunk is longer than the
    model reads, StorageError where the folder cannot be written.
    """
    folder = index_dir / f"{name}-{_key(chunks, embedder)}"
    try:
        if _whole(folder) and _proven(folder, chunks, embedder):
            if advance:
                advance(len(chunks))
            return Index(folder, chunks)
        _build(folder, chunks, embedder, advance)
        return Index(folder, chunks, built=True)
    except OSError as error:
        raise StorageError(
            f"{folder}: the index cannot be written or read ({error}). It needs a folder that can be written and free "
            f"disk space; name another with --index-dir."
        ) from error


def version(embedder: CachedEmbedder) -> str:
    """All that decides what stands in an index, beside its chunks."""
    return f"{FORMAT}\x1f{embedder.version}\x1f{digest(CODE, LIBRARIES)}"


def _key(chunks: Sequence[Chunk], embedder: CachedEmbedder) -> str:
    of = hashlib.sha256(version(embedder).encode())
    for chunk in chunks:
        of.update(chunk.id.encode())
    return of.hexdigest()[:16]


def _build(folder: Path, chunks: Sequence[Chunk], embedder: CachedEmbedder, advance: Advance | None) -> None:
    texts = [chunk.text for chunk in chunks]
    lengths = embedder.keep_tokens(texts, advance=advance) if embedder.has_tokens else None
    if lengths is None:
        embedder.embed(texts, advance=advance)

    folder.parent.mkdir(parents=True, exist_ok=True)
    _sweep(folder.parent)
    for _ in range(ATTEMPTS):
        aside = folder.with_name(f"{BUILDING}{os.getpid()}-{secrets.token_hex(4)}")
        try:
            aside.mkdir()
            _write_vectors(aside, texts, embedder, lengths)
            store.write(aside, chunks)
            with closing(ChromaIndex(aside, chunks)) as built:
                fault = built.fault()
            if fault is None:
                (aside / MANIFEST).write_text(json.dumps({"files": _checksums(aside)}, indent=1), encoding="utf-8")
                _put_in_place(aside, folder)
                return
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        log.warning("%s: %s; it is built again", folder, fault)
    raise StorageError(f"{folder}: {fault}, {ATTEMPTS} times in a row. Please report it, with your documents' number.")


def _write_vectors(folder: Path, texts: Sequence[str], embedder: CachedEmbedder, lengths: Sequence[int] | None) -> None:
    """From the cache to the files of `folder`, in groups. `lengths` are the texts' numbers of tokens, where the model has
    token vectors."""
    with ExitStack() as files:
        rows = files.enter_context(RowFile(folder / store.VECTORS, (len(texts), embedder.dim), np.float32))
        writer = files.enter_context(TokenWriter(folder, lengths, embedder.dim)) if lengths is not None else None
        for start in range(0, len(texts), COMMIT_EVERY):
            some = texts[start : start + COMMIT_EVERY]
            if writer:
                vectors, token_vectors = embedder.embed_tokens(some)
                writer.write(token_vectors)
            else:
                vectors = embedder.embed(some)
            rows.write(vectors)


def _put_in_place(aside: Path, folder: Path) -> None:
    try:
        aside.rename(folder)
    except OSError:
        # Another build of the same chunks was first; what it made is as good.
        if not _whole(folder):
            raise


def _whole(folder: Path) -> bool:
    """Whether `folder` holds a finished index whose files are as they were written. A damaged one is removed."""
    if not folder.is_dir():
        folder.unlink(missing_ok=True)
        return False
    try:
        expected = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        if expected == _checksums(folder):
            return True
        reason = "its files differ from its manifest"
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = str(error)
    log.warning("%s: the index is damaged (%s); it is built anew", folder, reason)
    shutil.rmtree(folder)
    return False


def _proven(folder: Path, chunks: Sequence[Chunk], embedder: CachedEmbedder) -> bool:
    """Whether some chunks, embedded anew, have the vectors that stand in `folder`. An index that has others is removed."""
    positions = {chunk.text: position for position, chunk in enumerate(chunks)}
    vectors = np.load(folder / store.VECTORS, mmap_mode="r")
    of_tokens = TokenStore(folder) if embedder.has_tokens else None
    kept = {
        text: (np.array(vectors[at := positions[text]]), of_tokens.vectors(at) if of_tokens else None)
        for text in canaries.chosen(positions, canaries.OF_AN_INDEX)
    }
    if not (odd := canaries.differing(embedder.model, kept)):
        return True
    log.warning(
        "%s: %d of %d chunks that were embedded anew have other vectors; it is built anew", folder, odd, len(kept)
    )
    shutil.rmtree(folder)
    return False


def _checksums(folder: Path) -> dict[str, str]:
    """SHA-256 by relative path. Chroma, which writes whenever it opens its files, gets a copy of them."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != MANIFEST:
            with path.open("rb") as file:
                found[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _sweep(index_dir: Path) -> None:
    for left in index_dir.glob(f"{BUILDING}*"):
        builder = left.name.removeprefix(BUILDING).partition("-")[0]
        with suppress(FileNotFoundError):  # another process was done with it, or swept it
            if gone(builder) or time.time() - left.stat().st_mtime > ABANDONED_AFTER:
                shutil.rmtree(left, ignore_errors=True)
