"""Rules on single metrics: exactly the limit passes, any more fails, and what the run does not have is never passed."""

from fractions import Fraction

import pytest
from handmade import GOLD_RULE, reference, results

from docmind.evaluation.gate.check import FAILED, INCOMPLETE, PASSED
from docmind.evaluation.gate.thresholds import Minimum, Regression, Thresholds
from docmind.evaluation.gate.verdict import failing, falls, judge
from docmind.evaluation.scoring import stats

TYPES = {"direct": [f"q{i:02}" for i in range(20)], "vague": [f"q{i:02}" for i in range(20, 40)]}


def ranked(**changed):
    """40 questions first at rank 1, but for these."""
    return {f"q{i:02}": 1 for i in range(40)} | changed


def held(*rules, **more):
    fields = {"production": "s", "min_hit_at_3": 0.0, "max_regression_pp": 100.0, **more}
    return Thresholds(
        **fields,
        min=tuple(rule for rule in rules if isinstance(rule, Minimum)),
        max_regression=tuple(rule for rule in rules if isinstance(rule, Regression)),
    )


def judged(after, *rules, before=None, old=None, new=None, **more):
    was = reference({"s": ranked() if before is None else before}, **{"types": TYPES, **(old or {})})
    return judge(results({"s": after}, **{"types": TYPES, **(new or {})}), was, held(*rules, **more))


def checks(found):
    return [check for check in found.checks if check.name in ("min", "max_regression")]


def at_most(metric, points, **part):
    return Regression(metric=metric, points=float(points), **part)


@pytest.fixture
def counts_alone(monkeypatch):
    """Without the figures that no rule looks at, which take most of the time."""
    monkeypatch.setattr(stats, "smallest_drop", lambda *_: None)
    monkeypatch.setattr("docmind.evaluation.gate.verdict.overview", lambda *_: ())


# The limits


@pytest.mark.usefixtures("counts_alone")
@pytest.mark.parametrize("n", [20, 25, 34, 40, 50, 60, 100])
def test_a_loss_of_exactly_the_limit_passes_at_any_number_of_questions_and_one_more_fails(n):
    before = {f"q{i}": 1 for i in range(n)}
    for points in range(1, 100):
        if points * n % 100:
            continue
        allowed = points * n // 100
        for lost, code in ((allowed, PASSED), (allowed + 1, FAILED)):
            if lost <= n:
                after = {f"q{i}": 2 if i < lost else 1 for i in range(n)}
                found = judge(results({"s": after}), reference({"s": before}), held(at_most("hit@1", points)))
                assert found.exit_code == code, (points, lost)


def test_reciprocal_ranks_are_exact_too():
    """Three of 40 fall from 1 to 3: 3 × 2/3 / 40 = 5 points, which thirds in floats would not be."""
    after = ranked(q00=3, q01=3, q02=3)
    assert judged(after, at_most("mrr@5", 5)).exit_code == PASSED
    assert judged(after, at_most("mrr@5", 4.99)).exit_code == FAILED
    [check] = checks(judged(after | {"q03": 3}, at_most("mrr@5", 5)))
    assert check.told == (
        "mrr@5 of s may lose 5.0 points; it went 100.0 % → 93.333 % over 40 questions; lower: q00, q01, q02, q03"
    )


def test_a_floor_exactly_reached_passes():
    after = ranked(**{f"q{i:02}": 2 for i in range(12)})
    assert judged(after, Minimum(metric="hit@1", at_least=0.7)).exit_code == PASSED
    found = judged(after | {"q12": 2}, Minimum(metric="hit@1", at_least=0.7))
    assert found.exit_code == FAILED
    assert checks(found)[0].told == "hit@1 of s must be at least 70.0 %; it is 67.5 % over 40 questions"


def test_a_floor_is_of_all_questions_of_the_run_and_a_loss_of_those_that_can_be_compared():
    after = ranked() | {f"new{i}": 9 for i in range(10)}
    found = judged(after, Minimum(metric="hit@3", at_least=0.8), at_most("hit@3", 0))
    assert [check.passed for check in checks(found)] == [True, True]  # 40 of 50; 40 → 40 of 40
    assert "80.0 % over 50 questions" in checks(found)[0].told
    assert "over 40 questions" in checks(found)[1].told


def test_where_the_loss_of_one_question_fails_that_is_said():
    [check] = checks(judged(ranked(q00=2), at_most("hit@1", 2)))
    assert check.told.endswith(
        "; lower: q00. One of 40 questions is worth 2.5 points, so that the loss of any one fails: ask more, or allow the "
        "points of one"
    )


def test_alpha_is_not_asked():
    """One of 40 lost has p = 1/2."""
    assert judged(ranked(q00=2), at_most("hit@1", 2), alpha=0.01).exit_code == FAILED


# Which questions


def test_a_rule_of_a_type_or_of_each_is_judged_on_its_questions_alone():
    """Two of twenty vague ones are lost: 10 points of these, 5 of all."""
    after = ranked(q20=None, q21=None)
    assert judged(after, at_most("hit@3", 9)).exit_code == PASSED
    assert judged(after, at_most("hit@3", 9, type="direct")).exit_code == PASSED
    assert judged(after, at_most("hit@3", 9, type="vague")).exit_code == FAILED
    found = judged(after, at_most("hit@3", 9, type="each"), Minimum(metric="hit@3", at_least=0.95, type="each"))
    assert [(check.name, check.of, check.passed) for check in checks(found)] == [
        ("min", "hit@3, type direct", True), ("min", "hit@3, type vague", False),
        ("max_regression", "hit@3, type direct", True), ("max_regression", "hit@3, type vague", False),
    ]  # fmt: skip
    assert checks(found)[3].title == "max_regression: s: hit@3, type vague", (
        "no figure, so that dashboards know it again"
    )
    assert failing(found) == {"s": {"q20", "q21"}}


def test_a_rule_of_a_split_is_judged_on_its_questions():
    new = results({"s": ranked(q20=None)}, types=TYPES).model_copy(update={"splits": {"dev": ("q20", "q21")}})
    old = reference({"s": ranked()}, types=TYPES)
    [check] = checks(judge(new, old, held(at_most("hit@3", 49, split="dev"))))
    assert (check.passed, check.of) == (False, "hit@3, split dev")
    [check] = checks(judge(new, old, held(at_most("hit@3", 50, split="dev", type="vague"))))
    assert (check.passed, check.of) == (True, "hit@3, type vague, split dev")


def test_another_strategy_than_production_may_be_named_gated_or_not():
    old = reference({"s": ranked(), "t": ranked()})
    new = results({"s": ranked(), "t": ranked(q00=2)})
    assert judge(new, old, held(at_most("hit@1", 0)), gated=["s"]).exit_code == PASSED
    found = judge(new, old, held(at_most("hit@1", 0, strategy="t")), gated=["s"])
    assert (found.exit_code, failing(found)) == (FAILED, {"t": {"q00"}})
    assert {name: fall.new for name, fall in falls(found, "t").items()} == {"q00": (2,)}
    assert falls(found, "s") == {}


def test_a_type_that_is_new_lost_nothing_and_one_whose_questions_all_changed_is_not_judged():
    after = ranked() | {"new1": 9, "new2": 9}
    types = TYPES | {"fresh": ["new1", "new2"]}
    found = judged(after, at_most("hit@3", 9, type="each"), new={"types": types})
    assert [check.of for check in checks(found)] == ["hit@3, type direct", "hit@3, type vague"]
    changed = {"types": TYPES, "asked": dict.fromkeys(TYPES["vague"], "another")}
    found = judged(ranked(), at_most("hit@3", 9, type="each"), new=changed, min_compared=0.5)
    assert [check.passed for check in checks(found)] == [True, None]
    assert "none of these questions is as it was in the baseline" in checks(found)[1].told


# What the run does not have


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ({"strategy": "u"}, "there is no such strategy in the run. There are: s."),
        (
            {"type": "vauge"},
            "there is no answerable question of that type. Did you mean 'vague'? There are: direct, vague.",
        ),
        ({"split": "dev"}, "there is no answerable question of that split. There are: none."),
    ],
)
@pytest.mark.parametrize("rule", [Minimum(metric="hit@1", at_least=0.0), at_most("hit@1", 100)], ids=["min", "max"])
def test_what_the_run_does_not_have_is_not_judged_and_ends_with_3(rule, part, told):
    found = judged(ranked(), rule.model_copy(update=part))
    [check] = checks(found)
    assert (check.passed, found.exit_code) == (None, INCOMPLETE)
    assert check.told.endswith(told)


def test_a_type_of_unanswerable_questions_has_no_figure():
    types = TYPES | {"none": ["u1"]}
    found = judged(ranked(u1=()), at_most("hit@1", 100, type="none"), new={"types": types}, before=ranked(u1=()))
    assert found.exit_code == INCOMPLETE
    assert len(checks(judged(ranked(u1=()), at_most("hit@1", 9, type="each"), new={"types": types}))) == 2


def test_an_error_a_missing_baseline_and_another_gold_rule_leave_rules_unjudged():
    rule = at_most("hit@1", 100)
    [check] = checks(judged(ranked(q00="boom"), rule))
    assert (check.passed, check.told.endswith("; the run has no such figure")) == (None, True)
    new = results({"s": ranked(), "t": ranked()})
    [check] = checks(judge(new, reference({"s": ranked()}), held(at_most("hit@1", 100, strategy="t"))))
    assert (check.passed, "the baseline has no such figure" in check.told) == (None, True)
    [check] = checks(judged(ranked(), rule, new={"gold_rule": GOLD_RULE | {"covered": 0.5}}))
    assert (check.passed, "cannot be compared with the baseline" in check.told) == (None, True)


def test_a_metric_that_neither_side_can_tell_is_not_judged():
    found = judged(ranked(), at_most("hit@50", 3), Minimum(metric="span_iou@5", at_least=0.1))
    assert [check.passed for check in checks(found)] == [None, None]
    assert "hit@50 needs 50 hits, and the baseline has 10" in checks(found)[1].told
    assert "looks at what passages show" in checks(found)[0].told


# How much is compared


@pytest.mark.parametrize(
    ("changed", "least", "code"), [(8, 0.8, PASSED), (9, 0.8, INCOMPLETE), (9, 0.77, PASSED), (39, 0.0, PASSED)]
)
def test_with_too_few_of_the_baselines_questions_there_is_no_verdict(changed, least, code):
    """32 of 40 are 0.8 exactly."""
    asked = {f"q{i:02}": "another" for i in range(changed)}
    found = judged(ranked(), new={"asked": asked}, min_compared=least)
    assert found.exit_code == code
    if code:
        assert found.incomplete == (
            "31 of the baseline's 40 answerable questions are as they were (77.5 %), and min_compared asks for 80.0 %. If the "
            "answer key was meant to change so far, make a new baseline: docmind eval --save-baseline",
        )


def test_questions_that_were_added_or_have_no_gold_count_for_nothing_there():
    added = {f"new{i}": 1 for i in range(100)} | {f"u{i}": () for i in range(100)}
    assert judged(ranked() | added).exit_code == PASSED
    without_gold = ranked() | {f"u{i}": () for i in range(100)}
    assert judged(ranked(), before=without_gold).exit_code == PASSED, "unanswerable ones were taken out"


def test_339_of_340_questions_reworded_is_no_verdict():
    before = {f"q{i}": 1 for i in range(340)}
    asked = {f"q{i}": "reworded" for i in range(1, 340)}
    found = judge(results({"s": before}, asked=asked), reference({"s": before}), held())
    assert found.exit_code == INCOMPLETE
    assert "1 of the baseline's 340 answerable questions are as they were (0.294 %)" in found.incomplete[0]


def test_the_movements_are_the_production_strategys_and_none_where_it_cannot_be_compared():
    found = judged(ranked(q00=2))
    assert {one.strategy for one in found.movements} == {"s"}
    assert (found.movements[0].metric, found.movements[0].drop) == ("hit@1", Fraction(1, 40))
    assert judged(ranked(q00="boom")).movements == ()
    assert judged(ranked(), new={"gold_rule": GOLD_RULE | {"covered": 0.5}}).movements == ()
