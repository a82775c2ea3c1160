"""How scores become hits: the one order, what hits bring with them, and a clock for stages."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from time import perf_counter

from docmind.errors import UsageError
from docmind.types import Chunk, Hit, Stage, StageRole

CANDIDATES = 20
"""How many of each list are fused, and how many of those are reranked, where nothing else is said."""


def wanted(k: int) -> int:
    """`k`, how many hits are asked for. Raises UsageError where it is no whole number from 1 up."""
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise UsageError(f"k is {k!r}; how many hits are wanted, a whole number from 1 up, was expected.")
    return int(k)


def ranked(scored: Iterable[tuple[Chunk, float, tuple[Chunk, ...]]], k: int) -> tuple[Hit, ...]:
    """The best `k` of (chunk, score, context) as hits, by (-score, document, order): a total order, whatever order they
    came in."""
    order = sorted(scored, key=lambda each: (-each[1], each[0].doc_id, each[0].order))
    return tuple(Hit(chunk, score, rank, context) for rank, (chunk, score, context) in enumerate(order[:k], start=1))


def union(contexts: Iterable[tuple[Chunk, ...]]) -> tuple[Chunk, ...]:
    """Every chunk of `contexts` in their order, none twice."""
    return tuple({chunk.id: chunk for context in contexts for chunk in context}.values())


def shallower(depth: int, other: int | None) -> int:
    """The smaller of two depths; None is one without an end."""
    return depth if other is None else min(depth, other)


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
