"""Judges a run by the thresholds and against the baseline: the verdict that an exit code and every report repeat.

Counts and exact fractions are compared, so that a loss of exactly the tolerance passes at any number of questions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from docmind.errors import UsageError
from docmind.evaluation.gate.check import FAILED, INCOMPLETE, PASSED, Check, exit_code, few, percent, some
from docmind.evaluation.gate.compare import Change, Comparison, compare, same_questions
from docmind.evaluation.gate.movement import Fall, Movement, overview
from docmind.evaluation.gate.rules import rule_checks
from docmind.evaluation.gate.thresholds import Thresholds, exact
from docmind.evaluation.record.types import Record, StrategyResult
from docmind.evaluation.scoring.spans import is_hit
from docmind.registry import did_you_mean
from docmind.text import plural
from docmind.types import Question


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate found. `incomplete` are reasons for which the run cannot be judged whole. `gated` names the strategies
    whose regression may fail it, None all; of the others `information` tells what is missing, lost and gained, and of
    foreign ones what does not stand still. `movements`
    are the production strategy's, none where it cannot be compared.

    `base` names the commit whose thresholds, strategies and baseline count, "" where none was asked for; `proposal` tells
    what the change would have them be. With `accepted`, who accepted it, the change's own count, and `overruled` tells what
    would have failed by the base's."""

    checks: tuple[Check, ...]
    incomplete: tuple[str, ...]
    comparison: Comparison
    gated: frozenset[str] | None = None
    information: tuple[str, ...] = ()
    base: str = ""
    proposal: tuple[str, ...] = ()
    accepted: str = ""
    overruled: tuple[str, ...] = ()
    movements: tuple[Movement, ...] = ()

    def judges(self, strategy: str) -> bool:
        """Whether a regression of that strategy may fail; else it is shown for information."""
        return self.gated is None or strategy in self.gated

    @property
    def production(self) -> str:
        """The strategy that the floor is of."""
        return next(check.strategy for check in self.checks if check.name == "floor")

    @property
    def exit_code(self) -> int:
        """3 where something could not be judged, else 1 where a check failed, else 0."""
        return INCOMPLETE if self.incomplete else exit_code(self.checks)

    @property
    def headline(self) -> str:
        """The verdict in a few words."""
        return {PASSED: "passed", FAILED: "failed", INCOMPLETE: "not comparable or incomplete"}[self.exit_code]


def check_must_pass(thresholds: Thresholds, questions: Sequence[Question]) -> None:
    """Raise UsageError where `must_pass` names an unanswerable question, which can be neither won nor lost."""
    for question in questions:
        if question.id in thresholds.must_pass and not question.gold:
            raise UsageError(
                f"must_pass: {question.id!r} has no gold, so it cannot be won. Take it out of the thresholds."
            )


def judge(record: Record, baseline: Record, thresholds: Thresholds, gated: Collection[str] | None = None) -> Verdict:
    """The verdict on `record`, held against `baseline`. `gated` names the strategies that may fail for a regression, None
    all; floor and must_pass are the production strategy's, gated or not."""
    names = None if gated is None else frozenset(gated)
    comparison = compare(baseline, record, thresholds.alpha, names, thresholds.tolerance)
    production = record.strategies.get(thresholds.production)
    same = None if comparison.refusals else frozenset(same_questions(baseline, record))
    compared = any(change.strategy == thresholds.production for change in comparison.changes)
    faults = list(_faults(record, baseline))
    return Verdict(
        checks=(
            _floor(production, thresholds),
            *(_regression(c, thresholds) for c in comparison.changes if names is None or c.strategy in names),
            *_must_pass(production, thresholds),
            *rule_checks(record, baseline, thresholds, same),
        ),
        incomplete=(
            *_incomplete(record, comparison, names),
            *_too_few(baseline, same, thresholds),
            *(f for name, f in faults if names is None or name in names),
        ),
        comparison=comparison,
        gated=names,
        information=(*_unstable(record), *(() if names is None else _information(comparison, faults, names))),
        movements=tuple(overview(baseline, record, thresholds.production, same or ())) if compared else (),
    )


def _too_few(baseline: Record, same: Collection[str] | None, thresholds: Thresholds) -> Iterator[str]:
    """That so many questions of the baseline were changed or taken out that the others say little of the run."""
    found = (strategy.questions.items() for strategy in baseline.strategies.values())
    asked = {name for questions in found for name, outcome in questions if outcome.ranks}
    if same is None or not asked:
        return
    share, least = Fraction(len(asked & set(same)), len(asked)), exact(thresholds.min_compared)
    if share < least:
        yield (
            f"{len(asked & set(same))} of the baseline's {plural(len(asked), 'answerable question')} are as they were "
            f"({percent(share)} %), and min_compared asks for {percent(least)} %. If the answer key was meant to change so far, "
            "make a new baseline: docmind eval --save-baseline"
        )


def _incomplete(record: Record, comparison: Comparison, gated: frozenset[str] | None) -> Iterator[str]:
    """What concerns the whole run."""
    *others, last = comparison.refusals or ("",)
    yield from (f"not comparable with the baseline: {reason}" for reason in others)
    if last:
        yield f"not comparable with the baseline: {last}. Make a new baseline: docmind eval --save-baseline"
    if record.counts.left_out:
        yield f"a filter left out {record.counts.left_out} of the answer key's questions"
    missing = comparison.missing if gated is None else sorted(name for name in gated if name not in record.strategies)
    if missing:
        whose = "of the baseline" if gated is None else "that the gate judges"
        yield f"strategies {whose} were not run: {', '.join(missing)}"


def _information(comparison: Comparison, faults: Sequence[tuple[str, str]], gated: frozenset[str]) -> Iterator[str]:
    if absent := [name for name in comparison.missing if name not in gated]:
        yield f"strategies of the baseline were not run: {', '.join(absent)}"
    yield from (fault for name, fault in faults if name not in gated)
    for change in comparison.changes:
        if change.strategy not in gated and (change.lost or change.gained):
            yield (
                f"{change.strategy} lost {plural(len(change.lost), 'question')} and gained {len(change.gained)}: Hit@3 "
                f"{change.before} → {change.after} of {change.n}"
            )


def _faults(record: Record, baseline: Record) -> Iterator[tuple[str, str]]:
    """By strategy, why it has nothing to compare."""
    for name, strategy in baseline.strategies.items():
        if strategy.metrics is None:
            yield name, f"the baseline has no metrics of {name}. Make a new one"
    for name, strategy in record.strategies.items():
        if failed := list(strategy.errors):
            told = f"{plural(len(failed), 'question')} ended in an error ({some(failed)})"
            yield name, f"{name} has no metrics: {told}"
        if (foreign := strategy.foreign) and foreign.misplaced:
            yield (
                name,
                f"{foreign.unplaced} of {plural(foreign.passages, 'passage')} of {name} are in none of the documents "
                f"({percent(Fraction(foreign.unplaced, foreign.passages))} %), and its max_unplaced is "
                f"{percent(exact(foreign.max_unplaced))} %: its documents are others than those here",
            )


def _unstable(record: Record) -> Iterator[str]:
    """Of foreign strategies, that what is measured does not stand still."""
    for name, strategy in record.strategies.items():
        if (foreign := strategy.foreign) and foreign.unstable:
            yield (
                f"{name} answered {len(foreign.unstable)} of {foreign.asked_again} questions otherwise when asked twice "
                f"({some(foreign.unstable)}): its figures move without any change"
            )


def _floor(production: StrategyResult | None, thresholds: Thresholds) -> Check:
    asked = f"Hit@3 of {thresholds.production} must be at least {percent(thresholds.floor)} %"
    if production is None or production.metrics is None:
        return Check("floor", None, f"{asked}; the run has no such figure", thresholds.production)
    ranks = [found.rank for found in production.questions.values() if found.ranks]
    hits = sum(map(is_hit, ranks))
    reached = Fraction(hits, len(ranks))
    told = f"{asked}; it is {percent(reached)} % ({hits} of {len(ranks)})"
    return Check("floor", reached >= thresholds.floor, told, thresholds.production)


def _regression(change: Change, thresholds: Thresholds) -> Check:
    told = (
        f"{change.strategy} lost {plural(len(change.lost), 'question')} and gained {len(change.gained)}: Hit@3 "
        f"{percent(Fraction(change.before, change.n))} % → {percent(Fraction(change.after, change.n))} % "
        f"({change.before} → {change.after} of {change.n}); {percent(thresholds.tolerance)} points may be lost"
    )
    too_much = change.drop > thresholds.tolerance
    if thresholds.alpha is not None and change.lost and change.adjusted is not None:
        significant = exact(change.adjusted) <= exact(thresholds.alpha)
        told += f" if it is significant at {thresholds.alpha}; p = {probability(change.adjusted)} after Holm"
        too_much = too_much and significant
    return Check("regression", not too_much, told + (few(change.n, change.drop) if too_much else ""), change.strategy)


def _must_pass(production: StrategyResult | None, thresholds: Thresholds) -> list[Check]:
    questions = production.questions if production else {}
    checks = []
    for name in thresholds.must_pass:
        if name not in questions:
            hint = did_you_mean(name, questions)
            told = f"{name} was not asked of {thresholds.production}.{hint}"
            checks.append(Check("must_pass", None, told, thresholds.production, name))
            continue
        rank = questions[name].rank
        place = f"at rank {rank}" if rank else f"not among the {plural(len(questions[name].hits), 'passage')} found"
        error = questions[name].error is not None
        told = (
            f"{name} must be won at 3 by {thresholds.production}; it {'ended in an error' if error else 'is ' + place}"
        )
        passed = None if error else is_hit(rank)
        checks.append(Check("must_pass", passed, told, thresholds.production, name))
    return checks


def failing(verdict: Verdict) -> dict[str, frozenset[str]]:
    """By strategy, the questions for whose loss the gate failed: of a regression those that were lost, of the floor and of
    min those that the strategy lost, of max_regression those on which the metric fell, and of must_pass the question
    itself."""
    lost = {change.strategy: frozenset(f.question_id for f in change.lost) for change in verdict.comparison.changes}
    found: dict[str, frozenset[str]] = {}
    for check in verdict.checks:
        if check.passed is False:
            if check.question:
                questions = frozenset([check.question])
            elif check.falls:
                questions = frozenset(fall.question_id for fall in check.falls)
            else:
                questions = lost.get(check.strategy, frozenset())
            found[check.strategy] = found.get(check.strategy, frozenset()) | questions
    return found


def falls(verdict: Verdict, strategy: str) -> dict[str, Fall]:
    """By question, how those fell for which max_regression failed that strategy."""
    return {fall.question_id: fall for check in verdict.checks if check.strategy == strategy for fall in check.falls}


def probability(p: float | None) -> str:
    """0.0123 as "0.012", what is under a thousandth as "<0.001", None as "–"."""
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"
