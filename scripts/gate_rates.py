"""How often the gate errs: simulates runs around the committed baseline and writes results/gate_rates.json.

A simulated run has the baseline's own hits and misses. Churn changes outcomes both ways equally often, as a change that
is neither better nor worse does; a true drop loses hits beyond that. Each hit is lost, and each miss gained, with the
chance that gives the churn and the drop on average; strategies independently of each other, which real ones are not:
those of one chunker move together, so "any of ten" is an upper bound of false alarms.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from docmind.config import Settings
from docmind.evaluation.gate.thresholds import Thresholds, read_thresholds
from docmind.evaluation.record.baseline import read_baseline
from docmind.evaluation.record.layout import dumps
from docmind.evaluation.record.types import Record
from docmind.evaluation.reports.markdown import table
from docmind.evaluation.reports.tables import Table
from docmind.evaluation.scoring.spans import is_hit
from docmind.evaluation.scoring.stats import SEED, holm, mcnemar_loss
from docmind.files import write_atomic

RESULTS = Path("results/gate_rates.json")
CHURN = (0.02, 0.05, 0.10)
DROPS = (0.0, 0.02, 0.03, 0.05, 0.10)
ALPHA = 0.05
RUNS = 2_000


def simulate(baseline: Record, thresholds: Thresholds) -> list[dict[str, Any]]:
    """A row for each churn and drop: how often the regression rule fails the production strategy, and any of all, as
    shipped without alpha and with ALPHA."""
    outcomes = {
        name: [is_hit(found.rank) for found in strategy.questions.values() if found.ranks]
        for name, strategy in sorted(baseline.strategies.items())  # so that the draws do not depend on their order
    }
    names = list(outcomes)
    n = len(outcomes[names[0]])
    hits = np.array([sum(outcomes[name]) for name in names])
    generator = np.random.default_rng(SEED)
    tolerance = float(thresholds.tolerance) * n
    production = names.index(thresholds.production)
    rows = []
    for churn, drop in product(CHURN, DROPS):
        lost = generator.binomial(hits, np.minimum(1, (churn / 2 + drop) * n / hits), size=(RUNS, len(names)))
        gained = generator.binomial(n - hits, np.minimum(1, churn / 2 * n / (n - hits)), size=(RUNS, len(names)))
        too_much = lost - gained > tolerance + 1e-9
        significant = np.array([_significant(*run) for run in zip(lost, gained, strict=True)])
        with_alpha = too_much & significant
        rows.append(
            {
                "churn": churn,
                "drop": drop,
                "production": {"shipped": too_much[:, production].mean(), "alpha": with_alpha[:, production].mean()},
                "any": {"shipped": too_much.any(axis=1).mean(), "alpha": with_alpha.any(axis=1).mean()},
            }
        )
    return rows


def _significant(lost: np.ndarray[Any, Any], gained: np.ndarray[Any, Any]) -> list[bool]:
    p_values = {str(i): mcnemar_loss(int(a), int(b)) for i, (a, b) in enumerate(zip(lost, gained, strict=True))}
    return [p <= ALPHA for p in holm(p_values).values()]


def shown(rows: list[dict[str, Any]]) -> Table:
    """The rows as text, in percent of the simulated runs."""
    header = (
        "churn",
        "true drop",
        "production, as shipped",
        "production, alpha 0.05",
        "any of ten, as shipped",
        "any of ten, alpha 0.05",
    )
    cells = tuple(
        (
            f"{100 * row['churn']:.0f} %",
            f"{100 * row['drop']:.0f} points",
            *(f"{100 * row[who][rule]:.1f}" for who in ("production", "any") for rule in ("shipped", "alpha")),
        )
        for row in rows
    )
    return Table(header, cells)


def main() -> None:
    settings = Settings()
    rows = simulate(read_baseline(settings.baseline), read_thresholds(settings.thresholds))
    write_atomic({RESULTS: dumps({"schema": "docmind.gate_rates/1", "runs": RUNS, "rows": rows})})
    Console(markup=False).print(table(shown(rows)))


if __name__ == "__main__":
    main()
