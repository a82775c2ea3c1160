"""Vector search: the chunks whose vectors are nearest to the question's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from docmind.protocols import Embedder, VectorIndex
from docmind.retrieval.ranking import Clock, ranked, stage, wanted
from docmind.types import Chunk, Query, Ranking


@dataclass(frozen=True, slots=True)
class Vector:
    """Scores are cosines, exact over the whole index."""

    store: VectorIndex
    chunks: Sequence[Chunk]
    embedder: Embedder

    def retrieve(self, query: Query, k: int) -> Ranking:
        """The `k` nearest chunks."""
        k, clock = wanted(k), Clock()
        vector, _ = self.embedder.embed_query(query.text)
        encode = stage("encode", "encode", (), clock.lap())
        found = self.store.search(vector, k, query.doc_ids)
        hits = ranked(((self.chunks[position], score, ()) for position, score in found), k)
        return Ranking(hits, (encode, stage("vector", "candidates", hits, clock.lap())))

    @property
    def depth(self) -> None:
        return None

    def context(self, chunk: Chunk) -> tuple[Chunk, ...]:
        return ()
