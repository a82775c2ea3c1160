"""What the figures of a verdict mean, in words that several reports repeat. It computes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from docmind.evaluation.gate.answers import AnswersVerdict
from docmind.evaluation.gate.verdict import Verdict
from docmind.evaluation.reports.tables import percent
from docmind.evaluation.scoring.attribution import LostAt

FIGURES = (
    "p: McNemar's exact test, one-sided for a loss, adjusted after Holm over the strategies that are judged. Interval: "
    "paired bootstrap, percentile; within noise: it holds 0."
)

LOST_AT: dict[LostAt, str] = {
    "chunking": "no single chunk holds the gold",
    "candidates": "no search ranked a chunk that holds the gold high enough",
    "fusion": "fusion ranked every chunk that holds the gold too low",
    "rerank": "reranking ranked every chunk that holds the gold too low",
}
"""What it means that a question was lost there."""
MEANING = {2: "wrong or missing input, or a fault", 3: "not comparable or incomplete"}
"""Of the exit codes that stand for no verdict."""


def smallest_drop(verdict: Verdict) -> str:
    """How small a true drop the rule of the gate would find, or that it could find none."""
    comparison = verdict.comparison
    rule = f"more than {percent(float(comparison.tolerance))} points of Hit@3 lost"
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


def judged_by(verdict: Verdict | AnswersVerdict) -> Iterator[tuple[str, str]]:
    """Whose files the verdict is by and what the change proposes, each a label and a sentence, of which both are a stranger's
    text; nothing where no base was asked for."""
    if not verdict.base:
        return
    if verdict.accepted:
        yield f"accepted by {verdict.accepted}", f"the files of this change count, not those of {verdict.base}"
    elif verdict.proposal:
        yield (
            "judged by",
            f"the thresholds, strategies and baseline of {verdict.base}; what this change proposes does not count",
        )
    else:
        yield "judged by", f"the thresholds, strategies and baseline of {verdict.base}; this change has the same"
    yield from (("proposed", told) for told in verdict.proposal)
    if verdict.accepted and not verdict.overruled:
        yield "by the base", "it would have passed too"
    yield from (("would have failed by the base", told) for told in verdict.overruled)
