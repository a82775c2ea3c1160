"""Remembering: a retriever whose answer to a question is computed once, however many strategies build on it."""

from __future__ import annotations

from dataclasses import dataclass, field

from docmind.protocols import Retriever
from docmind.retrieval.ranking import CANDIDATES, wanted
from docmind.types import Chunk, Query, Ranking, Stage


@dataclass(frozen=True, slots=True)
class Shared:
    """`inner`, asked once for each question, as deep as most of what stands on it asks: first hits do not depend on how
    many are asked for. For one run over an answer key; a server would keep every answer."""

    inner: Retriever
    _known: dict[Query, tuple[int, Ranking]] = field(default_factory=dict, repr=False)

    @property
    def depth(self) -> int | None:
        return self.inner.depth

    def retrieve(self, query: Query, k: int) -> Ranking:
        """What `inner` gives, with the seconds of the first time."""
        k = wanted(k)
        depth, ranking = self._known.get(query, (0, Ranking(())))
        if depth < k:
            depth = max(k, CANDIDATES)
            ranking = self.inner.retrieve(query, depth)
            self._known[query] = depth, ranking
        return ranking if depth == k else _first(ranking, k)

    def context(self, chunk: Chunk) -> tuple[Chunk, ...]:
        return self.inner.context(chunk)


def _first(ranking: Ranking, k: int) -> Ranking:
    """The first `k` of `ranking`, as its last stage would have passed them on."""
    *before, last = ranking.stages
    passed_on = Stage(last.name, last.role, last.candidates[:k], last.seconds)
    return Ranking(ranking.hits[:k], (*before, passed_on))
