"""Lexical search: the chunks that hold words of the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from docmind.protocols import LexicalIndex
from docmind.retrieval.ranking import Clock, ranked, stage, wanted
from docmind.types import Chunk, Query, Ranking


@dataclass(frozen=True, slots=True)
class Bm25:
    """Scores are BM25's. A chunk without a term of the question is in no list, however few chunks there are."""

    lexical: LexicalIndex
    chunks: Sequence[Chunk]

    def retrieve(self, query: Query, k: int) -> Ranking:
        """At most `k` chunks that hold a term of the question."""
        k, clock = wanted(k), Clock()
        found = self.lexical.search(query.text, k, query.doc_ids)
        hits = ranked(((self.chunks[position], score, ()) for position, score in found), k)
        return Ranking(hits, (stage("bm25", "candidates", hits, clock.lap()),))

    @property
    def depth(self) -> None:
        return None

    def context(self, chunk: Chunk) -> tuple[Chunk, ...]:
        return ()
