"""The vector cache: a map from (model, text) to vectors in one SQLite file, and an embedder that reads through it.

It is the only thing that is kept from run to run besides finished indexes. Nothing here knows of chunks or documents.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from docmind.blobs import RowStore
from docmind.protocols import Advance, Embedder, FloatMatrix, Tokenizer, TokenVectors

COMMIT_EVERY = 64
"""Texts embedded between two commits: what a killed run can lose, some seconds of work. Also how many texts' token
vectors are held at once: 64 at the model's limit are 13 MB."""

VECTORS, TOKENS = "vectors", "tokens"


class VectorCache:
    """A VectorCache in the SQLite file `path`; docmind/blobs.py says what it bears."""

    def __init__(self, path: Path) -> None:
        self._rows = RowStore(path, {VECTORS: ("vector",), TOKENS: ("codes", "scales")})

    def vectors(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """The vectors there are, float32 (dim,) each."""
        return {key: np.frombuffer(vector, np.float32) for key, (vector,) in self._rows.get(VECTORS, keys).items()}

    def tokens(self, keys: Sequence[bytes]) -> dict[bytes, TokenVectors]:
        """The token vectors there are."""
        return {
            key: TokenVectors(
                np.frombuffer(codes, np.int8).reshape(len(scales) // 4, -1), np.frombuffer(scales, np.float32)
            )
            for key, (codes, scales) in self._rows.get(TOKENS, keys).items()
        }

    def put(self, keys: Sequence[bytes], vectors: FloatMatrix, tokens: Sequence[TokenVectors] | None = None) -> None:
        """Keep the vectors of `keys`, and their token vectors if given, in one transaction."""
        pairs = zip(keys, tokens or (), strict=tokens is not None)
        self._rows.put(
            {
                VECTORS: {key: (vector.tobytes(),) for key, vector in zip(keys, vectors, strict=True)},
                TOKENS: {key: (t.codes.tobytes(), t.scales.tobytes()) for key, t in pairs},
            }
        )

    def close(self) -> None:
        """Let go of the file. It opens again when it is next needed."""
        self._rows.close()


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

    def keep_tokens(self, texts: Sequence[str], *, advance: Advance | None = None) -> list[int]:
        """Embed into the cache what it lacks, and give the number of token vectors of each text.

        They are held a group at a time: those of a whole corpus are a hundred times as large as its text.
        """
        keys = [self._key(text) for text in texts]
        distinct = dict(zip(keys, texts, strict=True))
        if advance:
            advance(len(keys) - len(distinct))
        lengths: dict[bytes, int] = {}
        for group in _groups(distinct):
            _, tokens = self.embed_tokens(list(group.values()), advance=advance)
            lengths.update((key, len(t.scales)) for key, t in zip(group, tokens, strict=True))
        return [lengths[key] for key in keys]

    def embed_query(self, text: str) -> tuple[NDArray[np.float32], FloatMatrix]:
        # Questions are never cached on disk: each run asks anew, and so measures what a reader waits for.
        return self._embedder.embed_query(text)

    def embed_queries(self, texts: Sequence[str]) -> None:
        self._embedder.embed_queries(texts)

    def forget_queries(self) -> None:
        self._embedder.forget_queries()

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.id}\x1f{text}".encode("utf-8", "surrogatepass")).digest()[:20]

    @staticmethod
    def _missing(
        keys: Sequence[bytes], texts: Sequence[str], known: Set[bytes], advance: Advance | None
    ) -> Iterator[dict[bytes, str]]:
        """What is to be computed, in groups."""
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if advance:
            advance(len(keys) - len(missing))
        return _groups(missing)

    def _matrix(self, keys: Sequence[bytes], known: dict[bytes, NDArray[np.float32]]) -> FloatMatrix:
        return np.stack([known[key] for key in keys]) if keys else np.empty((0, self.dim), np.float32)


def _groups(texts: Mapping[bytes, str]) -> Iterator[dict[bytes, str]]:
    """`texts` in groups of like length: little padding, and a commit after each.

    Short and long groups alternate, so that the time left can be told from the time gone by.
    """
    ordered = sorted(texts.items(), key=lambda item: len(item[1]))
    groups = deque(dict(ordered[i : i + COMMIT_EVERY]) for i in range(0, len(ordered), COMMIT_EVERY))
    while groups:
        yield groups.popleft()
        if groups:
            yield groups.pop()
