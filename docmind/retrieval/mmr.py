"""Diversity: a retriever's best chunks, reordered so that each adds something to those before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from docmind.parameters import parameter
from docmind.protocols import Embedder, Retriever, VectorIndex
from docmind.retrieval.fusion import mmr
from docmind.retrieval.ranking import Clock, shallower, stage, wanted
from docmind.types import Chunk, Hit, Query, Ranking


@dataclass(frozen=True, slots=True)
class Mmr:
    """`fetch` candidates of `inner`, reordered by maximal marginal relevance; it ends where they end.

    Relevance is a candidate's cosine with the question, whatever `inner` scored it by. Scores are MMR's, each as it stood
    when the chunk was taken. `positions` maps ids of chunks to their positions in `store`.
    """

    inner: Retriever
    store: VectorIndex
    embedder: Embedder
    positions: Mapping[str, int]
    fetch: int = parameter(10, "candidates that are reordered", low=1, high=1000)
    lam: float = parameter(0.5, "1 is relevance alone, 0 diversity alone", low=0, high=1)

    @property
    def depth(self) -> int:
        return shallower(self.fetch, self.inner.depth)

    def retrieve(self, query: Query, k: int) -> Ranking:
        """`k` of the candidates, in the order in which they were taken."""
        k = wanted(k)
        found = self.inner.retrieve(query, self.fetch)
        clock = Clock()
        vector, _ = self.embedder.embed_query(query.text)
        chunks = [hit.chunk for hit in found.hits]
        places = [self.positions[chunk.id] for chunk in chunks]
        relevance = self.store.cosines(vector, places)
        order = mmr(relevance.tolist(), self.store.similarity(places), self.lam, k)
        hits = tuple(
            Hit(chunks[i], score, rank, found.hits[i].context) for rank, (i, score) in enumerate(order, start=1)
        )
        return Ranking(hits, (*found.stages, stage("mmr", "rerank", hits, clock.lap())))

    def context(self, chunk: Chunk) -> tuple[Chunk, ...]:
        return self.inner.context(chunk)
