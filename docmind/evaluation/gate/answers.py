"""Judges a run of answers by the thresholds and against the committed one. Retrieval has a gate of its own (verdict.py)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from docmind.evaluation.gate.check import Check, exit_code, few, percent
from docmind.evaluation.gate.compare import by_name, by_value
from docmind.evaluation.gate.thresholds import AnswerThresholds, exact
from docmind.evaluation.record.answers import REMEDY, AnswersRecord, Fingerprint
from docmind.evaluation.scoring.summary import Counts
from docmind.text import plural
from docmind.types import Verdict


@dataclass(frozen=True, slots=True)
class AnswersVerdict:
    """What the gate found of answers, and what differs from the committed ones; the rest as in a Verdict on retrieval."""

    checks: tuple[Check, ...]
    differences: tuple[str, ...]
    base: str = ""
    proposal: tuple[str, ...] = ()
    accepted: str = ""
    overruled: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """3 where something could not be judged, else 1 where a check failed, else 0."""
        return exit_code(self.checks)


def judge_answers(
    run: AnswersRecord,
    reference: AnswersRecord,
    thresholds: AnswerThresholds,
    answerable: Collection[str],
) -> tuple[Check, ...]:
    """The checks, each with the figures that decide; `answerable` are the ids of the run's questions that have gold.
    `passed` is None where the run does not say."""
    with_gold, without = run.summary.answerable.all, run.summary.unanswerable.all
    return (
        _bound("correct answers", with_gold, "correct", at_least=thresholds.min_correct),
        _bound("wrong answers", with_gold, "wrong", at_most=thresholds.max_wrong),
        _bound("abstentions on answerable questions", with_gold, "abstained", at_most=thresholds.max_false_abstention),
        *_abstention(without, thresholds),
        _regression(run, reference, thresholds, answerable),
    )


def differences(old: Fingerprint, new: Fingerprint) -> tuple[str, ...]:
    """A sentence a part of the fingerprint on what differs, the same ones at every run, so that what is equal is told too."""
    return (
        by_name("key", "question", old.questions, new.questions),
        *(
            by_value(part, getattr(old, part), getattr(new, part))
            for part in Fingerprint.model_fields
            if part != "questions"
        ),
    )


def _abstention(counts: Counts, thresholds: AnswerThresholds) -> tuple[Check, ...]:
    what = "abstentions on unanswerable questions"
    if thresholds.min_abstention is None:
        told = f"{what}: the answer key has {plural(counts.n, 'such question')}, and the thresholds no min_abstention"
        return (Check("answers", None, f"{told}. Add it", "abstained"),) if counts.n else ()
    if not counts.n:
        told = f"{what}: the answer key has no such question. Write some, or take min_abstention out of the thresholds"
        return (Check("answers", None, told, "abstained"),)
    return (_bound(what, counts, "abstained", at_least=thresholds.min_abstention),)


def _bound(
    what: str, counts: Counts, verdict: Verdict, *, at_least: float | None = None, at_most: float | None = None
) -> Check:
    least = at_least is not None
    bound = exact(at_least if at_least is not None else at_most or 0.0)
    asked = f"{what} must be at {'least' if least else 'most'} {percent(bound)} %"
    if not counts.n or counts.judged < counts.n:
        return Check("answers", None, f"{asked}; only {counts.judged} of {counts.n} have a verdict", verdict)
    rate = Fraction(counts.verdicts[verdict], counts.n)
    passed = rate >= bound if least else rate <= bound
    return Check(
        "answers", passed, f"{asked}; they are {percent(rate)} % ({counts.verdicts[verdict]} of {counts.n})", verdict
    )


def _regression(
    run: AnswersRecord, reference: AnswersRecord, thresholds: AnswerThresholds, answerable: Collection[str]
) -> Check:
    old, new = (side.fingerprint.questions for side in (reference, run))
    same = [
        name for name in new if name in answerable and old.get(name) == new[name] and run.verdicts[name] is not None
    ]
    if not same:
        return Check("answers", None, f"no answerable question is as in the committed answers. {REMEDY}", "correct")
    before = [name for name in same if reference.verdicts[name] == "correct"]
    after = [name for name in same if run.verdicts[name] == "correct"]
    lost, gained = sorted(set(before) - set(after)), sorted(set(after) - set(before))
    told = (
        f"of {len(same)} answerable questions that are the same, {len(lost)} correct answers were lost and {len(gained)} gained; "
        f"{percent(exact(thresholds.max_regression_pp) / 100)} points may be lost"
    )
    named = f" (lost: {', '.join(lost[:10])}{' …' if len(lost) > 10 else ''})" if lost else ""
    drop, tolerance = Fraction(len(before) - len(after), len(same)), exact(thresholds.max_regression_pp) / 100
    passed = drop <= tolerance
    return Check("answers", passed, told + named + ("" if passed else few(len(same), drop)), "correct")
