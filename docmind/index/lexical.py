"""BM25 in memory, over rank-bm25. It finds the chunks that hold a query term, and no others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from rank_bm25 import BM25Okapi

SMALLEST_IDF = 1e-6
"""Stands in for an idf of zero or less, which rank-bm25 gives a term that half of a small corpus holds."""


class Lexical:
    """An index of texts by their terms. `analyse` makes terms of chunks and questions alike."""

    def __init__(self, texts: Sequence[str], analyse: Callable[[str], list[str]]) -> None:
        self._analyse = analyse
        documents = [analyse(text) for text in texts]
        self._postings: dict[str, list[int]] = {}
        for position, terms in enumerate(documents):
            for term in dict.fromkeys(terms):
                self._postings.setdefault(term, []).append(position)
        if not self._postings:
            return  # rank-bm25 divides by the number of terms
        self._bm25 = BM25Okapi(documents)
        # Robertson and Walker's idf is not positive for a term that half of the texts hold. A text with the term must
        # stand above one without it, whatever the size of the corpus.
        self._bm25.idf = {term: idf if idf > 0 else SMALLEST_IDF for term, idf in self._bm25.idf.items()}

    def search(self, question: str, allowed: AbstractSet[int] | None = None) -> list[tuple[int, float]]:
        """(position, score) of every text that holds a term of `question`, rising by position; scores are positive.

        `allowed` limits the positions. Scores are those of rank-bm25 (BM25Okapi, k1 1.5, b 0.75) where its idf is
        positive.
        """
        terms = self._analyse(question)
        found = sorted({position for term in terms for position in self._postings.get(term, ())})
        if allowed is not None:
            found = [position for position in found if position in allowed]
        if not found:
            return []
        scores = self._bm25.get_batch_scores(terms, found)
        return [(position, float(score)) for position, score in zip(found, scores, strict=True)]
