"""Token vectors on disk: int8, one scale a token. They serve late interaction; nothing searches them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from docmind.index.rows import RowFile
from docmind.protocols import FloatMatrix, TokenVectors

ALONE = 262_144
"""Multiplications of float32 up to which OpenBLAS has a product done by one thread. Several take longer to agree on so
small a one, and many times as long on a busy machine."""

LANES = 16
"""Numbers of float32 in the widest register: a question's tokens are filled up to a multiple, since BLAS leaves what is
over to a routine that adds in another order."""

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
        self._path = folder / FILES[0]
        codes, self._scales, self._starts = (np.load(folder / name, mmap_mode="r") for name in FILES)
        self._dim, self._offset = codes.shape[1], codes.offset

    def vectors(self, position: int) -> FloatMatrix:
        """The chunk's token vectors, float32 (tokens, dim), of unit length within the precision of int8."""
        part = slice(self._starts[position], self._starts[position + 1])
        codes = np.empty((part.stop - part.start, self._dim), np.int8)
        self._read([position], codes)
        found: FloatMatrix = codes.astype(np.float32) * self._scales[part][:, np.newaxis]
        return found

    def max_sim(self, question: FloatMatrix, positions: Sequence[int]) -> NDArray[np.float32]:
        """(tokens, n): for each of the question's token vectors, float32 (tokens, dim), its highest cosine with one of
        each chunk at `positions`.

        A stack of products of one size, each done by one thread, in which every sum is made in the same order: so a
        cosine does not depend on the company of its chunk, nor on the machine's number of processors.
        """
        count, dim = question.shape
        if not count or not len(positions):
            return np.empty((count, len(positions)), np.float32)
        turned = np.zeros((dim, -(-count // LANES) * LANES), np.float32)
        turned[:, :count] = question.T
        rows = 1 << (max(1, ALONE // turned.size).bit_length() - 1)

        firsts, ends = self._starts[list(positions)], self._starts[[position + 1 for position in positions]]
        at = np.concatenate([[0], np.cumsum(ends - firsts)])
        codes = np.zeros((-(-at[-1] // rows) * rows, dim), np.int8)
        self._read(positions, codes)
        scales = np.concatenate([self._scales[first:end] for first, end in zip(firsts, ends, strict=True)])[
            :, np.newaxis
        ]
        products = (codes.astype(np.float32).reshape(-1, rows, dim) @ turned).reshape(len(codes), -1)
        best: NDArray[np.float32] = np.maximum.reduceat(products[: at[-1], :count] * scales, at[:-1], axis=0)
        return best.T

    def _read(self, positions: Sequence[int], codes: NDArray[np.int8]) -> None:
        """Fill the first rows of `codes` with those of the chunks, one after the other.

        They are read at each call: pages of a mapped file, once touched, would count as this process's memory, and a
        run over an answer key touches all. A file of its own for each call lets threads read at once.
        """
        bytes_of = codes.data.cast("B")
        here = 0
        with self._path.open("rb") as file:
            for position in positions:
                first, end = int(self._starts[position]), int(self._starts[position + 1])
                file.seek(self._offset + first * self._dim)
                here += file.readinto(bytes_of[here : here + (end - first) * self._dim])
