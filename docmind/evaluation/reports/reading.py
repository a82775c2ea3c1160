"""What the figures of a verdict mean, in words that several reports repeat. It computes nothing."""

from __future__ import annotations

from docmind.evaluation.gate.verdict import Verdict
from docmind.evaluation.reports.tables import percent

FIGURES = (
    "p: McNemar's exact test, one-sided for a loss, adjusted after Holm over the strategies that are judged. Interval: "
    "paired bootstrap, percentile; within noise: it holds 0."
)

MEANING = {2: "wrong or missing input, or a fault", 3: "not comparable or incomplete"}
"""Of the exit codes that stand for no verdict."""


def smallest_drop(verdict: Verdict) -> str:
    """How small a true drop the rule of the gate would find, or that it could find none."""
    comparison = verdict.comparison
    rule = f"more than {percent(float(comparison.tolerance))} points lost"
    if comparison.alpha is not None:
        rule += f", with p ≤ {comparison.alpha} after Holm over {comparison.judged}"
    drops = [change.detectable for change in comparison.changes if verdict.judges(change.strategy)]
    known = sorted(drop for drop in drops if drop is not None)
    if not known:
        return f"The rule ({rule}) could find no drop with so few questions."
    least = " to ".join(dict.fromkeys(map(percent, (known[0], known[-1]))))
    return (
        f"The smallest true drop of a strategy that the rule ({rule}) finds in 8 of 10 runs is {least} points, with the "
        "questions of this run and as many flips both ways."
    )
