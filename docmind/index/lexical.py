"""BM25 in memory, as one sparse matrix of rank-bm25's weights. It finds the chunks that hold a query term, and no others."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from docmind.index.documents import Documents
from docmind.index.top import best
from docmind.types import Chunk

SMALLEST_IDF = 1e-6
"""Stands in for an idf of zero or less, which rank-bm25 gives a term that half of a small corpus holds."""


class Bm25Index:
    """A LexicalIndex over the texts of chunks. `analyse` makes terms of chunks and questions alike.

    A term is a column of the matrix: `_positions[start:end]` are the chunks that hold it, rising, and `_weights` what it
    adds to the score of each, where `_starts[term]` is the start and `_starts[term + 1]` the end.
    """

    name = "bm25"
    exact = True

    def __init__(self, chunks: Sequence[Chunk], analyse: Callable[[str], list[str]]) -> None:
        """`chunks` rise by (document, order)."""
        self._analyse = analyse
        self._documents = Documents(chunks)
        self._size = len(chunks)
        self._terms: dict[str, int] = {}
        columns = self._terms
        numbered = ([columns.setdefault(term, len(columns)) for term in analyse(chunk.text)] for chunk in chunks)
        try:
            bm25 = BM25Okapi(numbered)
        except ZeroDivisionError:  # it divides by the number of chunks, and of terms
            self._starts = np.zeros(1, np.int64)
            return
        self._starts, self._positions, self._weights = _matrix(bm25)

    def search(self, question: str, k: int, doc_ids: frozenset[str] | None = None) -> list[tuple[int, float]]:
        """(position, score) of the best `k` chunks that hold a term of `question`, by (-score, position); scores are
        positive.

        Scores are, to the bit, those of rank-bm25 (BM25Okapi, k1 1.5, b 0.75) where its idf is positive. `doc_ids`
        limits the search before the best are taken.
        """
        columns = [self._terms[term] for term in self._analyse(question) if term in self._terms]
        if not columns:
            return []
        scores = np.zeros(self._size)
        for column in columns:  # a term that the question repeats counts again; sums in rank-bm25's order
            part = slice(self._starts[column], self._starts[column + 1])
            scores[self._positions[part]] += self._weights[part]
        if doc_ids is None:
            found = np.flatnonzero(scores)
        else:
            allowed = self._documents.positions(doc_ids)
            found = allowed[scores[allowed] > 0]
        among = scores[found]
        return [(int(found[i]), float(among[i])) for i in best(among, k)]


def _matrix(bm25: BM25Okapi) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Starts (terms + 1,), positions and weights, column after column, of what `bm25` counted of terms by number.

    A weight is idf · f·(k1 + 1) / (f + k1·(1 − b + b·length/mean length)), computed in rank-bm25's own order, of f
    occurrences of the term in the chunk (Robertson and Walker, SIGIR 1994).
    """
    terms, counts, positions = array("i"), array("i"), array("i")
    for position, frequencies in enumerate(bm25.doc_freqs):
        terms.extend(frequencies)
        counts.extend(frequencies.values())
        positions.extend([position] * len(frequencies))
    term = np.frombuffer(terms, np.int32)
    order = np.argsort(term, kind="stable")
    term, at = term[order], np.frombuffer(positions, np.int32)[order]
    count = np.frombuffer(counts, np.int32)[order]
    # Robertson and Walker's idf is not positive for a term that half of the texts hold. A text with the term must stand
    # above one without it, whatever the size of the corpus.
    idf = np.array([bm25.idf[number] if bm25.idf[number] > 0 else SMALLEST_IDF for number in range(len(bm25.idf))])
    length = np.array(bm25.doc_len)[at]
    weights = idf[term] * (count * (bm25.k1 + 1) / (count + bm25.k1 * (1 - bm25.b + bm25.b * length / bm25.avgdl)))
    starts = np.concatenate([[0], np.cumsum(np.bincount(term, minlength=len(idf)))])
    return starts, at, weights
