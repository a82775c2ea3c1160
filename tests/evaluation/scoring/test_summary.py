"""The summary of a run of answers: counts, rates, means and areas, by hand."""

import pytest

from docmind.evaluation.record.answerrows import Row
from docmind.evaluation.scoring.answers import VERDICTS
from docmind.evaluation.scoring.summary import Mean, summary
from docmind.types import Answer, Gold, Question, Ranking, Span

TEN = Gold((Span("page.md", 10, 20),))

KEY = (
    *(Question(f"d{i}", "?", (TEN,), type="dev", split="dev") for i in range(4)),  # a type may be called so
    *(Question(f"v{i}", "?", (TEN,), type="vague", split="test") for i in range(3)),
    Question("n0", "?", type="near", split="dev", near_miss=True),
    Question("f0", "?", type="far", split="test"),
    Question("f1", "?", type="far", split="test"),
)
SAID = {
    "d0": ("correct", 0.9), "d1": ("correct", 0.8), "d2": ("partial", 0.7), "d3": ("wrong", 0.3),
    "v0": ("unsupported", None), "v1": ("abstained", 0.2), "v2": (None, None),
    "n0": ("wrong", 0.8), "f0": ("abstained", 0.1), "f1": ("abstained", 0.3),
}  # fmt: skip


MEASURED = {
    "d0": {"f1": 1.0, "cites": 0.5}, "d1": {"f1": 0.5, "cites": None}, "d2": {"f1": 0.0}, "d3": {"f1": 0.25, "cites": 0.0},
    "v0": {"f1": 0.5, "cites": None}, "v1": {"f1": 0.0, "cites": None},
    "n0": {"f1": None, "cites": None}, "f0": {}, "f1": {},
}  # fmt: skip


def failed(question):
    return Row.of(question, ("a", "v"), None, error="429 for ever")


def rows():
    for question in KEY:
        verdict, confidence = SAID[question.id]
        if verdict is None:
            yield failed(question)
        else:
            said = Answer("Five days.", (), False, Ranking(()), "extractive", confidence=confidence)
            yield Row.of(question, ("a", "v"), said, verdict=verdict, metrics=MEASURED[question.id])


def figures(counts):
    """n, judged and the verdicts there are."""
    assert counts.rates == {v: c / counts.judged for v, c in counts.verdicts.items()}
    return counts.n, counts.judged, {v: c for v, c in counts.verdicts.items() if c}


def test_a_summary_counts_verdicts_and_what_has_none():
    found = summary(list(rows()), KEY, ())
    whole = {"correct": 2, "partial": 1, "wrong": 1, "unsupported": 1, "abstained": 1}
    dev = (4, 4, {"correct": 2, "partial": 1, "wrong": 1})
    test = (3, 2, {"unsupported": 1, "abstained": 1})  # a failed one is in no rate
    assert [(name, figures(counts)) for name, counts in found.answerable.groups()] == [
        ("all", (7, 6, whole)), ("type dev", dev), ("type vague", test), ("split dev", dev), ("split test", test),
    ]  # fmt: skip
    near, far = (1, 1, {"wrong": 1}), (2, 2, {"abstained": 2})
    assert [(name, figures(counts)) for name, counts in found.unanswerable.groups()] == [
        ("all", (3, 3, {"wrong": 1, "abstained": 2})),
        ("distance near", near), ("distance far", far), ("split dev", near), ("split test", far),
    ]  # fmt: skip


def test_means_are_over_the_answers_for_which_a_metric_is_defined():
    found = summary(list(rows()), KEY, ("f1", "cites"))
    # f1: (1 + .5 + 0 + .25 + .5 + 0) / 6, v2 failed; cites: (.5 + 0) / 2
    assert found.answerable.all.metrics == {"f1": Mean(value=0.375, scored=6), "cites": Mean(value=0.25, scored=2)}
    # on dev alone it is 1.75 of 4
    assert found.answerable.by_split["dev"].metrics["f1"] == Mean(value=0.4375, scored=4)
    assert found.unanswerable.all.metrics["f1"] == Mean(value=None, scored=0)


def test_confidence_is_measured_against_near_and_far_ones_and_needs_both_sides():
    found = summary(list(rows()), KEY, ()).confidence
    # answerable: .9 .8 .7 .3 .2; near .8; far .1 .3. Pairs won, ties half:
    # near: 1 + ½ of 5; far: over .1 all 5, over .3: 3 + ½. In all (1.5 + 5 + 3.5) of 15.
    assert [area.value for area in (found.all.near, found.all.far, found.all.all)] == pytest.approx(
        [0.3, 0.85, 10 / 15]
    )
    assert (found.all.far.n, found.all.far.m) == (5, 2)
    assert found.by_split["dev"].far is None
    assert found.by_split["dev"].near.value == pytest.approx(1.5 / 4)
    assert found.by_split["test"].far.value == pytest.approx(0.5)  # .2 over .1, and under .3


def test_where_nothing_was_judged_there_is_no_rate():
    found = summary([failed(question) for question in KEY], KEY, ("f1",))
    counts = found.answerable.all
    assert (counts.n, counts.judged, counts.rates) == (7, 0, None)
    assert counts.verdicts == dict.fromkeys(VERDICTS, 0)
    assert counts.metrics == {"f1": Mean(value=None, scored=0)}
    assert found.confidence.all.all is None
