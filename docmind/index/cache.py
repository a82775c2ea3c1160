"""The vector cache: a map from (model, text) to vectors in one SQLite file, and an embedder that reads through it.

It is the only thing that is kept from run to run besides finished indexes. Nothing here knows of chunks or documents.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from docmind.errors import StorageError
from docmind.protocols import Advance, Embedder, FloatMatrix, Tokenizer, TokenVectors

log = logging.getLogger(__name__)

T = TypeVar("T")

DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
COMMIT_EVERY = 64
"""Texts embedded between two commits: what a killed run can lose, some seconds of work."""

PATIENCE = 60.0
"""Seconds that a process waits for another that writes."""

TABLES = """
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (key BLOB PRIMARY KEY, codes BLOB NOT NULL, scales BLOB NOT NULL, crc INTEGER NOT NULL);
"""


class VectorCache:
    """Vectors by key, in the SQLite file `path`, which several processes may use at once.

    A file that SQLite calls damaged is removed, with a warning, and begun anew: what it held can be computed again.
    A row whose checksum is wrong counts as absent.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._open: sqlite3.Connection | None = None

    def vectors(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """The vectors there are, float32 (dim,) each."""
        rows = self._select("SELECT key, crc, vector FROM vectors", keys)
        return {key: np.frombuffer(vector, np.float32) for key, (vector,) in rows}

    def tokens(self, keys: Sequence[bytes]) -> dict[bytes, TokenVectors]:
        """The token vectors there are."""
        rows = self._select("SELECT key, crc, codes, scales FROM tokens", keys)
        return {
            key: TokenVectors(
                np.frombuffer(codes, np.int8).reshape(len(scales) // 4, -1), np.frombuffer(scales, np.float32)
            )
            for key, (codes, scales) in rows
        }

    def put(self, keys: Sequence[bytes], vectors: FloatMatrix, tokens: Sequence[TokenVectors] | None = None) -> None:
        """Keep the vectors of `keys`, and their token vectors if given, in one transaction."""
        rows = [(key, blob, zlib.crc32(blob)) for key, blob in zip(keys, (v.tobytes() for v in vectors), strict=True)]
        token_rows = []
        for key, t in zip(keys, tokens or (), strict=tokens is not None):
            codes, scales = t.codes.tobytes(), t.scales.tobytes()
            token_rows.append((key, codes, scales, zlib.crc32(scales, zlib.crc32(codes))))

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
                connection.executemany("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?)", token_rows)

        self._run(write)

    def close(self) -> None:
        """Let go of the file. It opens again when it is next needed."""
        if self._open:
            self._open.close()
            self._open = None

    def _select(self, select: str, keys: Sequence[bytes]) -> Iterator[tuple[bytes, tuple[bytes, ...]]]:
        for start in range(0, len(keys), 500):
            some = keys[start : start + 500]
            query = f"{select} WHERE key IN ({','.join('?' * len(some))})"
            rows: list[tuple[Any, ...]] = self._run(lambda c, q=query, s=some: c.execute(q, s).fetchall())  # type: ignore[misc]
            for key, crc, *blobs in rows:
                actual = 0
                for blob in blobs:
                    actual = zlib.crc32(blob, actual)
                if actual == crc:
                    yield key, tuple(blobs)
                else:
                    log.warning("%s: a vector does not match its checksum; it is computed again", self.path)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return self._attempt(work)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in DAMAGED:
                raise
            log.warning("%s: the vector cache is damaged (%s); it is removed and built anew", self.path, error)
            self.close()
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            return self._attempt(work)

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._explained():
            if self._open is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                # The page serves its visitors from several threads; SQLite itself takes one call at a time.
                self._open = sqlite3.connect(self.path, timeout=PATIENCE, check_same_thread=False)
                _let_readers_in(self._open)
                self._open.executescript(TABLES)
            return work(self._open)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what a user can do about an error that is not damage."""
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGED:
                raise
            raise StorageError(
                f"{self.path}: the vector cache cannot be used ({error}). It needs a folder that can be written and "
                f"free disk space; name another with --index-dir."
            ) from error


def _let_readers_in(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log. SQLite itself does not wait where another process is just doing the same."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(0.01)


class CachedEmbedder:
    """An Embedder that computes only what the cache does not hold, and keeps what it computed before going on.

    `embedded` counts the texts that were computed since it was made.
    """

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache
        self.embedded = 0

    @cached_property
    def id(self) -> str:  # part of every key; looked up once, since a model asks for library versions to make it
        return self._embedder.id

    @property
    def dim(self) -> int:
        return self._embedder.dim

    @property
    def tokenizer(self) -> Tokenizer:
        return self._embedder.tokenizer

    @property
    def has_tokens(self) -> bool:
        return self._embedder.has_tokens

    def embed(self, texts: Sequence[str], *, cut: bool = False, advance: Advance | None = None) -> FloatMatrix:
        keys = [self._key(text) for text in texts]
        known = self._cache.vectors(list(dict.fromkeys(keys)))
        for group in self._missing(keys, texts, set(known), advance):
            vectors = self._embedder.embed(list(group.values()), cut=cut, advance=advance)
            self._cache.put(list(group), vectors)
            known.update(zip(group, vectors, strict=True))
            self.embedded += len(group)
        return self._matrix(keys, known)

    def embed_tokens(
        self, texts: Sequence[str], *, advance: Advance | None = None
    ) -> tuple[FloatMatrix, list[TokenVectors]]:
        keys = [self._key(text) for text in texts]
        distinct = list(dict.fromkeys(keys))
        known, known_tokens = self._cache.vectors(distinct), self._cache.tokens(distinct)
        complete = known.keys() & known_tokens.keys()
        for group in self._missing(keys, texts, complete, advance):
            vectors, tokens = self._embedder.embed_tokens(list(group.values()), advance=advance)
            self._cache.put(list(group), vectors, tokens)
            known.update(zip(group, vectors, strict=True))
            known_tokens.update(zip(group, tokens, strict=True))
            self.embedded += len(group)
        return self._matrix(keys, known), [known_tokens[key] for key in keys]

    def embed_query(self, text: str) -> tuple[NDArray[np.float32], FloatMatrix]:
        # Questions are never cached on disk: each run asks anew, and so measures what a reader waits for.
        return self._embedder.embed_query(text)

    def forget_queries(self) -> None:
        self._embedder.forget_queries()

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.id}\x1f{text}".encode("utf-8", "surrogatepass")).digest()[:20]

    @staticmethod
    def _missing(
        keys: Sequence[bytes], texts: Sequence[str], known: Set[bytes], advance: Advance | None
    ) -> Iterator[dict[bytes, str]]:
        """What is to be computed, in groups of texts of like length: little padding, and a commit after each.

        Short and long groups alternate, so that the time left can be told from the time gone by.
        """
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if advance:
            advance(len(keys) - len(missing))
        ordered = sorted(missing.items(), key=lambda item: len(item[1]))
        groups = deque(dict(ordered[i : i + COMMIT_EVERY]) for i in range(0, len(ordered), COMMIT_EVERY))
        while groups:
            yield groups.popleft()
            if groups:
                yield groups.pop()

    def _matrix(self, keys: Sequence[bytes], known: dict[bytes, NDArray[np.float32]]) -> FloatMatrix:
        return np.stack([known[key] for key in keys]) if keys else np.empty((0, self.dim), np.float32)
