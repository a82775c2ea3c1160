"""Judges the rules on single metrics, `min` and `max_regression` of the thresholds: a check for each, of each its own type.

What the run does not have, a strategy, a type, a split or a metric, leaves a rule unjudged: it is no reason to pass.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from docmind.evaluation.gate.check import Check, few, percent, some
from docmind.evaluation.gate.movement import Part, mean, members, movement
from docmind.evaluation.gate.thresholds import EACH, Minimum, Regression, Rule, Thresholds, exact
from docmind.evaluation.record.types import Record
from docmind.registry import did_you_mean
from docmind.text import plural


def rule_checks(new: Record, old: Record, thresholds: Thresholds, same: Collection[str] | None) -> Iterator[Check]:
    """Those of every rule on `new`; `same` are the questions that can be compared with `old`, None where it cannot be."""
    for least in thresholds.min:
        yield from _minimum(new, least, least.strategy or thresholds.production)
    for most in thresholds.max_regression:
        yield from _regression(new, old, most, most.strategy or thresholds.production, same)


def _minimum(new: Record, rule: Minimum, name: str) -> Iterator[Check]:
    for part, reason in _parts(new, rule, name):
        asked = f"{rule.metric} of {name}{part} must be at least {percent(exact(rule.at_least))} %"
        found = reason or mean(rule.measure, new, name, part)
        if isinstance(found, str):
            yield Check("min", None, f"{asked}; {found}", name, of=f"{rule.metric}{part}")
            continue
        told = f"{asked}; it is {percent(found)} % over {plural(len(members(new, name, part)), 'question')}"
        yield Check("min", found >= exact(rule.at_least), told, name, of=f"{rule.metric}{part}")


def _regression(new: Record, old: Record, rule: Regression, name: str, same: Collection[str] | None) -> Iterator[Check]:
    for part, reason in _parts(new, rule, name):
        if rule.type == EACH and not reason and same is not None and _only_added(new, old, name, part):
            continue
        asked = f"{rule.metric} of {name}{part} may lose {percent(rule.tolerance)} points"
        found = (
            reason
            or _incomparable(new, old, name, part, same)
            or movement(old, new, name, rule.measure, part, same or ())
        )
        if isinstance(found, str):
            yield Check("max_regression", None, f"{asked}; {found}", name, of=f"{rule.metric}{part}")
            continue
        passed = found.drop <= rule.tolerance
        change = f"{percent(found.before)} % → {percent(found.after)} % over {plural(found.n, 'question')}"
        told = f"{asked}; it went {change}"
        if not passed:
            fell = [fall.question_id for fall in found.falls]
            told += (f"; lower: {some(fell)}" if fell else "") + few(found.n, found.drop)
        falls = () if passed else found.falls
        yield Check("max_regression", passed, told, name, of=f"{rule.metric}{part}", falls=falls)


def _parts(new: Record, rule: Rule, name: str) -> Iterator[tuple[Part, str]]:
    """The parts that a rule is of, each with why the run does not have it, "" where it does."""
    part = Part(rule.type, rule.split)
    if name not in new.strategies:
        yield (
            part,
            f"there is no such strategy in the run.{did_you_mean(name, new.strategies)} {_there(new.strategies)}",
        )
        return
    if new.strategies[name].metrics is None:
        yield part, "the run has no such figure"
        return
    for what, wanted, groups in (("type", rule.type, new.types), ("split", rule.split, new.splits)):
        if wanted is None or (what == "type" and wanted == EACH):
            continue
        known = [label for label in groups if members(new, name, Part(**{what: label}))]
        if wanted not in known:
            yield part, f"there is no answerable question of that {what}.{did_you_mean(wanted, known)} {_there(known)}"
            return
    kinds = new.types if rule.type == EACH else [rule.type]
    parts = [part for kind in kinds if members(new, name, part := Part(kind, rule.split))]
    if not parts:
        yield part, "the run has no such question"
    yield from ((part, "") for part in parts)


def _there(names: Collection[str]) -> str:
    return f"There are: {', '.join(names) or 'none'}."


def _incomparable(new: Record, old: Record, name: str, part: Part, same: Collection[str] | None) -> str:
    """Why there is nothing to hold against each other, "" where there is."""
    if same is None:
        return "the run cannot be compared with the baseline"
    if name not in old.strategies or old.strategies[name].metrics is None:
        return "the baseline has no such figure. Make a new baseline: docmind eval --save-baseline"
    if not any(question in same for question in members(new, name, part)):
        return "none of these questions is as it was in the baseline. Make a new baseline: docmind eval --save-baseline"
    return ""


def _only_added(new: Record, old: Record, name: str, part: Part) -> bool:
    """Whether the baseline has none of these questions, changed or not: a type that is new lost nothing."""
    return not any(question in old.instrument.questions for question in members(new, name, part))
