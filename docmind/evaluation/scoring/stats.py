"""Statistics of paired values: is a loss more than chance, and how small a loss could be seen? No result is read here.

Two runs answer the same n questions. `lost` of them were hits and no longer are, `gained` are now and were not; only
these tell the runs apart. All of it is whole numbers and the math of Python's own library, which the gate needs no other for.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

RESAMPLES = 10_000
SEED = 20_260_101
LEVEL = 0.95
"""Of the intervals."""

TAILS = (1 - LEVEL) / 2, (1 + LEVEL) / 2
"""What lies below the ends of an interval."""

POWER = 0.8
"""With which the smallest detectable drop would be found."""

STEP = 0.001
"""How finely the smallest detectable drop is sought: a tenth of a point."""

WIDE = 8
"""Standard deviations from its mean, beyond which a binomial count has no chance that any figure here would show: less than
1e-13 in all."""


@lru_cache(maxsize=65_536)
def mcnemar_loss(lost: int, gained: int) -> float:
    """The chance, in (0, 1], of at least `lost` losses among as many flips, if a flip falls either way equally often.

    The exact test of McNemar, Psychometrika 12 (1947), one-sided for a loss. Without a flip it is 1.
    """
    flips = lost + gained
    ways = total = 1  # of no gain at all, and of at most `gained`
    for i in range(gained):
        ways = ways * (flips - i) // (i + 1)
        total += ways
    return total / (1 << flips)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """`p_values` by name, adjusted for their number. Holm, Scand. J. Stat. 6 (1979). Names keep their order."""
    adjusted: dict[str, float] = {}
    highest = 0.0
    for place, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


@lru_cache(maxsize=4096)
def interval(lost: int, gained: int, n: int) -> tuple[float, float]:
    """The paired percentile bootstrap interval of the change in the hit rate, (gained - lost) / n, in [-1, 1].

    Questions are drawn with replacement, each with both its outcomes (Efron & Tibshirani 1993, chapter 13). Such a draw
    keeps only how many flips of each kind it holds, which is multinomial: no draw is made, its quantiles are exact.
    """
    chances: dict[int, float] = {}
    for losses, chance in _binomial(n, lost / n):
        rest = n - losses
        for gains, of_these in _binomial(rest, min(1.0, gained / (n - lost)) if n > lost else 0.0):
            net = gains - losses
            chances[net] = chances.get(net, 0.0) + chance * of_these
    nets = sorted(chances)
    below = list(accumulate(chances[net] for net in nets))
    low, high = (nets[min(bisect_left(below, tail * below[-1]), len(nets) - 1)] for tail in TAILS)
    return low / n, high / n


def interval_of(differences: Sequence[Fraction]) -> tuple[float, float]:
    """The paired percentile bootstrap interval of the mean of `differences`, one a question, at least one: exact as in
    `interval` where they are flips, else from RESAMPLES draws with a seed. Their order changes nothing."""
    n = len(differences)
    changed = sorted(difference for difference in differences if difference)
    if all(abs(difference) == 1 for difference in changed):
        return interval(sum(d < 0 for d in changed), sum(d > 0 for d in changed), n)
    unit = math.lcm(*(difference.denominator for difference in changed))
    whole = [int(difference * unit) for difference in changed]  # whole numbers add up to the same in any order
    generator = random.Random(SEED)  # noqa: S311 - a sample, no secret
    counts, below = zip(*_binomial(n, len(whole) / n), strict=True)
    reached = list(accumulate(below))
    sums = []
    for _ in range(RESAMPLES):
        drawn = counts[min(bisect_left(reached, generator.random() * reached[-1]), len(counts) - 1)]
        sums.append(sum(generator.choices(whole, k=drawn)))
    sums.sort()
    low, high = (sums[math.ceil(tail * RESAMPLES) - 1] for tail in TAILS)
    return low / unit / n, high / unit / n


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
    flip_rate = loss_rate + gain_rate
    if not flip_rate:
        return 0.0
    share = loss_rate / flip_rate
    return math.fsum(
        chance * _at_least(_critical(n, flips, alpha, tolerance), flips, share)
        for flips, chance in _binomial(n, min(1.0, flip_rate))
    )


@lru_cache(maxsize=4096)
def smallest_drop(n: int, churn: float, alpha: float | None, tolerance: Fraction = Fraction(0)) -> float | None:
    """The smallest true drop of the hit rate, a share of 1, that the rule of `power` finds with a power of POWER; None where
    even the loss of every question would not be found.

    `churn` is the share of questions that flip without any true change, half of them each way; a drop is lost on top of it.
    """

    def found(step: int) -> bool:
        lost = min(1.0, churn / 2 + step * STEP)
        return power(lost, min(churn / 2, 1 - lost), n, alpha, tolerance) >= POWER

    low, high = 0, round(1 / STEP)
    if not found(high):
        return None
    while high - low > 1:  # more lost and no more gained is found more often, so the steps need not all be tried
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high * STEP


@lru_cache(maxsize=65_536)
def _critical(n: int, flips: int, alpha: float | None, tolerance: Fraction) -> int:
    """The fewest losses among `flips` that the rule of `power` finds; more than the flips where it finds none."""
    allowed = tolerance * n
    # A loss is found where lost - (flips - lost) > allowed; in whole numbers, so that none rounds.
    net = (flips * allowed.denominator + allowed.numerator) // (2 * allowed.denominator) + 1
    return net if alpha is None else max(net, _fewest(flips, alpha))


@lru_cache(maxsize=65_536)
def _fewest(flips: int, alpha: float) -> int:
    """The fewest losses of which `mcnemar_loss` is at most `alpha`; more than the flips where there are none."""
    chance, least = 0.0, flips + 1
    for losses, of_these in reversed(_binomial(flips, 0.5)):
        chance += of_these
        close = abs(chance - alpha) <= 1e-9 * alpha  # whole numbers decide, which take longer
        if (mcnemar_loss(losses, flips - losses) if close else chance) > alpha:
            break
        least = losses
    return least


@lru_cache(maxsize=1024)
def _binomial(n: int, p: float) -> tuple[tuple[int, float], ...]:
    """The counts of `n` trials of chance `p`, rising, that lie within WIDE standard deviations of their mean, each with its
    chance."""
    if p <= 0 or p >= 1:
        return ((n if p >= 1 else 0, 1.0),)
    first, last = _bounds(n, p)
    ways = math.lgamma(n + 1) - math.lgamma(first + 1) - math.lgamma(n - first + 1)
    chance = math.exp(ways + first * math.log(p) + (n - first) * math.log1p(-p))
    odds = p / (1 - p)
    found = [(first, chance)]
    for count in range(first + 1, last + 1):
        chance *= odds * (n - count + 1) / count
        found.append((count, chance))
    return tuple(found)


def _bounds(n: int, p: float) -> tuple[int, int]:
    """The least and the greatest count of `_binomial`; WIDE more for small ones, which are skew."""
    reach = WIDE * math.sqrt(n * p * (1 - p)) + WIDE
    return max(0, math.floor(n * p - reach)), min(n, math.ceil(n * p + reach))


def _at_least(least: int, n: int, p: float) -> float:
    """The chance of `least` or more of `n` trials of chance `p`."""
    first, last = _bounds(n, p)
    if least <= first:
        return 1.0
    return math.fsum(chance for count, chance in _binomial(n, p) if count >= least) if least <= last else 0.0
