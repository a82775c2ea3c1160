"""Statistics of paired hits: is a loss more than chance, and how small a loss could be seen? No result is read here.

Two runs answer the same n questions. `lost` of them were hits and no longer are, `gained` are now and were not; only
these tell the runs apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
AUROC_RESAMPLES = 2_000
SEED = 20_260_101
LEVEL = 0.95
"""Of the intervals."""

POWER = 0.8
"""With which the smallest detectable drop would be found."""

STEP = 0.001
"""How finely the smallest detectable drop is sought: a tenth of a point."""


@lru_cache(maxsize=4096)
def mcnemar_loss(lost: int, gained: int) -> float:
    """The chance, in (0, 1], of at least `lost` losses among as many flips, if a flip falls either way equally often.

    The exact test of McNemar, Psychometrika 12 (1947), one-sided for a loss. Without a flip it is 1.
    """
    from scipy.stats import binomtest

    return float(binomtest(lost, lost + gained, 0.5, alternative="greater").pvalue) if lost + gained else 1.0


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """`p_values` by name, adjusted for their number. Holm, Scand. J. Stat. 6 (1979). Names keep their order."""
    adjusted: dict[str, float] = {}
    highest = 0.0
    for place, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def interval(lost: int, gained: int, n: int, generator: np.random.Generator) -> tuple[float, float]:
    """The paired percentile bootstrap interval of the change in the hit rate, (gained - lost) / n, in [-1, 1].

    Questions are drawn with replacement, each with both its outcomes (Efron & Tibshirani 1993, chapter 13). Such a draw
    keeps only how many flips of each kind it holds, which is multinomial.
    """
    shares = np.array([lost, gained, n - lost - gained]) / n
    draws = generator.multinomial(n, shares, size=RESAMPLES)
    changes = (draws[:, 1] - draws[:, 0]) / n
    low, high = np.quantile(changes, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95 % score interval of a proportion, hits of n > 0. Wilson, J. Am. Stat. Assoc. 22 (1927)."""
    z = 1.959964
    p, spread = hits / n, z * z / n
    centre = (p + spread / 2) / (1 + spread)
    half = z * math.sqrt(p * (1 - p) / n + spread / (4 * n)) / (1 + spread)
    return centre - half, centre + half


def power(loss_rate: float, gain_rate: float, n: int, alpha: float | None, tolerance: Fraction = Fraction(0)) -> float:
    """How often, in [0, 1], a rule finds a loss over `n` questions that are lost and gained at these true rates: more than
    `tolerance` of them, a share of 1, are lost net of those gained, and unless `alpha` is None `mcnemar_loss` is at most
    `alpha` too."""
    from scipy.stats import binom

    flips = np.arange(n + 1)
    flip_rate = loss_rate + gain_rate
    if not flip_rate:
        return 0.0
    found = binom.sf(_critical(n, alpha, tolerance) - 1, flips, loss_rate / flip_rate)
    return float(binom.pmf(flips, n, flip_rate) @ found)


def smallest_drop(n: int, churn: float, alpha: float | None, tolerance: Fraction = Fraction(0)) -> float | None:
    """The smallest true drop of the hit rate, a share of 1, that the rule of `power` finds with a power of POWER; None where
    even the loss of every question would not be found.

    `churn` is the share of questions that flip without any true change, half of them each way; a drop is lost on top of it.
    """
    for step in range(1, round(1 / STEP) + 1):
        drop = step * STEP
        lost = min(1.0, churn / 2 + drop)
        if power(lost, min(churn / 2, 1 - lost), n, alpha, tolerance) >= POWER:
            return drop
    return None


@lru_cache(maxsize=8)
def _critical(n: int, alpha: float | None, tolerance: Fraction) -> NDArray[np.int64]:
    """For 0 to `n` flips the fewest losses that the rule of `power` finds; more than the flips where it finds none."""
    from scipy.stats import binom

    flips = np.arange(n + 1)
    allowed = (
        tolerance * n
    )  # a loss is found where lost - (flips - lost) > allowed; in whole numbers, so that none rounds
    net = (flips * allowed.denominator + allowed.numerator) // (2 * allowed.denominator) + 1
    if alpha is None:
        return np.asarray(net, dtype=np.int64)
    # isf gives the smallest x with P(X > x) <= alpha, so x + 1 losses are the fewest with P(X >= x + 1) <= alpha.
    return np.maximum(net, np.asarray(binom.isf(alpha, flips, 0.5), dtype=np.int64) + 1)


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> dict[str, float | int] | None:
    """The chance, `value` in [0, 1], that a positive has a higher score than a negative, ties counted half, with a
    stratified percentile bootstrap interval (`low`, `high`, 95 %) and both sizes. None where either is empty.

    Equal to U / (n * m) of Mann and Whitney (Hanley & McNeil, Radiology 143, 1982).
    """
    if not positives or not negatives:
        return None
    wins = (np.sign(np.subtract.outer(np.asarray(positives), np.asarray(negatives))) + 1) / 2
    n, m = wins.shape
    generator = np.random.default_rng(SEED)
    rows = generator.multinomial(n, np.full(n, 1 / n), size=AUROC_RESAMPLES)
    columns = generator.multinomial(m, np.full(m, 1 / m), size=AUROC_RESAMPLES)
    drawn = ((rows @ wins) * columns).sum(axis=1) / (n * m)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return {"value": float(wins.mean()), "low": float(low), "high": float(high), "n": n, "m": m}


def kappa(pairs: Sequence[tuple[str, str]]) -> dict[str, float | int | None] | None:
    """Agreement of two raters beyond chance: Cohen, Educ. Psychol. Meas. 20 (1960), in [-1, 1], with a percentile
    bootstrap interval over the pairs, and the raw `agreement`. None without a pair.

    `value` is None where both raters use one and the same label alone: chance agreement is then 1, and there is no
    "beyond". Resamples in which that happens are left out of the interval.
    """
    if not pairs:
        return None
    labels = sorted({label for pair in pairs for label in pair})
    table = np.zeros((len(labels), len(labels)))
    for one, other in pairs:
        table[labels.index(one), labels.index(other)] += 1
    n = len(pairs)
    draws = np.random.default_rng(SEED).multinomial(n, table.ravel() / n, size=RESAMPLES).reshape(-1, *table.shape)
    known = [value for value in map(_kappa, draws) if value is not None]
    low, high = map(float, np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])) if known else (None, None)
    return {"n": n, "agreement": float(np.trace(table) / n), "value": _kappa(table), "low": low, "high": high}


def _kappa(table: NDArray[Any]) -> float | None:
    shares = table / table.sum()
    expected = float(shares.sum(axis=0) @ shares.sum(axis=1))
    return None if np.isclose(expected, 1) else float((np.trace(shares) - expected) / (1 - expected))
