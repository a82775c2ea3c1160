"""Arithmetic over ranked lists: fusion and diversity. Pure functions; what the items are does not matter."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

H = TypeVar("H", bound=Hashable)


def rrf(lists: Sequence[Sequence[H]], weights: Sequence[float], constant: int = 60) -> dict[H, float]:
    """Reciprocal rank fusion: the sum of weight / (constant + rank) over the lists that hold an item, ranks from 1.

    `weights` are of `lists`, in their order. An item that is absent from a list gets no term from it. The sums are exact to
    the last bit, so that neither the order of the lists nor that of the terms decides a tie. Cormack, Clarke and Büttcher,
    SIGIR 2009; there every weight is 1.
    """
    terms: dict[H, list[float]] = {}
    for ranked, weight in zip(lists, weights, strict=True):
        for rank, item in enumerate(ranked, start=1):
            terms.setdefault(item, []).append(weight / (constant + rank))
    return {item: math.fsum(parts) for item, parts in terms.items()}


def minmax(lists: Sequence[Sequence[tuple[H, float]]], weights: Sequence[float]) -> dict[H, float]:
    """Weighted mean of scores, each list's scaled to 0 … 1 over the list, 1 where all of it are equal: from 0 to 1.

    `lists` hold (item, score); `weights` are theirs, in their order. An item that is absent from a list gets no term from
    it, and the sum is divided by that of all weights. Bruch, Gai and Ingber, TOIS 2023, call it a convex combination.
    """
    terms: dict[H, list[float]] = {}
    for scored, weight in zip(lists, weights, strict=True):
        low = min((score for _, score in scored), default=0.0)
        width = max((score for _, score in scored), default=0.0) - low
        for item, score in scored:
            terms.setdefault(item, []).append(weight * ((score - low) / width if width else 1.0))
    total = math.fsum(weights)
    return {item: math.fsum(parts) / total for item, parts in terms.items()}


def mmr(relevance: Sequence[float], similarity: NDArray[np.float64], lam: float, k: int) -> list[tuple[int, float]]:
    """Maximal marginal relevance: (index, score) of `k` items, each the best of the rest when it was taken.

    The score is lam * relevance - (1 - lam) * the highest similarity to an item taken before; the lower index wins a
    tie. `relevance` (n,), `similarity` (n, n), `lam` from 0 to 1. Carbonell and Goldstein, SIGIR 1998.
    """
    chosen: list[tuple[int, float]] = []
    rest = list(range(len(relevance)))
    while rest and len(chosen) < k:
        scores = {
            i: lam * relevance[i] - (1 - lam) * max((float(similarity[i, j]) for j, _ in chosen), default=0.0)
            for i in rest
        }
        best = max(rest, key=lambda i: (scores[i], -i))
        chosen.append((best, scores[best]))
        rest.remove(best)
    return chosen
