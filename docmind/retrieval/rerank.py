"""Reranking: a retriever's best candidates, put in the order that a slower, better scorer gives them."""

from __future__ import annotations

from dataclasses import dataclass

from docmind.parameters import parameter
from docmind.protocols import Reranker, Retriever
from docmind.retrieval.ranking import CANDIDATES, Clock, ranked, shallower, stage, wanted
from docmind.types import Chunk, Query, Ranking


@dataclass(frozen=True, slots=True)
class Rerank:
    """The top `depth` of `inner`, by the score of `reranker`; it ends where they end."""

    inner: Retriever
    reranker: Reranker
    depth: int = parameter(CANDIDATES, "candidates that are reranked", low=1, high=1000)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", shallower(self.depth, self.inner.depth))

    def retrieve(self, query: Query, k: int) -> Ranking:
        """The best `k` of the candidates."""
        k = wanted(k)
        found = self.inner.retrieve(query, self.depth)
        clock = Clock()
        scores = self.reranker.score(query.text, [hit.chunk for hit in found.hits]).tolist()
        scored = [(hit.chunk, score, hit.context) for hit, score in zip(found.hits, scores, strict=True)]
        hits = ranked(scored, k)
        return Ranking(hits, (*found.stages, stage("rerank", "rerank", hits, clock.lap())))

    def context(self, chunk: Chunk) -> tuple[Chunk, ...]:
        return self.inner.context(chunk)
