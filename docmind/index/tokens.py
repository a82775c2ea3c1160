"""Token vectors on disk: int8, one scale a token, memory-mapped. They serve late interaction; nothing searches them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from docmind.protocols import FloatMatrix, TokenVectors

FILES = ("token_codes.npy", "token_scales.npy", "token_starts.npy")


def write(folder: Path, tokens: Sequence[TokenVectors], dim: int) -> None:
    """Write the token vectors of every chunk, in order, as FILES in `folder`."""
    codes, scales, starts = (folder / name for name in FILES)
    np.save(starts, np.cumsum([0, *(len(t.scales) for t in tokens)], dtype=np.int64))
    np.save(codes, np.concatenate([np.empty((0, dim), np.int8), *(t.codes for t in tokens)]))
    np.save(scales, np.concatenate([np.empty(0, np.float32), *(t.scales for t in tokens)]))


class TokenStore:
    """The token vectors that `write` left in a folder, by position of the chunk."""

    def __init__(self, folder: Path) -> None:
        self._codes, self._scales, self._starts = (np.load(folder / name, mmap_mode="r") for name in FILES)

    def vectors(self, position: int) -> FloatMatrix:
        """The chunk's token vectors, float32 (tokens, dim), of unit length within the precision of int8."""
        part = slice(self._starts[position], self._starts[position + 1])
        found: FloatMatrix = self._codes[part].astype(np.float32) * self._scales[part][:, np.newaxis]
        return found

    def max_sim(self, question: FloatMatrix, position: int) -> NDArray[np.float32]:
        """For each of the question's token vectors, float32 (tokens, dim), its highest cosine with one of the chunk."""
        part = slice(self._starts[position], self._starts[position + 1])
        codes = self._codes[part].astype(np.float32)
        # So small a product is done by one thread in a third of the time that several need to agree on it.
        with _threads().limit(limits=1, user_api="blas"):
            products = question @ codes.T
        cosines: NDArray[np.float32] = products * self._scales[part]
        best: NDArray[np.float32] = cosines.max(axis=1)
        return best


@cache
def _threads() -> ThreadpoolController:
    """The libraries that numpy computes with; found once, since looking takes longer than a product."""
    return ThreadpoolController()
