"""A metric is made anew from ranks on both sides, exactly, and from nothing else; what is not known is said so."""

from fractions import Fraction

import pytest
from handmade import reference, results

from docmind.evaluation.gate.movement import Fall, Movement, Part, mean, movement, overview, value
from docmind.evaluation.record.types import HitResult
from docmind.evaluation.scoring import stats
from docmind.evaluation.scoring.measures import measure
from docmind.evaluation.scoring.metrics import METRICS

BEFORE = {"q1": 1, "q2": 3, "q3": (1, 4), "q4": None, "u1": ()}
AFTER = {"q1": 2, "q2": 1, "q3": (1, None), "q4": 5, "u1": ()}


WHOLE = Part()


def moved(metric, after=AFTER, before=BEFORE, part=WHOLE, *, same=None, old=None, new=None):
    was, found = reference({"s": before}, **(old or {})), results({"s": after}, **(new or {}))
    asked = [name for name in after if name in before] if same is None else same
    return movement(was, found, "s", measure(metric), part, asked)


def measured(record, **metrics):
    """`record` with these means of its strategy s."""
    names = (*record.instrument.metrics.names, *(name for name in metrics if name not in ("hit@3",)))
    rule = record.instrument.metrics.model_copy(update={"names": names})
    instrument = record.instrument.model_copy(update={"metrics": rule})
    strategy = record.strategies["s"].model_copy(update={"metrics": {"hit@3": 0.5, **metrics}})
    fingerprint = record.fingerprint.model_copy(update={"instrument": instrument})
    return record.model_copy(update={"strategies": {"s": strategy}, "fingerprint": fingerprint})


@pytest.mark.parametrize(
    ("metric", "before", "after"),
    [
        ("hit@1", Fraction(2, 4), Fraction(2, 4)),
        ("hit@3", Fraction(3, 4), Fraction(3, 4)),
        ("mrr@5", (1 + Fraction(1, 3) + 1) / 4, (Fraction(1, 2) + 1 + 1 + Fraction(1, 5)) / 4),
        ("recall@5", Fraction(3, 4), (1 + 1 + Fraction(1, 2) + 1) / 4),
        ("full@3", Fraction(2, 4), Fraction(2, 4)),
        ("full@5", Fraction(3, 4), Fraction(3, 4)),
    ],
)
def test_means_are_exact_fractions_of_the_four_answerable_questions(metric, before, after):
    found = moved(metric)
    assert (found.n, found.before, found.after, found.drop) == (4, before, after, before - after)


def test_the_questions_that_fell_are_known_with_their_ranks_and_what_stands_there_now():
    """q3 has its second piece no longer; what stood at 4 is another passage. q1 fell from 1 to 2."""
    assert moved("full@5").falls == (
        Fall("q3", (1, 4), (1, None), HitResult(chunk="q3 at 4", source="page.md", spans=((40, 50),), score=0.25)),
    )
    assert [fall.question_id for fall in moved("hit@1").falls] == ["q1"]
    assert [fall.question_id for fall in moved("mrr@5").falls] == ["q1"]


def test_every_metric_of_ranks_is_what_the_catalogue_makes_of_them():
    """No second formula: of one piece at rank r, and of a piece that is missing."""
    for family, entry in METRICS.items():
        if entry.sees != "passages":
            one = measure(family.replace("@k", "@5"))
            assert value(one, (1,)) == 1
            assert value(one, (6, None)) == 0
    assert value(measure("mrr@1000"), (997,)) == Fraction(1, 997)
    assert value(measure("recall@5"), (1, 2, None)) == Fraction(2, 3)
    assert float(value(measure("ndcg@10"), (2,))) == pytest.approx(0.6309297535714575, abs=1e-15)  # 1 / log2 3


def test_only_the_questions_that_are_the_same_are_compared():
    assert moved("hit@1", same=["q1", "q3", "u1"]).n == 2


def test_a_part_is_of_the_new_runs_types_and_splits():
    groups = {"new": {"types": {"direct": ["q1", "u1"], "vague": ["q2", "q3"]}}}
    assert moved("mrr@5", part=Part("direct"), **groups).before == 1
    assert moved("mrr@5", part=Part("vague"), **groups).n == 2
    new = results({"s": AFTER}, types={"vague": ["q2", "q3"]}).model_copy(update={"splits": {"dev": ("q1", "q2")}})
    found = movement(reference({"s": BEFORE}), new, "s", measure("mrr@5"), Part("vague", "dev"), list(AFTER))
    assert (found.n, found.before, found.after) == (1, Fraction(1, 3), 1)
    assert str(Part("vague", "dev")) == ", type vague, split dev"
    assert str(Part()) == ""


# What is not known


def test_a_run_that_looked_less_deep_is_told_with_its_depth():
    assert moved("hit@10").n == 4
    assert moved("hit@11").startswith("hit@11 needs 11 hits, and the baseline has 10 a question of s")


def test_a_list_that_ends_early_is_known_by_the_standard_metrics_that_have_no_figure():
    """It ended at 5: hit@10 has none. hit@7 was never measured, and would be taken for a miss at 6 and 7."""
    old, new = (
        measured(side, **{"hit@5": 0.5, "hit@10": None}) for side in (reference({"s": BEFORE}), results({"s": AFTER}))
    )
    assert movement(old, new, "s", measure("mrr@5"), Part(), list(AFTER)).n == 4
    told = movement(old, new, "s", measure("hit@7"), Part(), list(AFTER))
    assert told.startswith("hit@7 needs 7 hits, and the baseline has 5 a question of s")


def test_what_passages_show_is_compared_by_recorded_means_where_all_questions_are_the_same():
    old = measured(reference({"s": BEFORE}), **{"span_recall@5": 0.512346})
    new = measured(results({"s": AFTER}), **{"span_recall@5": 0.4123456789})
    one = measure("span_recall@5")
    found = movement(old, new, "s", one, Part(), list(AFTER))
    assert found == Movement("s", "span_recall@5", Part(), 4, Fraction("0.512346"), Fraction("0.412346"))
    assert (found.interval, found.moved, found.falls) == (None, "", ())
    assert mean(one, new, "s", Part()) == Fraction("0.412346")
    fewer = measured(results({"s": AFTER | {"q9": 1}}), **{"span_recall@5": 0.4})
    told = (
        "span_recall@5 looks at what passages show, and ranks do not tell it, and means can be compared only where both"
    )
    assert movement(old, fewer, "s", one, Part(), list(AFTER)).startswith(told)
    assert "ranks do not tell it" in mean(measure("span_iou@5"), new, "s", Part())


def test_ndcg_is_made_of_ranks_where_the_recorded_mean_shows_that_grades_are_alike():
    """(1 + 1/2 + 1.4307/1.6309 + 0) / 4: by hand, of ranks 1, 3, (1, 4) and none."""
    by_ranks = (1 + 0.5 + (1 + 0.43067656) / (1 + 0.63092975)) / 4
    old, new = reference({"s": BEFORE}), results({"s": BEFORE})
    one = measure("ndcg@10")
    alike = (measured(side, **{"ndcg@10": round(by_ranks, 6)}) for side in (old, new))
    found = movement(*alike, "s", one, Part(), list(BEFORE))
    assert (float(found.before), found.drop) == (pytest.approx(by_ranks, abs=1e-6), 0)
    graded = (measured(side, **{"ndcg@10": 0.6}) for side in (old, new))
    assert movement(*graded, "s", one, Part(), ["q1"]).differences == (), "by the recorded means"


# What moved


def test_the_interval_is_that_of_the_differences_and_noise_is_told_in_words():
    """By hit@1: 20 of 100 lost, and 2 gained; 1 lost; none."""
    before = {f"q{i}": 1 if i < 60 else 2 for i in range(100)}
    after = {f"q{i}": 1 if 20 <= i < 62 else 2 for i in range(100)}
    found = moved("hit@1", after, before)
    assert found.interval == stats.interval(20, 2, 100)
    assert found.moved == "worse, beyond noise"
    assert moved("hit@1", before, after).moved == "better, beyond noise"
    assert moved("hit@1", before | {"q0": 2}, before).moved == "within noise"
    assert moved("hit@1", before, before).moved == "same"
    assert moved("hit@1", before | {"q0": 2, "q60": 1}, before).moved == "within noise", "as many lost as gained"


def test_the_overview_has_the_five_metrics_then_each_type_and_full_where_pieces_are_several():
    types = {"direct": ["q1", "q4"], "multi": ["q3"], "none": ["u1"], "vague": ["q2"]}
    old, new = reference({"s": BEFORE}), results({"s": AFTER}, types=types)
    found = [(one.metric, one.part.type, one.n) for one in overview(old, new, "s", list(AFTER))]
    assert found == [
        ("hit@1", None, 4), ("hit@3", None, 4), ("mrr@5", None, 4), ("full@3", None, 4), ("full@5", None, 4),
        ("hit@3", "direct", 2),
        ("hit@3", "multi", 1), ("full@3", "multi", 1), ("full@5", "multi", 1),
        ("hit@3", "vague", 1),
    ]  # fmt: skip
