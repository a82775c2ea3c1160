"""One rule of the gate, judged, and the figures in which its sentence tells it. It reads no run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from docmind.evaluation.gate.movement import Fall
from docmind.text import plural

PASSED, FAILED, INCOMPLETE = 0, 1, 3
"""Exit codes."""


@dataclass(frozen=True, slots=True)
class Check:
    """One rule of the gate on one strategy, and for must_pass on one question: `name` is floor, regression, must_pass, min
    or max_regression; `told` is a sentence with the figures that decide. `passed` is None where the run does not say: the
    strategy or the question is missing, or ended in an error. Of min and max_regression `of` says on what metric and
    which questions, without a figure, and `falls` are the questions that a failure is about."""

    name: str
    passed: bool | None
    told: str
    strategy: str
    question: str | None = None
    of: str = ""
    falls: tuple[Fall, ...] = ()

    @property
    def sign(self) -> str:
        """`passed` as a word."""
        return {True: "pass", False: "FAIL", None: "not judged"}[self.passed]

    @property
    def title(self) -> str:
        """What tells it from all others of a run, and is the same from run to run."""
        return ": ".join(filter(None, (self.name, self.strategy, self.of, self.question)))


def exit_code(checks: Sequence[Check]) -> int:
    """3 where something could not be judged, else 1 where a check failed, else 0."""
    if any(check.passed is None for check in checks):
        return INCOMPLETE
    return PASSED if all(check.passed for check in checks) else FAILED


def few(n: int, drop: Fraction) -> str:
    """What is added where a rule on points failed for a net loss of `drop`, a share of 1: that one of `n` questions is
    worth more than may be lost, "" where it was not one alone."""
    if drop != Fraction(1, n):
        return ""
    return (
        f". One of {plural(n, 'question')} is worth {percent(drop)} points, so that the loss of any one fails: ask more, or "
        "allow the points of one"
    )


def percent(value: Fraction) -> str:
    """0.825 as "82.5": one decimal, or as many as it takes to tell a value from its rounding, up to three."""
    hundred = 100 * value
    for decimals in (1, 2):
        if Fraction(f"{float(hundred):.{decimals}f}") == hundred:
            return f"{float(hundred):.{decimals}f}"
    return f"{float(hundred):.3f}"


def some(names: Sequence[str]) -> str:
    """The first five, and how many more."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
