"""Hybrid search: two retrievers' lists made one by reciprocal rank fusion."""

from __future__ import annotations

from dataclasses import dataclass

from docmind.protocols import Retriever
from docmind.retrieval.fusion import rrf
from docmind.retrieval.ranking import Clock, ranked, stage
from docmind.types import Query, Ranking


@dataclass(frozen=True, slots=True)
class Hybrid:
    """The top `depth` of each retriever, fused with the constant `k`. Scores are RRF's."""

    first: Retriever
    second: Retriever
    depth: int = 20
    k: int = 60

    def retrieve(self, query: Query, k: int) -> Ranking:
        """The best `k` of the fused list."""
        depth = max(self.depth, k)
        parts = [retriever.retrieve(query, depth) for retriever in (self.first, self.second)]
        clock = Clock()
        chunks = {hit.chunk.id: hit.chunk for part in parts for hit in part.hits}
        scores = rrf([[hit.chunk.id for hit in part.hits] for part in parts], self.k)
        hits = ranked(((chunks[chunk_id], score) for chunk_id, score in scores.items()), k)
        stages = tuple(s for part in parts for s in part.stages)
        return Ranking(hits, (*stages, stage("fusion", "fusion", hits, clock.lap())))
