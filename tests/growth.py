"""How a function's work grows with its input, without a stopwatch's moods: it is told by ratios of one process's own times."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

BOUND = 2.6
"""Linear work takes twice as long for twice the input, quadratic work four times; a doubling may take that much longer."""

DOUBLINGS = 4
TRIES = 5
LEAST = 0.01
"""Seconds of processor time. It is no limit: what takes less even for the longest input is not looked at any closer."""


def growth(work: Callable[[str], object], make: Callable[[int], str], most: int) -> float:
    """By how much the processor time of `work` grows at each doubling of the characters of `make(n)`, over the last
    DOUBLINGS up to `most`; 1 where it takes less than LEAST.

    Of each size the quickest of several runs counts, taken in turns, so that a machine that is busy for a while slows both
    alike; and more are taken, up to TRIES, while they speak against the work, since noise only ever adds.
    """
    texts = make(most >> DOUBLINGS), make(most)
    quickest = [float("inf"), float("inf")]
    found = float("inf")
    for _ in range(TRIES):
        quickest = [min(known, _time(work, text)) for known, text in zip(quickest, texts, strict=True)]
        if quickest[1] < LEAST:
            return 1.0
        found = (quickest[1] / max(quickest[0], LEAST / 2**DOUBLINGS)) ** (1 / DOUBLINGS)
        if found < BOUND:
            break
    return found


def _time(work: Callable[[str], object], text: str) -> float:
    enabled = gc.isenabled()
    gc.disable()
    try:
        started = time.process_time()
        work(text)
        return time.process_time() - started
    finally:
        if enabled:
            gc.enable()
