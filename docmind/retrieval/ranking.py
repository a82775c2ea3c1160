"""How scores become hits: the one order, and a clock for stages."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter

from docmind.types import Chunk, Hit, Stage, StageRole


def ranked(scored: Iterable[tuple[Chunk, float]], k: int) -> tuple[Hit, ...]:
    """The best `k` as hits, by (-score, document, order): a total order, whatever order the pairs came in."""
    order = sorted(scored, key=lambda pair: (-pair[1], pair[0].doc_id, pair[0].order))
    return tuple(Hit(chunk, score, rank) for rank, (chunk, score) in enumerate(order[:k], start=1))


def stage(name: str, role: StageRole, hits: Iterable[Hit], seconds: float) -> Stage:
    """The stage that passed on `hits`."""
    return Stage(name, role, tuple(hit.chunk for hit in hits), seconds)


class Clock:
    """Seconds since it was made or last read."""

    def __init__(self) -> None:
        self._then = perf_counter()

    def lap(self) -> float:
        """Seconds since the last reading."""
        now = perf_counter()
        seconds, self._then = now - self._then, now
        return seconds
