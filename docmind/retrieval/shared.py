"""Remembering: a retriever whose answer to a question is computed once, however many strategies build on it."""

from __future__ import annotations

from dataclasses import dataclass, field

from docmind.protocols import Retriever
from docmind.types import Chunk, Query, Ranking


@dataclass(frozen=True, slots=True)
class Shared:
    """`inner`, asked once for each (query, k). For one run over an answer key; a server would keep every answer."""

    inner: Retriever
    _known: dict[tuple[Query, int], Ranking] = field(default_factory=dict, repr=False)

    @property
    def depth(self) -> int | None:
        return self.inner.depth

    def retrieve(self, query: Query, k: int) -> Ranking:
        """What `inner` gives, with the seconds of the first time."""
        if (query, k) not in self._known:
            self._known[query, k] = self.inner.retrieve(query, k)
        return self._known[query, k]

    def context(self, chunk: Chunk) -> tuple[Chunk, ...]:
        return self.inner.context(chunk)
