"""The gate counts: exactly the tolerance passes at any number of questions, and the code is what the words say."""

from decimal import Decimal
from fractions import Fraction

import pytest
from handmade import GOLD_RULE, hits, questions, reference, results

from docmind.errors import UsageError
from docmind.evaluation.gate.check import FAILED, INCOMPLETE, PASSED, percent
from docmind.evaluation.gate.thresholds import Thresholds
from docmind.evaluation.gate.verdict import check_must_pass, failing, judge, probability
from docmind.evaluation.scoring import stats

SIZES = (20, 25, 34, 40, 50, 60, 100)
"""At which 26 pairs of counts differ by exactly a tolerance, but by more in binary fractions."""


def thresholds(**changed):
    return Thresholds(**{"production": "s", "min_hit_at_3": 0.0, "max_regression_pp": 100.0, **changed})


def verdict(after, before=None, **changed):
    """Of one strategy, s, with these ranks after and before."""
    before = {k: None if isinstance(v, str) else v for k, v in after.items()} if before is None else before
    return judge(results({"s": after}), reference({"s": before}), thresholds(**changed))


def check(found, name):
    [only] = [c for c in found.checks if c.name == name]
    return only


@pytest.fixture
def counts_alone(monkeypatch):
    """Without the figures that no rule looks at, which take most of the time."""
    monkeypatch.setattr(stats, "smallest_drop", lambda *_: None)
    monkeypatch.setattr(stats, "interval", lambda *_: (0.0, 0.0))
    monkeypatch.setattr("docmind.evaluation.gate.verdict.overview", lambda *_: ())


# The floor


@pytest.mark.usefixtures("counts_alone")
@pytest.mark.parametrize("n", SIZES)
def test_a_floor_exactly_reached_passes_and_a_question_less_fails(n):
    for percents in range(1, 101):
        if percents * n % 100 == 0:
            floor, reached = float(Decimal(percents) / 100), percents * n // 100
            assert verdict(hits(reached, of=n), min_hit_at_3=floor).exit_code == PASSED
            assert verdict(hits(reached - 1, of=n), min_hit_at_3=floor).exit_code == FAILED


def test_the_floor_is_told_with_counts_and_digits_that_explain_it():
    """0.7985 is no 0.80: 1,597 of 2,000."""
    told = check(verdict(hits(1597, of=2000), min_hit_at_3=0.80), "floor").told
    assert told == "Hit@3 of s must be at least 80.0 %; it is 79.85 % (1597 of 2000)"


def test_the_floor_is_of_the_production_strategy_alone_and_of_all_its_answerable_questions():
    old = reference({"s": {"q1": 1, "q2": 1}, "t": {"q1": 1, "q2": 1}})
    new = results({"s": {"q1": 1, "q2": None, "q3": 3, "u1": ()}, "t": {"q1": None, "q2": None, "q3": None, "u1": ()}})
    found = judge(new, old, thresholds(min_hit_at_3=0.5))
    assert found.exit_code == PASSED
    assert "66.667 % (2 of 3)" in check(found, "floor").told


# The regression


@pytest.mark.usefixtures("counts_alone")
@pytest.mark.parametrize("n", SIZES)
def test_a_loss_of_exactly_the_tolerance_passes_and_a_question_more_fails(n):
    """Every whole number of points that is a whole number of questions, from several counts of hits before."""
    tolerances = [points for points in range(1, 100) if points * n % 100 == 0]
    for before in (n, n - 1, n // 2 + 1, n * 2 // 5):
        old = reference({"s": hits(before, of=n)})
        lost_one_by_one = [results({"s": hits(before, lost=lost, of=n)}) for lost in range(before + 1)]
        for points in tolerances:
            allowed, held = points * n // 100, thresholds(max_regression_pp=float(points))
            if allowed < before:
                kept, fallen = (judge(lost_one_by_one[lost], old, held) for lost in (allowed, allowed + 1))
                assert (kept.exit_code, fallen.exit_code) == (PASSED, FAILED), (points, before)


def test_the_pair_that_binary_fractions_get_wrong_passes():
    """8 of 20 falls to 7 of 20 at 5 points: 0.35 < 0.4 - 0.05 in floats."""
    assert 7 / 20 < 8 / 20 - 0.05
    assert verdict(hits(8, lost=1, of=20), hits(8, of=20), max_regression_pp=5.0).exit_code == PASSED


def test_exactly_three_points_pass():
    kept, fallen = (verdict(hits(80, lost=lost), hits(80), max_regression_pp=3.0) for lost in (3, 4))
    assert (kept.exit_code, fallen.exit_code) == (PASSED, FAILED)
    assert check(fallen, "regression").told == (
        "s lost 4 questions and gained 0: Hit@3 80.0 % → 76.0 % (80 → 76 of 100); 3.0 points may be lost"
    )
    assert check(verdict(hits(80, lost=1), hits(80)), "regression").told.startswith("s lost 1 question and gained 0:")


@pytest.mark.parametrize(
    ("n", "lost", "told"),
    [
        (33, 1, ". One of 33 questions is worth 3.030 points, so that the loss of any one fails: ask more, or allow"),
        (34, 1, ""),
        (33, 2, ""),
    ],
)
def test_where_the_loss_of_one_question_fails_that_is_said(n, lost, told):
    found = verdict(hits(20, lost=lost, of=n), hits(20, of=n), max_regression_pp=3.0)
    assert (found.exit_code == FAILED) is (lost > 0.03 * n)
    assert check(found, "regression").told.partition("3.0 points may be lost")[2].startswith(told)
    assert bool(told) or check(found, "regression").told.endswith("3.0 points may be lost")


def test_gains_make_up_for_losses():
    assert verdict(hits(50, lost=10, gained=7), hits(50), max_regression_pp=3.0).exit_code == PASSED
    assert verdict(hits(50, lost=10, gained=6), hits(50), max_regression_pp=3.0).exit_code == FAILED


def test_any_strategy_may_fail_for_its_regression():
    old = reference({"s": hits(50), "t": hits(50)})
    found = judge(results({"s": hits(50), "t": hits(50, lost=4)}), old, thresholds(max_regression_pp=3.0))
    assert found.exit_code == FAILED
    passed = [(c.strategy, c.passed) for c in found.checks if c.name == "regression"]
    assert passed == [("s", True), ("t", False)]


def test_it_is_over_the_questions_that_can_be_compared():
    """3 of 100 are lost, and ten more that were added are missed: no regression."""
    after = hits(80, lost=3) | {f"new{i}": None for i in range(10)}
    assert verdict(after, hits(80), max_regression_pp=3.0).exit_code == PASSED


@pytest.mark.parametrize(
    ("lost", "gained", "p", "code"),
    [
        (4, 0, "0.062", PASSED),  # 4 points, 1/16
        (5, 0, "0.031", FAILED),  # 5 points, 1/32
        (11, 7, "0.240", PASSED),  # 4 points, but churn: 63,004 of 2^18 ways
        (3, 0, "0.125", PASSED),  # within the tolerance anyhow
        (11, 2, "0.011", FAILED),
    ],
)
def test_with_alpha_a_loss_over_the_tolerance_must_be_significant_too(lost, gained, p, code):
    changed = {"max_regression_pp": 3.0, "alpha": 0.05}
    found = verdict(hits(60, lost=lost, gained=gained), hits(60), **changed)
    assert found.exit_code == code
    assert f"may be lost if it is significant at 0.05; p = {p} after Holm" in check(found, "regression").told
    over = lost - gained > 3
    without = verdict(hits(60, lost=lost, gained=gained), hits(60), max_regression_pp=3.0)
    assert without.exit_code == (FAILED if over else PASSED)


def test_a_significant_loss_within_the_tolerance_passes():
    found = verdict(hits(600, lost=30, of=1000), hits(600, of=1000), max_regression_pp=3.0, alpha=0.05)
    assert found.comparison.changes[0].adjusted < 1e-6
    assert found.exit_code == PASSED


def test_p_of_exactly_alpha_is_significant():
    kept, fallen = (verdict(hits(60, lost=5), hits(60), max_regression_pp=3.0, alpha=a) for a in (0.03124, 0.03125))
    assert (kept.exit_code, fallen.exit_code) == (PASSED, FAILED)


def test_alpha_is_held_against_p_after_holm():
    """5 to 0 is 1/32 alone, and 2/32 as one of two."""
    old = reference({"s": hits(60), "t": hits(60)})
    found = judge(results({"s": hits(60, lost=5), "t": hits(60)}), old, thresholds(max_regression_pp=3.0, alpha=0.05))
    assert found.exit_code == PASSED
    assert "p = 0.062 after Holm" in found.checks[1].told


# must_pass


@pytest.mark.parametrize(
    ("rank", "passed", "told"),
    [
        (3, True, "q1 must be won at 3 by s; it is at rank 3"),
        (4, False, "q1 must be won at 3 by s; it is at rank 4"),
        (None, False, "q1 must be won at 3 by s; it is not among the 10 passages found"),
        ([9, 2], True, "q1 must be won at 3 by s; it is at rank 2"),
        ("KeyError: x", None, "q1 must be won at 3 by s; it ended in an error"),
    ],
)
def test_a_question_that_must_pass(rank, passed, told):
    found = verdict({"q1": rank, "q2": 1}, must_pass=("q1",))
    assert (check(found, "must_pass").passed, check(found, "must_pass").told) == (passed, told)
    assert found.exit_code == {True: PASSED, False: FAILED, None: INCOMPLETE}[passed]


def test_an_unknown_question_cannot_be_judged_and_the_nearest_is_named():
    found = verdict({"q001": 1}, must_pass=("q01",))
    assert check(found, "must_pass").told == "q01 was not asked of s. Did you mean 'q001'?"
    assert found.exit_code == INCOMPLETE


def test_an_unanswerable_question_in_must_pass_is_refused():
    asked = questions({"q1": 1, "u1": ()})
    check_must_pass(thresholds(must_pass=("q1",)), asked)
    with pytest.raises(UsageError, match=r"must_pass: 'u1' has no gold, so it cannot be won. Take it out") as raised:
        check_must_pass(thresholds(must_pass=("q1", "u1")), asked)
    assert raised.value.exit_code == 2


def test_only_the_production_strategy_must_win_it():
    old = reference({"s": {"q1": 1}, "t": {"q1": 1}})
    found = judge(results({"s": {"q1": 1}, "t": {"q1": None}}), old, thresholds(must_pass=("q1",)))
    assert found.exit_code == PASSED


# What cannot be judged


def test_a_production_strategy_that_was_not_run_cannot_be_judged():
    found = judge(results({"t": {"q1": 1}}), reference({"t": {"q1": 1}}), thresholds(must_pass=("q1",)))
    assert found.exit_code == INCOMPLETE
    assert check(found, "floor").told.endswith("; the run has no such figure")
    assert check(found, "must_pass").told == "q1 was not asked of s."


def test_a_strategy_of_the_baseline_that_was_not_run_is_named():
    found = judge(results({"s": {"q1": 1}}), reference({"s": {"q1": 1}, "t": {"q1": 1}}), thresholds())
    assert found.incomplete == ("strategies of the baseline were not run: t",)
    assert found.exit_code == INCOMPLETE


def test_a_strategy_without_a_baseline_is_no_fault():
    found = judge(results({"s": {"q1": 1}, "t": {"q1": None}}), reference({"s": {"q1": 1}}), thresholds())
    assert found.exit_code == PASSED
    assert found.comparison.added == ("t",)


def test_an_error_in_any_strategy_leaves_the_run_incomplete_with_its_questions_named():
    failed = {f"q{i}": "boom" for i in range(7)}
    old = reference({"s": dict.fromkeys(failed, 1), "t": dict.fromkeys(failed, 1)})
    found = judge(results({"s": dict.fromkeys(failed, 1), "t": failed}), old, thresholds())
    assert found.exit_code == INCOMPLETE
    assert found.incomplete == ("t has no metrics: 7 questions ended in an error (q0, q1, q2, q3, q4 and 2 more)",)
    assert [c.strategy for c in found.checks if c.name == "regression"] == ["s"]
    one = judge(results({"s": {"q1": "boom"}}), reference({"s": {"q1": 1}}), thresholds())
    assert one.incomplete == ("s has no metrics: 1 question ended in an error (q1)",)
    assert check(one, "floor").passed is None


def test_what_cannot_be_compared_says_how_to_make_a_new_baseline():
    new = results({"s": {"q1": 1}}, gold_rule=GOLD_RULE | {"covered": 0.5})
    found = judge(new, reference({"s": {"q1": 1}}), thresholds())
    assert found.exit_code == INCOMPLETE
    assert found.incomplete == (
        "not comparable with the baseline: the gold rule is another: covered: 0.8 → 0.5. "
        "Make a new baseline: docmind eval --save-baseline",
    )
    nothing_left = judge(results({"s": {"q9": 1}}), reference({"s": {"q1": 1}}), thresholds())
    assert nothing_left.exit_code == INCOMPLETE
    assert "no answerable question is the same in both" in nothing_left.incomplete[0]


# The verdict


@pytest.mark.parametrize(
    ("after", "changed", "code", "words"),
    [
        ({"q1": 1, "q2": 1}, {}, PASSED, "passed"),
        ({"q1": 1, "q2": None}, {"min_hit_at_3": 0.6}, FAILED, "failed"),
        ({"q1": 1, "q2": "boom"}, {}, INCOMPLETE, "not comparable or incomplete"),
        ({"q1": 9, "q2": 1}, {"must_pass": ("q1", "q7")}, INCOMPLETE, "not comparable or incomplete"),
        (
            {"q1": 1, "q2": None},
            {"max_regression_pp": 10.0, "must_pass": ("q2",), "min_hit_at_3": 1.0},
            FAILED,
            "failed",
        ),
    ],
)
def test_the_words_are_those_of_the_code_and_3_comes_before_1(after, changed, code, words):
    found = verdict(after, dict.fromkeys(after, 1), **changed)
    assert (found.exit_code, found.headline) == (code, words)


def test_each_rule_is_judged_whatever_the_others_say():
    found = verdict(hits(50, lost=10), hits(50), min_hit_at_3=0.5, max_regression_pp=3.0, must_pass=("q0000", "q0049"))
    told = [(c.name, c.passed, c.question) for c in found.checks]
    assert told == [
        ("floor", False, None), ("regression", False, None), ("must_pass", False, "q0000"), ("must_pass", True, "q0049"),
    ]  # fmt: skip


def test_the_order_of_strategies_and_questions_changes_no_verdict():
    old = {"s": hits(50), "t": hits(60)}
    new = {"s": hits(50, 4, 2), "t": hits(60, 3, 1)}

    def turned(strategies):
        return {name: dict(reversed(found.items())) for name, found in reversed(strategies.items())}

    held = thresholds(min_hit_at_3=0.48, max_regression_pp=2.0, alpha=0.4)
    one, other = judge(results(new), reference(old), held), judge(results(turned(new)), reference(turned(old)), held)
    assert one.exit_code == other.exit_code == PASSED
    assert {c.told for c in one.checks} == {c.told for c in other.checks}


def test_the_questions_that_a_failure_is_about():
    """s breaks the floor and loses q1; t loses too many; q3 must pass, was never won, and is not; u fails nothing."""
    before = {"q1": 1, "q2": 1, "q3": None}
    old = reference({"s": before, "t": before, "u": before})
    new = results({"s": {**before, "q1": 9}, "t": {**before, "q1": 9, "q2": 9}, "u": {**before, "q2": 9}})
    found = judge(new, old, thresholds(min_hit_at_3=0.5, max_regression_pp=40.0, must_pass=("q2", "q3")))
    assert failing(found) == {"s": {"q1", "q3"}, "t": {"q1", "q2"}}
    assert failing(judge(results({"s": before}), reference({"s": before}), thresholds())) == {}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(83, 100), "83.0"),
        (Fraction(825, 1000), "82.5"),
        (Fraction(7985, 10000), "79.85"),
        (Fraction(1, 3), "33.333"),
        (Fraction(2, 3), "66.667"),
        (Fraction(0), "0.0"),
        (Fraction(1), "100.0"),
        (Fraction(79995, 100000), "79.995"),
    ],
)
def test_percents_have_the_digits_that_tell_a_value_from_its_rounding(value, shown):
    assert percent(value) == shown


def test_probabilities():
    assert [probability(p) for p in (1.0, 0.0123, 0.001, 0.0009)] == ["1.000", "0.012", "0.001", "<0.001"]


def test_a_baseline_without_metrics_is_no_reason_to_pass():
    found, kept = results({"s": {"q1": 1}}), reference({"s": {"q1": 1}})
    kept.strategies["s"] = kept.strategies["s"].model_copy(update={"metrics": None})
    verdict = judge(found, kept, Thresholds(production="s", min_hit_at_3=0.0, max_regression_pp=3.0))
    assert verdict.exit_code == 3
    assert any("the baseline has no metrics of s" in reason for reason in verdict.incomplete)


# Strategies for information


def test_only_a_gated_strategy_may_fail_for_its_regression():
    old = reference({"s": hits(50), "t": hits(50)})
    new = results({"s": hits(50), "t": hits(50, lost=4)})
    found = judge(new, old, thresholds(max_regression_pp=3.0), gated=["s"])
    assert found.exit_code == PASSED
    assert [c.strategy for c in found.checks if c.name == "regression"] == ["s"]
    assert [(c.strategy, found.judges(c.strategy)) for c in found.comparison.changes] == [("s", True), ("t", False)]
    assert judge(new, old, thresholds(max_regression_pp=3.0), gated=["s", "t"]).exit_code == FAILED
    assert judge(new, old, thresholds(max_regression_pp=3.0)).exit_code == FAILED


def test_what_is_shown_for_information_makes_no_gated_strategy_easier_to_pass():
    """5 to 0 is 1/32 as the only one judged: significant, which it would not be as one of two."""
    old = reference({"s": hits(60), "t": hits(60)})
    new = results({"s": hits(60, lost=5), "t": hits(60)})
    held = thresholds(max_regression_pp=3.0, alpha=0.05)
    assert judge(new, old, held).exit_code == PASSED
    assert judge(new, old, held, gated=["s"]).exit_code == FAILED


@pytest.mark.parametrize(("gated", "code"), [(["s"], PASSED), (["s", "t"], INCOMPLETE), (None, INCOMPLETE)])
def test_a_missing_strategy_leaves_the_run_incomplete_where_it_is_gated(gated, code):
    found = judge(results({"s": {"q1": 1}}), reference({"s": {"q1": 1}, "t": {"q1": 1}}), thresholds(), gated)
    assert found.exit_code == code
    whose = "of the baseline" if gated != ["s", "t"] else "that the gate judges"
    told = f"strategies {whose} were not run: t"
    assert told in (found.incomplete if code else found.information)


def test_a_gated_strategy_that_is_nowhere_leaves_the_run_incomplete():
    found = judge(results({"s": {"q1": 1}}), reference({"s": {"q1": 1}}), thresholds(), gated=["x", "s", "t"])
    assert found.incomplete == ("strategies that the gate judges were not run: t, x",)


def test_an_error_of_a_strategy_for_information_is_told_and_leaves_the_run_complete():
    old = reference({"s": {"q1": 1}, "t": {"q1": 1}})
    new = results({"s": {"q1": 1}, "t": {"q1": "boom"}})
    found = judge(new, old, thresholds(), gated=["s"])
    assert (found.exit_code, found.incomplete) == (PASSED, ())
    assert found.information == ("t has no metrics: 1 question ended in an error (q1)",)
    assert judge(new, old, thresholds(), gated=["t"]).exit_code == INCOMPLETE


def test_the_floor_is_held_whether_or_not_production_is_gated():
    found = judge(results({"s": {"q1": 9}}), reference({"s": {"q1": 1}}), thresholds(min_hit_at_3=1.0), gated=[])
    assert [(c.name, c.passed) for c in found.checks] == [("floor", False)]
