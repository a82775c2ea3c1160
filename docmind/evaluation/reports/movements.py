"""What moved of the production strategy, and which questions a failed rule is about, in words that several reports repeat."""

from __future__ import annotations

from fractions import Fraction

from docmind.evaluation.gate.movement import Fall, Movement
from docmind.evaluation.gate.verdict import Verdict
from docmind.evaluation.reports.tables import MISSING, Table

NAMES = {"hit": "Hit", "mrr": "MRR", "ndcg": "nDCG"}
"""What metrics are called where people read them, by the word of their name; others are called by that name."""


def moved(verdict: Verdict) -> Table | None:
    """A row a metric of the production strategy, over all questions that are compared and then by type: in percent before
    and after, and in points. None where it could not be compared."""
    if not verdict.movements:
        return None
    header = ("metric", "questions", "before", "after", "change", "95 % interval", "moved")
    return Table(header, tuple(map(_row, verdict.movements)), words=True)


def changes(verdict: Verdict) -> list[str]:
    """A line for each that moved."""
    return [
        f"{one.strategy}: {_name(one)} {_percent(one.before)} → {_percent(one.after)} % of {one.n} ({one.moved})"
        for one in verdict.movements
        if one.drop or any(one.differences)
    ]


def ranks(fall: Fall) -> str:
    """The ranks of its pieces before and after, such as "1, 4 → 1, –"."""
    return " → ".join(", ".join(str(rank or MISSING) for rank in side) for side in (fall.old, fall.new))


def _row(one: Movement) -> tuple[str, ...]:
    between = MISSING
    if one.interval is not None:
        between = " to ".join(f"{100 * bound + 0.0:+.1f}" for bound in one.interval)
    change = f"{0.0 - 100 * float(one.drop):+.1f}"
    return _name(one), str(one.n), _percent(one.before), _percent(one.after), change, between, one.moved


def _name(one: Movement) -> str:
    word, _, k = one.metric.partition("@")
    return f"{NAMES.get(word, word)}@{k}{one.part}"


def _percent(value: Fraction) -> str:
    return f"{100 * float(value):.1f}"
