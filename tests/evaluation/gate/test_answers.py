"""The gate on answers: exact bounds, and a regression over the same questions alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from docmind.evaluation.gate.answers import judge_answers
from docmind.evaluation.gate.check import exit_code
from docmind.evaluation.gate.thresholds import AnswerThresholds
from docmind.evaluation.record.answers import AnswersRecord, Fingerprint
from docmind.evaluation.scoring.summary import summary
from docmind.types import Gold, Question, Span, Verdict

GOLD = (Gold((Span("page.md", 0, 9),)),)


@dataclass(frozen=True)
class Said:
    """An answer as it is counted."""

    id: str
    verdict: Verdict | None
    confidence: float | None = None
    metrics: Mapping[str, float | None] = field(default_factory=dict)


LOOSE = {
    "min_correct": 0.0,
    "max_wrong": 1.0,
    "max_false_abstention": 1.0,
    "min_abstention": 0.0,
    "max_regression_pp": 100.0,
}


def run(answerable, unanswerable=("abstained",), **asked):
    """A record: questions a0… and u0… with these verdicts; `asked` changes hashes of questions."""
    verdicts = {f"a{i}": verdict for i, verdict in enumerate(answerable)}
    verdicts |= {f"u{i}": verdict for i, verdict in enumerate(unanswerable)}
    return AnswersRecord(
        fingerprint=Fingerprint(
            questions={name: f"hash of {name}" for name in verdicts} | asked,
            strategy="headers+rerank",
            answerer="extractive",
            judge="span",
            code="code",
        ),
        summary=summary(
            [Said(name, verdict) for name, verdict in verdicts.items()],
            [Question(name, "?", GOLD if name.startswith("a") else ()) for name in verdicts],
            (),
        ),
        verdicts=verdicts,
    )


def judged(now, before=None, **thresholds):
    with_gold = [name for name in now.verdicts if name.startswith("a")]
    return judge_answers(now, before or now, AnswerThresholds(**LOOSE | thresholds), with_gold)


def verdicts(**n):
    return [verdict for verdict, count in n.items() for _ in range(count)]


TEN = verdicts(correct=5, wrong=3, abstained=2)


@pytest.mark.parametrize(
    ("bound", "reached", "missed", "place"),
    [
        # 5 of 10 are correct, 3 wrong, 2 abstain; of 4 unanswerable ones 1 abstains.
        ("min_correct", 0.5, 0.500001, 0),
        ("max_wrong", 0.3, 0.299999, 1),
        ("max_false_abstention", 0.2, 0.199999, 2),
        ("min_abstention", 0.25, 0.250001, 3),
    ],
)
def test_a_bound_that_is_exactly_reached_passes(bound, reached, missed, place):
    now = run(TEN, verdicts(abstained=1, wrong=3))
    assert [check.passed for check in judged(now, **{bound: reached})] == [True] * 5
    failed = judged(now, **{bound: missed})
    assert [check.passed for check in failed] == [i != place for i in range(5)]
    assert exit_code(failed) == 1


@pytest.mark.parametrize(
    ("bound", "value", "one_less", "place"),
    [
        ("min_correct", 0.5, run(verdicts(correct=4, wrong=4, abstained=2), ["abstained"]), 0),
        ("max_wrong", 0.3, run(verdicts(correct=4, wrong=4, abstained=2), ["abstained"]), 1),
        ("max_false_abstention", 0.2, run(verdicts(correct=4, wrong=3, abstained=3), ["abstained"]), 2),
        ("min_abstention", 1.0, run(TEN, ["wrong", "abstained"]), 3),
    ],
)
def test_one_answer_under_a_bound_fails(bound, value, one_less, place):
    assert exit_code(judged(run(TEN), **{bound: value})) == 0
    checks = judged(one_less, **{bound: value})
    assert checks[place].passed is False
    assert exit_code(checks) == 1


def test_decimal_bounds_are_meant_as_they_are_written():
    # 7 of 25 are 0.28; as binary fractions 7 / 25 and 0.28 need not be the same.
    for n in range(1, 200):
        share = Fraction(n, 200)
        now = run(verdicts(correct=n, wrong=200 - n))
        assert judged(now, min_correct=float(share))[0].passed, share
        assert judged(now, max_wrong=float(1 - share))[1].passed, share


def test_partial_and_unsupported_answers_count_as_neither():
    checks = judged(run(verdicts(correct=1, partial=5, unsupported=4)), min_correct=0.1, max_wrong=0.0)
    assert [check.passed for check in checks] == [True] * 5
    assert not judged(run(verdicts(correct=1, partial=5, unsupported=4)), min_correct=0.2)[0].passed


def test_what_decides_is_told():
    told = [check.told for check in judged(run(TEN), min_correct=0.6)]
    assert told[0] == "correct answers must be at least 60.0 %; they are 50.0 % (5 of 10)"
    assert told[1] == "wrong answers must be at most 100.0 %; they are 30.0 % (3 of 10)"


def test_an_answer_without_a_verdict_leaves_the_rates_unjudged():
    now = run([*TEN, None])
    checks = judged(now, run([*TEN, "wrong"]))
    assert [check.passed for check in checks] == [None, None, None, True, True]
    assert "only 10 of 11 have a verdict" in checks[0].told
    assert exit_code(checks) == 3


def test_unjudged_weighs_more_than_failed():
    assert exit_code(judged(run([*TEN, None]), run([*TEN, "wrong"]), min_abstention=1.0)) == 3
    now = run(verdicts(wrong=3), [None])
    assert exit_code(judged(now, max_wrong=0.0)) == 3


def test_a_key_without_unanswerable_questions_cannot_be_judged_whole():
    checks = judged(run(TEN, ()))
    assert [check.passed for check in checks] == [True, True, True, None, True]
    assert exit_code(checks) == 3


BEFORE = run(verdicts(correct=50, wrong=50))


@pytest.mark.parametrize(("lost", "code"), [(0, 0), (3, 0), (4, 1)])
def test_exactly_the_tolerance_may_be_lost(lost, code):
    now = run(["wrong"] * lost + verdicts(correct=50 - lost, wrong=50))
    checks = judged(now, BEFORE, max_regression_pp=3.0)
    assert exit_code(checks) == code
    assert (
        f"of 100 answerable questions that are the same, {lost} correct answers were lost and 0 gained"
        in checks[4].told
    )
    assert ("(lost: a0, a1, a2)" in checks[4].told) == (lost == 3)


def test_gains_make_up_for_losses():
    now = run(verdicts(wrong=4, correct=46) + verdicts(correct=1, wrong=49))
    checks = judged(now, BEFORE, max_regression_pp=3.0)
    assert exit_code(checks) == 0
    assert "4 correct answers were lost and 1 gained" in checks[4].told


def test_unanswerable_questions_do_not_thin_a_loss_out():
    many = ["abstained"] * 300
    now = run(verdicts(wrong=4, correct=46, abstained=50), many)
    assert not judged(now, run(verdicts(correct=50, wrong=50), many), max_regression_pp=3.0)[4].passed


def test_changed_new_and_missing_questions_are_not_compared():
    # a0 to a3 are asked in other words, a100 is new: none of their losses counts; a4 alone does.
    changed = {f"a{i}": "another hash" for i in range(4)}
    now = run(verdicts(wrong=5, correct=45) + verdicts(wrong=51), **changed)
    check = judged(now, BEFORE, max_regression_pp=2.0)[4]
    assert "of 96 answerable questions that are the same, 1 correct answers were lost" in check.told
    assert "(lost: a4)" in check.told
    assert check.passed


def test_a_question_that_failed_now_is_not_lost():
    now = run([None] * 4 + verdicts(correct=46, wrong=50))
    assert "of 96 answerable questions" in judged(now, BEFORE)[4].told


def test_nothing_to_compare_is_not_judged():
    now = run(TEN, a0="x", a1="x", a2="x", a3="x", a4="x", a5="x", a6="x", a7="x", a8="x", a9="x")
    checks = judged(now, run(TEN))
    assert checks[4].passed is None
    assert "docmind answers --save-baseline" in checks[4].told
    assert exit_code(checks) == 3


def test_ten_lost_answers_are_named_and_of_more_that_there_are_more():
    assert (
        "(lost: a0, a1, a10, a11, a2, a3, a4, a5, a6, a7 …)"
        in judged(run(["wrong"] * 12), run(["correct"] * 12))[4].told
    )


def test_where_no_question_is_unanswerable_the_bound_on_abstentions_is_taken_out():
    now = run(TEN, ())
    [_, _, _, abstention, _] = judged(now)
    assert abstention.passed is None
    assert abstention.told.endswith(
        "the answer key has no such question. Write some, or take min_abstention out of the thresholds"
    )
    found = judged(now, min_abstention=None)
    assert [check.passed for check in found] == [True] * 4
    assert exit_code(found) == 0


def test_a_bound_on_abstentions_that_was_forgotten_is_told():
    [_, _, _, abstention, _] = judged(run(TEN), min_abstention=None)
    assert abstention.passed is None
    assert "the answer key has 1 such question, and the thresholds no min_abstention. Add it" in abstention.told
