"""Token vectors on disk: int8, one scale a token, memory-mapped. They serve late interaction; nothing searches them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from docmind.index.rows import RowFile
from docmind.protocols import FloatMatrix, TokenVectors

FILES = ("token_codes.npy", "token_scales.npy", "token_starts.npy")


class TokenWriter:
    """Writes FILES in `folder`, from the token vectors of chunk after chunk. `lengths` are their numbers of tokens."""

    def __init__(self, folder: Path, lengths: Sequence[int], dim: int) -> None:
        codes, scales, starts = (folder / name for name in FILES)
        np.save(starts, np.cumsum([0, *lengths], dtype=np.int64))
        self._files = ExitStack()
        self._codes = self._files.enter_context(RowFile(codes, (sum(lengths), dim), np.int8))
        self._scales = self._files.enter_context(RowFile(scales, (sum(lengths),), np.float32))

    def __enter__(self) -> TokenWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Raises ValueError where other tokens came than were announced."""
        self._files.__exit__(kind, error, at)

    def write(self, tokens: Sequence[TokenVectors]) -> None:
        """Add the token vectors of the next chunks."""
        for each in tokens:
            self._codes.write(each.codes)
            self._scales.write(each.scales)


class TokenStore:
    """A TokenIndex over the files that TokenWriter left in a folder."""

    name = "int8"
    exact = True

    def __init__(self, folder: Path) -> None:
        self._codes, self._scales, self._starts = (np.load(folder / name, mmap_mode="r") for name in FILES)

    def vectors(self, position: int) -> FloatMatrix:
        """The chunk's token vectors, float32 (tokens, dim), of unit length within the precision of int8."""
        part = slice(self._starts[position], self._starts[position + 1])
        found: FloatMatrix = self._codes[part].astype(np.float32) * self._scales[part][:, np.newaxis]
        return found

    def max_sim(self, question: FloatMatrix, positions: Sequence[int]) -> NDArray[np.float32]:
        """(tokens, n): for each of the question's token vectors, float32 (tokens, dim), its highest cosine with one of
        each chunk at `positions`.

        One product a chunk: in a product over several, the last digit of a cosine depends on where the chunk stands in
        it, and so on its company.
        """
        best = np.empty((len(positions), len(question)), np.float32)
        for row, position in enumerate(positions):
            part = slice(self._starts[position], self._starts[position + 1])
            cosines = self._codes[part].astype(np.float32) @ question.T
            cosines *= self._scales[part][:, np.newaxis]
            cosines.max(axis=0, out=best[row])
        return best.T
