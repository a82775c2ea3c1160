"""Statistics of answers: how well confidence tells right from wrong, and how far two raters agree. It reads no result.

They are of numpy, which is imported where it is needed: what judges retrieval works without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from docmind.evaluation.scoring.stats import RESAMPLES, SEED, TAILS

if TYPE_CHECKING:
    from numpy.typing import NDArray

AUROC_RESAMPLES = 2_000


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> dict[str, float | int] | None:
    """The chance, `value` in [0, 1], that a positive has a higher score than a negative, ties counted half, with a
    stratified percentile bootstrap interval (`low`, `high`, 95 %) and both sizes. None where either is empty.

    Equal to U / (n * m) of Mann and Whitney (Hanley & McNeil, Radiology 143, 1982).
    """
    if not positives or not negatives:
        return None
    import numpy as np

    wins = (np.sign(np.subtract.outer(np.asarray(positives), np.asarray(negatives))) + 1) / 2
    n, m = wins.shape
    generator = np.random.default_rng(SEED)
    rows = generator.multinomial(n, np.full(n, 1 / n), size=AUROC_RESAMPLES)
    columns = generator.multinomial(m, np.full(m, 1 / m), size=AUROC_RESAMPLES)
    drawn = ((rows @ wins) * columns).sum(axis=1) / (n * m)
    low, high = np.quantile(drawn, TAILS)
    return {"value": float(wins.mean()), "low": float(low), "high": float(high), "n": n, "m": m}


def kappa(pairs: Sequence[tuple[str, str]]) -> dict[str, float | int | None] | None:
    """Agreement of two raters beyond chance: Cohen, Educ. Psychol. Meas. 20 (1960), in [-1, 1], with a percentile
    bootstrap interval over the pairs, and the raw `agreement`. None without a pair.

    `value` is None where both raters use one and the same label alone: chance agreement is then 1, and there is no
    "beyond". Resamples in which that happens are left out of the interval.
    """
    if not pairs:
        return None
    import numpy as np

    labels = sorted({label for pair in pairs for label in pair})
    table = np.zeros((len(labels), len(labels)))
    for one, other in pairs:
        table[labels.index(one), labels.index(other)] += 1
    n = len(pairs)
    draws = np.random.default_rng(SEED).multinomial(n, table.ravel() / n, size=RESAMPLES).reshape(-1, *table.shape)
    known = [value for value in map(_kappa, draws) if value is not None]
    low, high = map(float, np.quantile(known, TAILS)) if known else (None, None)
    return {"n": n, "agreement": float(np.trace(table) / n), "value": _kappa(table), "low": low, "high": high}


def _kappa(table: NDArray[Any]) -> float | None:
    import numpy as np

    shares = table / table.sum()
    expected = float(shares.sum(axis=0) @ shares.sum(axis=1))
    return None if np.isclose(expected, 1) else float((np.trace(shares) - expected) / (1 - expected))
