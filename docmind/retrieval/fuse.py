"""Fusion: several retrievers' lists made one, by ranks or by scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from docmind.errors import UsageError
from docmind.parameters import Value, parameter, written
from docmind.protocols import Retriever
from docmind.retrieval.fusion import minmax, rrf
from docmind.retrieval.ranking import CANDIDATES, Clock, ranked, shallower, stage, union, wanted
from docmind.types import Chunk, Query, Ranking


@dataclass(frozen=True, slots=True)
class Fuse:
    """The top `depth` of each list, fused, and the top `depth` of that. Scores are those of `how` in fusion.py.

    A chunk brings the context that it has in any of the lists.
    """

    lists: tuple[Retriever, ...]
    how: str = parameter("rrf", "by reciprocal ranks, or by scores scaled to 0 … 1", choices=("rrf", "minmax"))
    weights: tuple[float, ...] = parameter((), "one a list; all 1 if not given", low=0.001, high=1000)
    constant: int = parameter(60, "what rrf adds to a rank", low=0, high=10_000)
    depth: int = parameter(CANDIDATES, "hits that each list gives, and the fused one", low=1, high=1000)

    @staticmethod
    def check(values: Mapping[str, Value], inner: int) -> Mapping[str, Value]:
        """`values` with a weight for each of the `inner` lists. Raises UsageError where there is another number."""
        weights = values["weights"] or (1.0,) * inner
        if not isinstance(weights, tuple) or len(weights) != inner:
            raise UsageError(
                f"fuse: weights={written(weights)} was given; expected: {inner} of them, one a list. "
                f"Write weights={written((1.0,) * inner)}, or others."
            )
        return {**values, "weights": weights}

    def __post_init__(self) -> None:
        """Weights of 1 where none are given. It ends sooner than its depth where all its lists together do."""
        depths = [each.depth for each in self.lists]
        together = sum(depth for depth in depths if depth is not None) if None not in depths else None
        object.__setattr__(self, "depth", shallower(self.depth, together))
        object.__setattr__(self, "weights", self.weights or (1.0,) * len(self.lists))

    def retrieve(self, query: Query, k: int) -> Ranking:
        """The best `k` of the fused list, `depth` at most."""
        k = wanted(k)
        parts = [retriever.retrieve(query, self.depth) for retriever in self.lists]
        clock = Clock()
        chunks = {hit.chunk.id: hit.chunk for part in parts for hit in part.hits}
        contexts: dict[str, list[tuple[Chunk, ...]]] = {}
        for part in parts:
            for hit in part.hits:
                contexts.setdefault(hit.chunk.id, []).append(hit.context)
        fused = [(chunks[name], score, union(contexts[name])) for name, score in self._scores(parts).items()]
        hits = ranked(fused, min(k, self.depth))
        stages = tuple(s for part in parts for s in part.stages)
        return Ranking(hits, (*stages, stage("fusion", "fusion", hits, clock.lap())))

    def context(self, chunk: Chunk) -> tuple[Chunk, ...]:
        return union(retriever.context(chunk) for retriever in self.lists)

    def _scores(self, parts: Sequence[Ranking]) -> dict[str, float]:
        if self.how == "minmax":
            return minmax([[(hit.chunk.id, hit.score) for hit in part.hits] for part in parts], self.weights)
        return rrf([[hit.chunk.id for hit in part.hits] for part in parts], self.weights, self.constant)
