"""The vector cache: a map from (model, text) to vectors in one SQLite file, and an embedder that reads through it.

A model is its files, the code that runs it and the libraries that compute. Nothing here knows of chunks or documents.
"""

from __future__ import annotations

import hashlib
import logging
from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from docmind.blobs import RowStore
from docmind.code import digest
from docmind.index.canaries import CANARIES, chosen, decoded, differing
from docmind.protocols import Advance, Embedder, FloatMatrix, Tokenizer, TokenVectors

log = logging.getLogger(__name__)

CODE = ("blobs.py", "index/cache.py", "models", "text.py")
LIBRARIES = ("fastembed", "numpy", "onnxruntime", "tokenizers")
"""What decides a vector that is kept, beside the model's files: how it is computed, and how it is stored."""

COMMIT_EVERY = 64
"""Texts embedded between two commits: what a killed run can lose, some seconds of work. Also how many texts' token
vectors are held at once: 64 at the model's limit are 13 MB."""

VECTORS, TOKENS = "vectors", "tokens"


class VectorCache:
    """A VectorCache in the SQLite file `path`; docmind/blobs.py says what it bears."""

    def __init__(self, path: Path) -> None:
        self.path = path
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

    def clear(self) -> None:
        """Forget all."""
        self._rows.clear()

    def close(self) -> None:
        """Let go of the file. It opens again when it is next needed."""
        self._rows.close()


class CachedEmbedder:
    """An Embedder that computes only what the cache does not hold, and keeps what it computed before going on.

    Of the first texts that it finds in the cache, CANARIES with token vectors and as many without, it embeds anew. Where
    what is kept differs, the cache is emptied, with a warning. `embedded` counts the texts that were computed for want of
    kept vectors since it was made; `model` is what computes.
    """

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self.model = embedder
        self._cache = cache
        self._computed: set[bytes] = set()
        self._to_prove = {VECTORS: CANARIES, TOKENS: CANARIES}
        self.embedded = 0

    @property
    def id(self) -> str:
        return self.model.id

    @cached_property
    def version(self) -> str:
        """The model with all that decides a vector: part of the key of everything that is kept and comes of vectors."""
        return f"{self.id}, code and libraries {digest(CODE, LIBRARIES)[:16]}"

    @property
    def dim(self) -> int:
        return self.model.dim

    @property
    def tokenizer(self) -> Tokenizer:
        return self.model.tokenizer

    @property
    def has_tokens(self) -> bool:
        return self.model.has_tokens

    def embed(self, texts: Sequence[str], *, cut: bool = False, advance: Advance | None = None) -> FloatMatrix:
        keys = [self._key(text) for text in texts]
        known = self._cache.vectors(list(dict.fromkeys(keys)))
        if not self._proven(dict(zip(keys, texts, strict=True)), known, None):
            known = {}
        for group in self._missing(keys, texts, set(known), advance):
            vectors = self.model.embed(list(group.values()), cut=cut, advance=advance)
            self._keep(group, vectors)
            known.update(zip(group, vectors, strict=True))
        return self._matrix(keys, known)

    def embed_tokens(
        self, texts: Sequence[str], *, advance: Advance | None = None
    ) -> tuple[FloatMatrix, list[TokenVectors]]:
        keys = [self._key(text) for text in texts]
        distinct = list(dict.fromkeys(keys))
        known, known_tokens = self._cache.vectors(distinct), self._cache.tokens(distinct)
        if not self._proven(dict(zip(keys, texts, strict=True)), known, known_tokens):
            known, known_tokens = {}, {}
        complete = known.keys() & known_tokens.keys()
        for group in self._missing(keys, texts, complete, advance):
            vectors, tokens = self.model.embed_tokens(list(group.values()), advance=advance)
            self._keep(group, vectors, tokens)
            known.update(zip(group, vectors, strict=True))
            known_tokens.update(zip(group, tokens, strict=True))
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
        return self.model.embed_query(text)

    def embed_queries(self, texts: Sequence[str]) -> None:
        self.model.embed_queries(texts)

    def forget_queries(self) -> None:
        self.model.forget_queries()

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.version}\x1f{text}".encode("utf-8", "surrogatepass")).digest()[:20]

    def _keep(
        self, group: Mapping[bytes, str], vectors: FloatMatrix, tokens: Sequence[TokenVectors] | None = None
    ) -> None:
        self._cache.put(list(group), vectors, tokens)
        self._computed.update(group)
        self.embedded += len(group)

    def _proven(
        self,
        texts: Mapping[bytes, str],
        vectors: Mapping[bytes, NDArray[np.float32]],
        tokens: Mapping[bytes, TokenVectors] | None,
    ) -> bool:
        """Whether the cache may be used: false where one of the texts found there was embedded anew and differs. Then it
        is empty now. What this embedder computed itself needs no proof."""
        kind = VECTORS if tokens is None else TOKENS
        complete = vectors.keys() if tokens is None else vectors.keys() & tokens.keys()
        there = {texts[key]: key for key in complete - self._computed} if self._to_prove[kind] else {}
        some = chosen(there, self._to_prove[kind])
        if not some:
            return True
        self._to_prove[kind] -= len(some)
        kept = {text: (vectors[key := there[text]], None if tokens is None else decoded(tokens[key])) for text in some}
        if not (odd := differing(self.model, kept)):
            return True
        log.warning(
            "%s: %d of %d texts that were embedded anew have other vectors than are kept; all kept vectors are thrown away "
            "and made again",
            self._cache.path,
            odd,
            len(some),
        )
        self._cache.clear()
        return False

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
