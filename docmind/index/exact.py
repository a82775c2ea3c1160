"""Exact nearest neighbours by comparing a question with every vector: the reference of every VectorIndex."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from docmind.index.documents import Documents
from docmind.index.top import best
from docmind.protocols import FloatMatrix
from docmind.types import Chunk

BLOCK = 4096
"""Rows made float64 at once."""


class ExactIndex:
    """A VectorIndex over `vectors`, float32 (n, dim) with rows L2-normalised, those of `chunks` in their order.

    Cosines are computed in float64 and rounded to 6 decimals. That lies above the noise of float32, so that equal texts
    tie on every machine.
    """

    name = "numpy"
    exact = True

    def __init__(self, vectors: FloatMatrix, chunks: Sequence[Chunk]) -> None:
        self._vectors = vectors
        self._documents = Documents(chunks)

    def search(
        self, query: NDArray[np.float32], k: int, doc_ids: frozenset[str] | None = None
    ) -> list[tuple[int, float]]:
        """(position, cosine) of the `k` nearest chunks, by (-cosine, position).

        `query` is float32 (dim,), L2-normalised. `doc_ids` limits the search before the top k is taken.
        """
        positions = np.arange(len(self._vectors)) if doc_ids is None else self._documents.positions(doc_ids)
        return self.nearest(query, positions, k)

    def nearest(self, query: NDArray[np.float32], positions: NDArray[np.intp], k: int) -> list[tuple[int, float]]:
        """`search` among `positions`, which rise."""
        cosines = self.cosines(query, positions)
        return [(int(positions[i]), float(cosines[i])) for i in best(cosines, k)]

    def cosines(self, query: NDArray[np.float32], positions: Sequence[int] | NDArray[np.intp]) -> NDArray[np.float64]:
        """(n,) cosines of `query` with the chunks at `positions`, as `search` gives them."""
        wide = query.astype(np.float64)
        found = np.empty(len(positions))
        for start in range(0, len(positions), BLOCK):
            some = np.asarray(positions[start : start + BLOCK], np.intp)
            found[start : start + BLOCK] = self._vectors[some].astype(np.float64) @ wide
        return np.round(found, 6)

    def similarity(self, positions: Sequence[int]) -> NDArray[np.float64]:
        """(n, n) cosines of the chunks at `positions` with each other, rounded to 6 decimals."""
        rows = self._vectors[np.asarray(positions, np.intp)].astype(np.float64)
        cosines: NDArray[np.float64] = np.round(rows @ rows.T, 6)
        return cosines

    def close(self) -> None:
        """There is nothing to let go of."""
