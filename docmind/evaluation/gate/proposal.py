"""What a change proposes to be judged by, held against what the branch has that it goes to: sentences, from what to what.

It judges nothing, and knows no key of the thresholds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from docmind.evaluation.gate.check import Check
from docmind.evaluation.gate.compare import differences
from docmind.evaluation.gate.values import brief, changes, cut, listed, show
from docmind.evaluation.record.answers import AnswersRecord
from docmind.evaluation.record.rules import StrategiesFile
from docmind.evaluation.record.types import Record, StrategyResult
from docmind.text import plural

SENTENCE = 300
"""Characters of a sentence."""

MOST = 20
"""Sentences: a comment has room for the verdict too."""


def thresholds(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[str]:
    """A sentence a key that differs: "thresholds: min_hit_at_3: 0.677 → 0.6"."""
    return (f"thresholds: {told}" for told in changes(old, new))


def strategies(old: StrategiesFile, new: StrategiesFile) -> Iterator[str]:
    """What became of the matrix, of those that can fail, and of names; and how each is scored all the same."""
    for name in old.matrix:
        if name not in new.matrix:
            scored = "is defined here" if name in new.names else "stands in the base"
            yield f"strategies: {brief(name)} is in the base's matrix and no longer here; it is scored as it {scored}"
    if added := [name for name in new.matrix if name not in old.matrix]:
        yield f"strategies: new in the matrix: {listed(added)}"
    yield from (f"strategies: {told}" for told in changes({"gate": old.gate or "all"}, {"gate": new.gate or "all"}))
    for name, meant in old.names.items():
        if name not in new.names:
            yield f"strategies: the name {brief(name)} is no longer here; in the base it is {brief(meant)}"
        elif new.names[name] != meant:
            yield f"strategies: {brief(name)}: {brief(meant)} → {brief(new.names[name])}; it is scored as it is here"
    if named := [name for name in new.names if name not in old.names]:
        yield f"strategies: new names: {listed([f'{name} = {show(new.names[name])}' for name in named])}"


def baseline(old: Record, new: Record) -> Iterator[str]:
    """Which strategies' figures differ, which came and went, where ranks alone differ, and what else the runs were made with."""
    if old == new:
        return
    shared = [name for name in new.strategies if name in old.strategies]
    pairs = {name: (old.strategies[name], new.strategies[name]) for name in shared}
    differing = {name: told for name, (was, is_now) in pairs.items() if (told := _figure(was, is_now))}
    if differing:
        whose = "1 strategy's" if len(differing) == 1 else f"{len(differing)} strategies'"
        yield f"baseline: {whose} figures differ: {listed([f'{name} {told}' for name, told in differing.items()])}"
    for verb, names in (
        ("taken out", [name for name in old.strategies if name not in new.strategies]),
        ("added", [name for name in new.strategies if name not in old.strategies]),
    ):
        if names:
            yield f"baseline: strategies {verb}: {listed(names)}"
    if moved := {
        name: n for name, (was, is_now) in pairs.items() if name not in differing and (n := _moved(was, is_now))
    }:
        told = listed([f"{name} ({plural(n, 'question')})" for name, n in moved.items()])
        yield f"baseline: other ranks without another figure: {told}"
    others = [part for told in differences(old, new) for part, _, what in [told.partition(": ")] if what != "same"]
    if others:
        yield f"baseline: it is of another run, which differs in: {', '.join(others)}"
    if not (differing or moved or others) and old.strategies.keys() == new.strategies.keys():
        yield "baseline: it differs in what no figure shows, such as ids of chunks"


def answers(old: AnswersRecord, new: AnswersRecord) -> Iterator[str]:
    """How many committed verdicts differ, and of how many right answers."""
    names = dict.fromkeys([*old.verdicts, *new.verdicts])
    if differing := [name for name in names if old.verdicts.get(name) != new.verdicts.get(name)]:
        right = [sum(verdict == "correct" for verdict in side.verdicts.values()) for side in (old, new)]
        yield (
            f"answers: {plural(len(differing), 'verdict')} differ ({listed(differing)}); correct: {right[0]} → {right[1]}"
        )
    elif old != new:
        yield "answers: they are of another run, of which no verdict differs"


def limited(told: Sequence[str]) -> tuple[str, ...]:
    """At most MOST sentences of at most SENTENCE characters; the last says how many more there are."""
    rest = [f"and {len(told) - MOST + 1} more changes, which are not listed"] if len(told) > MOST else []
    kept = told[: MOST - 1] if rest else told
    return tuple(cut(sentence, SENTENCE) for sentence in (*kept, *rest))


def failures(checks: Sequence[Check], incomplete: Sequence[str] = ()) -> tuple[str, ...]:
    """Why a verdict is not "passed"."""
    return limited([*incomplete, *(f"{check.name}: {check.told}" for check in checks if check.passed is not True)])


def _figure(was: StrategyResult, is_now: StrategyResult) -> str:
    """The first figure that differs, Hit@3 before others; "" where none does."""
    old, new = dict(was.metrics or {}), dict(is_now.metrics or {})
    differing = [name for name in dict.fromkeys(["hit@3", *old, *new]) if old.get(name) != new.get(name)]
    if not differing:
        return ""
    name = differing[0]
    formats: tuple[Callable[[float], str], ...] = (
        lambda share: f"{100 * share:.1f}",
        lambda share: f"{100 * share:.4f}",
    )
    figures = [old.get(name), new.get(name)]
    told = [[("none" if share is None else form(share)) for share in figures] for form in formats]
    before, after = told[0] if told[0][0] != told[0][1] else told[1]
    return f"{name} {before} → {after}"


def _moved(was: StrategyResult, is_now: StrategyResult) -> int:
    """How many questions of both have other ranks."""
    return sum(
        found.ranks != is_now.questions[name].ranks for name, found in was.questions.items() if name in is_now.questions
    )
