"""Whether kept vectors are those that the model gives now: a few short texts are embedded anew and compared.

A key names code, versions and files. It does not know the code of a model from outside this package, nor the processor
that a file was made on. What is done about vectors that differ is not known here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np

from docmind.protocols import Embedder, FloatMatrix, TokenVectors

CANARIES = 16
"""Texts of a cache that are embedded anew. It holds vectors of many runs."""

OF_AN_INDEX = 4
"""Chunks of an index that are. It was made at once, so that one of them tells what is wrong with all; a run over an answer
key opens several."""

AMONG = 4
"""As many times as many texts, the shortest, are what is chosen from."""

NOISE = 1e-5
"""How far a component of a vector of length 1 may be off. Another kind of processor changes the last digits of float32,
about a hundredth of it."""

Kept: TypeAlias = "tuple[FloatMatrix, FloatMatrix | None]"
"""Of a text its vector, float32 (dim,), and its token vectors as they are used, float32 (tokens, dim), if it has some."""


def chosen(texts: Iterable[str], count: int) -> list[str]:
    """`count` of `texts`, or as many as there are, always the same of the same: of the shortest, which cost least, by their
    hash."""
    shortest = sorted(set(texts), key=lambda text: (len(text), text))[: AMONG * count]
    return sorted(shortest, key=lambda text: hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())[:count]


def differing(embedder: Embedder, kept: Mapping[str, Kept]) -> int:
    """How many of the texts have other vectors, or token vectors, than `embedder` gives now. Of all or none of them are
    there token vectors."""
    texts = list(kept)
    if not texts:
        return 0
    if any(tokens is None for _, tokens in kept.values()):
        now = embedder.embed(texts, cut=True)
        return sum(not _same(kept[text][0], vector) for text, vector in zip(texts, now, strict=True))
    now, now_tokens = embedder.embed_tokens(texts)
    return sum(
        not (_same(kept[text][0], vector) and _same_tokens(kept[text][1], tokens))
        for text, vector, tokens in zip(texts, now, now_tokens, strict=True)
    )


def decoded(tokens: TokenVectors) -> FloatMatrix:
    """The token vectors as they are used, float32 (tokens, dim)."""
    found: FloatMatrix = tokens.codes.astype(np.float32) * tokens.scales[:, np.newaxis]
    return found


def _same(vector: FloatMatrix, now: FloatMatrix) -> bool:
    return vector.shape == now.shape and bool((np.abs(vector - now) <= NOISE).all())


def _same_tokens(kept: FloatMatrix | None, now: TokenVectors) -> bool:
    """Noise can turn a code into the next one where it lies between both; that is rare, so the mean stays small."""
    fresh = decoded(now)
    if kept is None or kept.shape != fresh.shape:
        return False
    apart = np.abs(kept - fresh)
    return bool((apart <= now.scales[:, np.newaxis] + NOISE).all() and apart.mean() <= NOISE)
