"""Reranking: a retriever's best candidates, put in the order that a slower, better scorer gives them."""

from __future__ import annotations

from dataclasses import dataclass

from docmind.protocols import Reranker, Retriever
from docmind.retrieval.ranking import Clock, ranked, stage
from docmind.types import Query, Ranking


@dataclass(frozen=True, slots=True)
class Rerank:
    """The top `depth` of `inner`, by the score of `reranker`."""

    inner: Retriever
    reranker: Reranker
    depth: int = 20

    def retrieve(self, query: Query, k: int) -> Ranking:
        """The best `k` of the candidates."""
        found = self.inner.retrieve(query, max(self.depth, k))
        clock = Clock()
        chunks = [hit.chunk for hit in found.hits]
        scores = self.reranker.score(query.text, chunks)
        hits = ranked(zip(chunks, scores.tolist(), strict=True), k)
        return Ranking(hits, (*found.stages, stage("rerank", "rerank", hits, clock.lap())))
