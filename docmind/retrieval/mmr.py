"""Diversity: a vector search's nearest chunks, reordered so that each adds something to those before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from docmind.protocols import Retriever, VectorIndex
from docmind.retrieval.fusion import mmr
from docmind.retrieval.ranking import Clock, stage
from docmind.types import Hit, Query, Ranking


@dataclass(frozen=True, slots=True)
class Mmr:
    """`fetch` candidates of `inner`, whose scores must be cosines, reordered by maximal marginal relevance.

    `position` is that of each chunk in `store`, by its id. `lam` 1 is relevance alone, 0 diversity alone. Scores are
    MMR's, each as it stood when the chunk was taken.
    """

    inner: Retriever
    store: VectorIndex
    position: Mapping[str, int]
    fetch: int = 10
    lam: float = 0.5

    def retrieve(self, query: Query, k: int) -> Ranking:
        """`k` of the candidates, in the order in which they were taken."""
        found = self.inner.retrieve(query, max(self.fetch, k))
        clock = Clock()
        similarity = self.store.similarity([self.position[hit.chunk.id] for hit in found.hits])
        order = mmr([hit.score for hit in found.hits], similarity, self.lam, k)
        hits = tuple(Hit(found.hits[i].chunk, score, rank) for rank, (i, score) in enumerate(order, start=1))
        return Ranking(hits, (*found.stages, stage("mmr", "rerank", hits, clock.lap())))
