"""How often the gate errs: simulates runs around the committed baseline and writes results/gate_rates.json.

A simulated run has the ranks that a strategy has in the baseline, but some of its questions have those of another one.

Churn is a change that is neither better nor worse. A question that churns is given the ranks that the same strategy has on
a question drawn from those alike: as many pieces, and as many of the other strategies win it at 3. Whatever is drawn, the
ranks of the alike are as likely to come as to go, so that the flips of every metric balance on average, and a question
that all strategies win, as must_pass has, turns as seldom into a miss as such questions are missed. So many questions
churn that the share of all which flip at 3 is on average the one that is named; Hit@1 and full@k flip on top of that.

A true drop comes beside it: so many hits at 3 are given the ranks of a miss of as many pieces, drawn at random, that Hit@3
falls by the drop on average; or so many firsts those of a question first won at 2 or 3, that Hit@1 does and Hit@3 does not.

Rules are judged on the means of the simulated runs, which are exact fractions but for what a rounding of 1e-9 hides; that
this is what the gate itself would say, tests/test_gate_rates.py has. Strategies churn independently of each other, which
real ones do not: those of one chunker move together, so "any of ten" and "all rules" are upper bounds of false alarms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from docmind.config import Settings
from docmind.evaluation.gate.movement import Part, members, value
from docmind.evaluation.gate.thresholds import EACH, Thresholds, read_thresholds
from docmind.evaluation.record.baseline import read_baseline
from docmind.evaluation.record.layout import dumps
from docmind.evaluation.record.types import Record
from docmind.evaluation.reports.markdown import table
from docmind.evaluation.reports.tables import Table
from docmind.evaluation.scoring.measures import Measure
from docmind.evaluation.scoring.spans import best, is_hit
from docmind.evaluation.scoring.stats import SEED, holm, mcnemar_loss
from docmind.files import write_atomic

RESULTS = Path("results/gate_rates.json")
CHURN = (0.02, 0.05, 0.10)
DROPS = (
    ("hit@3", 0.0),
    ("hit@3", 0.02),
    ("hit@3", 0.03),
    ("hit@3", 0.05),
    ("hit@3", 0.10),
    ("hit@1", 0.05),
    ("hit@1", 0.08),
)
ALPHA = 0.05
RUNS = 2_000
ROUNDING = 1e-9

Drawn = NDArray[np.int64]
"""Of each simulated run, a row, for each question the number of that whose ranks it has."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """The answerable questions of one strategy, in the order of the baseline, with their ranks and how many of the other
    strategies win each at 3."""

    name: str
    questions: Sequence[str]
    ranks: Sequence[tuple[int | None, ...]]
    others: Sequence[int]

    @classmethod
    def of(cls, baseline: Record, name: str) -> Simulated:
        """That of the baseline."""
        found = {q: outcome.ranks for q, outcome in baseline.strategies[name].questions.items() if outcome.ranks}
        rest = [strategy.questions for other, strategy in baseline.strategies.items() if other != name]
        return cls(name, list(found), list(found.values()), [sum(is_hit(o[q].rank) for o in rest) for q in found])

    def hits(self, k: int) -> NDArray[np.bool_]:
        """Which questions are won at k."""
        return np.array([(best(ranks) or k + 1) <= k for ranks in self.ranks])

    def alike(self) -> list[NDArray[np.int64]]:
        """The questions in groups of those that may have each other's ranks."""
        groups: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for i, (ranks, others) in enumerate(zip(self.ranks, self.others, strict=True)):
            groups[len(ranks), others].append(i)
        return [np.array(group) for group in groups.values()]

    def churned(self, churn: float, generator: np.random.Generator) -> Drawn:
        """RUNS runs of that churn."""
        n, won = len(self.questions), self.hits(3)
        flips = sum(2 * won[group].sum() * (1 - won[group].mean()) for group in self.alike())
        share = min(1.0, churn * n / flips)
        drawn = np.tile(np.arange(n), (RUNS, 1))
        for group in self.alike():
            other = generator.choice(group, size=(RUNS, len(group)))
            churns = generator.random((RUNS, len(group))) < share
            drawn[:, group] = np.where(churns, other, group)
        return drawn

    def dropped(self, drawn: Drawn, metric: str, drop: float, generator: np.random.Generator) -> Drawn:
        """`drawn`, with a true drop of that metric beside it."""
        if not drop:
            return drawn
        one, three = self.hits(1), self.hits(3)
        wins, instead = (three, ~three) if metric == "hit@3" else (one, three & ~one)
        pieces = np.array([len(ranks) for ranks in self.ranks])
        falls = wins[drawn] & (generator.random(drawn.shape) < drop * len(wins) / wins.sum())
        fallen = drawn.copy()
        for several in np.unique(pieces[instead]):
            pool = np.flatnonzero(instead & (pieces == several))
            at = falls & (pieces[drawn] == several)
            fallen[at] = generator.choice(pool, size=int(at.sum()))
        return fallen

    def worth(self, one: Measure) -> NDArray[np.float64]:
        """The metric of each question."""
        return np.array([float(value(one, ranks)) for ranks in self.ranks])


def broken(baseline: Record, thresholds: Thresholds, found: Simulated, drawn: Drawn) -> dict[str, NDArray[np.bool_]]:
    """By rule of the production strategy, which of the runs break it; each named as its check in the gate."""
    rules: dict[str, NDArray[np.bool_]] = {}
    at = {question: i for i, question in enumerate(found.questions)}
    hit3 = found.hits(3)
    rules["floor"] = hit3[drawn].mean(axis=1) < float(thresholds.floor) - ROUNDING
    rules["regression"] = regression(thresholds, found, drawn)
    for question in thresholds.must_pass:
        rules[f"must_pass: {question}"] = ~hit3[drawn[:, at[question]]]
    for rule in (*thresholds.min, *thresholds.max_regression):
        if (rule.strategy or thresholds.production) != found.name:
            raise ValueError(f"{rule}: only rules of the production strategy are simulated")
        worth = found.worth(rule.measure)
        for kind in baseline.types if rule.type == EACH else (rule.type,):
            part = Part(kind, rule.split)
            rows = np.array([at[name] for name in members(baseline, found.name, part)], dtype=np.int64)
            if not rows.size:
                continue
            after, before = worth[drawn[:, rows]].mean(axis=1), worth[rows].mean()
            if hasattr(rule, "points"):
                rules[f"max_regression: {rule.metric}{part}"] = before - after > float(rule.tolerance) + ROUNDING
            else:
                rules[f"min: {rule.metric}{part}"] = after < rule.at_least - ROUNDING
    return rules


def regression(thresholds: Thresholds, found: Simulated, drawn: Drawn) -> NDArray[np.bool_]:
    """Which of the runs lose more of Hit@3 than any strategy may."""
    hits = found.hits(3)
    return np.asarray(hits.mean() - hits[drawn].mean(axis=1) > float(thresholds.tolerance) + ROUNDING)


def simulate(baseline: Record, thresholds: Thresholds) -> list[dict[str, Any]]:
    """A row for each churn and drop: how often the rule on Hit@3 fails the production strategy, and any of all that drop
    alike, as shipped without alpha and with ALPHA; and how often any rule fails where the production strategy alone drops.
    Of a drop of Hit@1 the last is told alone."""
    strategies = [
        Simulated.of(baseline, name) for name in sorted(baseline.strategies)
    ]  # draws shall not depend on order
    generator = np.random.default_rng(SEED)
    rows = []
    for churn in CHURN:
        still = {one.name: one.churned(churn, generator) for one in strategies}
        for metric, drop in DROPS:
            runs = {one.name: one.dropped(still[one.name], metric, drop, generator) for one in strategies}
            row: dict[str, Any] = {"churn": churn, "metric": metric, "drop": drop}
            if metric == "hit@3":
                row |= _rates(thresholds, strategies, runs)
            [production] = [one for one in strategies if one.name == thresholds.production]
            found = broken(baseline, thresholds, production, runs[production.name])
            own = np.logical_or.reduce(list(found.values()))
            others = [regression(thresholds, one, still[one.name]) for one in strategies if one is not production]
            row["rules"] = {"production": own.mean(), "all": np.logical_or.reduce([own, *others]).mean()}
            rows.append(row)
    return rows


def _rates(thresholds: Thresholds, strategies: Sequence[Simulated], runs: Mapping[str, Drawn]) -> dict[str, Any]:
    too_much = np.stack([regression(thresholds, one, runs[one.name]) for one in strategies], axis=1)
    before = [one.hits(3) for one in strategies]
    after = [won[runs[one.name]] for one, won in zip(strategies, before, strict=True)]
    lost = np.stack([(won & ~now).sum(axis=1) for won, now in zip(before, after, strict=True)], axis=1)
    gained = np.stack([(~won & now).sum(axis=1) for won, now in zip(before, after, strict=True)], axis=1)
    with_alpha = too_much & np.array([_significant(*run) for run in zip(lost, gained, strict=True)])
    at = [one.name for one in strategies].index(thresholds.production)
    return {
        "production": {"shipped": too_much[:, at].mean(), "alpha": with_alpha[:, at].mean()},
        "any": {"shipped": too_much.any(axis=1).mean(), "alpha": with_alpha.any(axis=1).mean()},
    }


def _significant(lost: NDArray[Any], gained: NDArray[Any]) -> list[bool]:
    p_values = {str(i): mcnemar_loss(int(a), int(b)) for i, (a, b) in enumerate(zip(lost, gained, strict=True))}
    return [p <= ALPHA for p in holm(p_values).values()]


def shown(rows: list[dict[str, Any]]) -> Table:
    """The rows as text, in percent of the simulated runs."""
    header = (
        "churn",
        "true drop",
        "Hit@3 of production, as shipped",
        "Hit@3 of production, alpha 0.05",
        "Hit@3 of any of ten, as shipped",
        "Hit@3 of any of ten, alpha 0.05",
        "all rules",
    )
    return Table(header, tuple(_row(row) for row in rows))


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    drop = f"{100 * row['drop']:.0f} points of {row['metric'].title()}" if row["drop"] else "none"
    cells = [
        f"{100 * row[who][rule]:.1f}" if who in row else "–"
        for who in ("production", "any")
        for rule in ("shipped", "alpha")
    ]
    return f"{100 * row['churn']:.0f} %", drop, *cells, f"{100 * row['rules']['all']:.1f}"


def main() -> None:
    settings = Settings()
    rows = simulate(read_baseline(settings.baseline), read_thresholds(settings.thresholds))
    write_atomic({RESULTS: dumps({"schema": "docmind.gate_rates/2", "runs": RUNS, "rows": rows})})
    Console(markup=False).print(table(shown(rows)), soft_wrap=True)


if __name__ == "__main__":
    main()
