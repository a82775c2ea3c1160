"""Late interaction: a reranker that compares every token of the question with every token of a chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from docmind.protocols import Embedder, TokenIndex
from docmind.types import Chunk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class LateInteraction:
    """The mean over the question's tokens of the highest cosine with any token of the chunk, -1 to 1.

    ColBERT's MaxSim (Khattab and Zaharia, SIGIR 2020), here over an embedder that was not trained for it. The chunks'
    token vectors were stored when they were embedded, so that a question costs one matrix product.
    """

    name = "late"

    def __init__(self, embedder: Embedder, tokens: TokenIndex, positions: Mapping[str, int]) -> None:
        """`positions` are those of the chunks in `tokens`, by their ids."""
        self._embedder = embedder
        self._tokens = tokens
        self._positions = positions

    def score(self, question: str, chunks: Sequence[Chunk]) -> NDArray[np.float64]:
        """(n,), rounded to 6 decimals, so that equal chunks tie."""
        import numpy as np

        _, tokens = self._embedder.embed_query(question)
        if not len(tokens):
            return np.zeros(len(chunks))
        best = self._tokens.max_sim(tokens, [self._positions[chunk.id] for chunk in chunks])
        means: NDArray[np.float64] = np.round(best.T.mean(axis=1, dtype=np.float64), 6)
        return means
