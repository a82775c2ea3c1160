"""Two runs held against each other: which questions flipped, what took their place, and what differs between the runs."""

from dataclasses import replace
from fractions import Fraction

import pytest
from handmade import GOLD_RULE, TREATMENT, hits, reference, results

from docmind.evaluation.gate.compare import ALPHA, Flip, compare
from docmind.evaluation.record.types import HitResult, QuestionResult
from docmind.evaluation.scoring import stats

BEFORE = {"q1": 1, "q2": 3, "q3": 7, "q4": None, "u1": ()}


def against(after, before=None, *, old=None, new=None):
    """The comparison of one strategy's ranks after with those before."""
    return compare(reference({"s": before or BEFORE}, **(old or {})), results({"s": after}, **(new or {})))


def change(after, before=None):
    [found] = against(after, before).changes
    return found


def differing(*, old=None, new=None):
    """The differences told of two runs with equal ranks that differ in other things."""
    told = against(BEFORE, BEFORE, old=old, new=new).differences
    return [difference for difference in told if not difference.endswith(": same")]


# Flips


def test_flips_have_both_ranks_where_they_were_lost_and_what_stands_there_now():
    """q1 falls from 1 to 4, q2 from 3 out of the ten, q3 rises from 7 to 2, q4 from nowhere to 3."""
    found = change({"q1": 4, "q2": None, "q3": 2, "q4": 3, "u1": ()})
    assert found.lost == (
        Flip("q1", 1, 4, "fusion", HitResult(chunk="q1 at 1", source="page.md", spans=((10, 20),), score=1.0)),
        Flip("q2", 3, None, "fusion", HitResult(chunk="q2 at 3", source="page.md", spans=((30, 40),), score=1 / 3)),
    )
    assert found.gained == (Flip("q3", 7, 2, None, None), Flip("q4", None, 3, None, None))
    assert (found.n, found.before, found.after) == (4, 2, 2)


def test_what_moves_within_or_below_the_first_three_is_no_flip():
    found = change({"q1": 3, "q2": 1, "q3": None, "q4": 4, "u1": ()})
    assert (found.lost, found.gained, found.before, found.after) == ((), (), 2, 2)


def test_one_piece_among_the_first_three_is_a_hit_and_ranks_are_those_of_the_best_piece():
    found = change({"q1": [8, 4], "q2": [None, 2]}, {"q1": [None, 2], "q2": [1, 9]})
    assert [(flip.question_id, flip.old, flip.new) for flip in found.lost] == [("q1", 2, 4)]
    assert not found.gained


def test_an_unanswerable_question_counts_nowhere():
    assert change({"q1": 1, "u1": ()}, {"q1": 1, "u1": ()}).n == 1


def test_nothing_stands_in_place_where_nothing_was_found_there():
    after = results({"s": {"q1": None}})
    empty = QuestionResult(ranks=(None,), lost_at="fusion", hits=(), error=None)
    after.strategies["s"].questions["q1"] = empty
    [found] = compare(reference({"s": {"q1": 2}}), after).changes
    assert found.lost == (Flip("q1", 2, None, "fusion", None),)


def test_against_a_baseline_as_the_second_run_the_chunk_alone_is_known():
    """A baseline keeps the ids of the first three chunks and no more."""
    [found] = compare(results({"s": {"q1": 2}}), reference({"s": {"q1": 9}})).changes
    assert found.lost == (Flip("q1", 2, 9, None, "old q1 at 2"),)


# Figures


def test_a_change_has_the_figures_of_stats():
    """11 of 60 hits lost and 2 gained, of 100."""
    found = change(hits(60, lost=11, gained=2), hits(60))
    assert (found.n, found.before, found.after, len(found.lost), len(found.gained)) == (100, 60, 51, 11, 2)
    assert found.drop == Fraction(9, 100)
    assert found.p == found.adjusted == pytest.approx(92 / 2**13)
    assert (found.low, found.high) == stats.interval(11, 2, 100)
    assert found.low < -0.09 < found.high < 0
    assert found.detectable == stats.smallest_drop(100, 0.04, ALPHA)  # no rule is named
    assert not found.within_noise


def test_p_is_adjusted_over_the_strategies_that_were_compared():
    """11 to 2 in one, none in two others: 3 × p, and 1."""
    names = ("a", "b", "c")
    old = reference({name: hits(60) for name in names})
    new = results({"a": hits(60, lost=11, gained=2), "b": hits(60), "c": hits(60)})
    changes = compare(old, new).changes
    assert [c.strategy for c in changes] == ["a", "b", "c"]
    assert [c.adjusted for c in changes] == pytest.approx([3 * 92 / 2**13, 1, 1])
    assert [c.within_noise for c in changes] == [False, True, True]


def test_p_is_adjusted_over_the_strategies_that_are_judged_and_no_others():
    names = ("a", "b", "c")
    old = reference({name: hits(60) for name in names})
    new = results({"a": hits(60, lost=11, gained=2), "b": hits(60), "c": hits(60, lost=11, gained=2)})
    changes = compare(old, new, judged={"a", "b"}).changes
    assert [c.adjusted for c in changes] == [pytest.approx(2 * 92 / 2**13), 1, None]
    assert changes[2].p == changes[0].p


def test_changes_stand_in_the_order_of_the_new_run_and_that_order_changes_no_figure():
    old = reference({"a": hits(60), "b": hits(50)})
    new = {"a": hits(60, 4, 3), "b": hits(50, 2, 9)}
    one, other = (compare(old, results({name: new[name] for name in names})).changes for names in ("ab", "ba"))
    assert [c.strategy for c in other] == ["b", "a"]
    assert one == other[::-1]


def test_a_gain_is_a_negative_drop():
    assert change(hits(60, gained=5), hits(60)).drop == Fraction(-5, 100)


def test_noise_is_an_interval_that_holds_0():
    found = change(hits(60, lost=3, gained=2), hits(60))
    assert found.within_noise
    assert replace(found, low=0.0, high=0.1).within_noise
    assert not replace(found, low=0.01, high=0.1).within_noise


@pytest.mark.parametrize(
    ("alpha", "tolerance", "judged", "expected"),
    [
        (0.01, Fraction(0), None, (0.005, Fraction(0))),
        (0.05, Fraction(3, 100), ["s"], (0.05, Fraction(3, 100))),
        (0.05, Fraction(3, 100), None, (0.025, Fraction(3, 100))),
        (None, Fraction(3, 100), None, (None, Fraction(3, 100))),
    ],
)
def test_the_smallest_detectable_drop_is_that_of_the_rule(alpha, tolerance, judged, expected):
    """With alpha, what Holm holds the smallest of the judged strategies' p-values to."""
    both = {name: hits(60) for name in "st"}
    found = compare(reference(both), results(both), alpha, judged, tolerance)
    assert (found.alpha, found.tolerance, found.judged) == (alpha, tolerance, 2 if judged is None else 1)
    assert found.changes[0].detectable == stats.smallest_drop(100, 0, *expected)


def test_the_same_runs_give_the_same_comparison():
    old, new = (
        reference({"a": hits(60), "b": hits(50)}),
        results({"a": hits(60, 4, 3), "b": hits(50, 2, 9)}),
    )
    assert compare(old, new) == compare(old, new)


# What can be compared


def test_questions_added_changed_and_removed_are_listed_and_not_compared():
    """q1 and q2 are the same; q3 is another question under its old id; q4 is gone and q5 is new. q3 is lost, uncounted."""
    found = against(
        {"q1": 1, "q2": None, "q3": None, "q5": None},
        {"q1": 1, "q2": 1, "q3": 1, "q4": 1},
        new={"asked": {"q3": "another"}},
    )
    assert found.not_compared == {"added": ("q5",), "changed": ("q3",), "not asked any more": ("q4",)}
    [only] = found.changes
    assert found.questions == only.n == 2
    assert [flip.question_id for flip in only.lost] == ["q2"]
    assert "key: 1 question changed (q3); 1 question added (q5); 1 question removed (q4)" in found.differences
    assert not found.refusals


def test_nothing_is_listed_where_the_key_is_the_same():
    assert against(BEFORE).not_compared == {}


def test_strategies_of_one_run_alone_are_named():
    found = compare(reference({"a": BEFORE, "b": BEFORE}), results({"b": BEFORE, "c": BEFORE}))
    assert (found.missing, found.added) == (("a",), ("c",))
    assert [c.strategy for c in found.changes] == ["b"]
    assert not found.refusals


def test_a_strategy_with_an_error_is_not_compared_but_not_missing():
    old = reference({"a": BEFORE, "b": BEFORE})
    found = compare(old, results({"a": BEFORE, "b": BEFORE | {"q2": "LookupError: no"}}))
    assert [c.strategy for c in found.changes] == ["a"]
    assert (found.missing, found.added, found.refusals) == ((), (), ())
    again = compare(
        results({"a": BEFORE, "b": BEFORE | {"q2": "LookupError: no"}}), results({"a": BEFORE, "b": BEFORE})
    )
    assert [c.strategy for c in again.changes] == ["a"]


def test_errors_everywhere_are_no_reason_to_refuse_but_leave_no_change():
    found = against({**BEFORE, "q1": "boom"})
    assert (found.changes, found.refusals, found.questions) == ((), (), 0)


@pytest.mark.parametrize(
    ("rule", "told"),
    [({"covered": 0.5}, "covered: 0.8 → 0.5"), ({"code": "x"}, "code: rrrr")],
)
def test_another_gold_rule_cannot_be_compared(rule, told):
    found = against(BEFORE, new={"gold_rule": GOLD_RULE | rule})
    [refusal] = found.refusals
    assert refusal.startswith("the gold rule is another: ")
    assert told in refusal
    assert (found.changes, found.questions) == ((), 0)


def test_without_a_strategy_or_an_answerable_question_in_common_there_is_nothing_to_compare():
    assert compare(reference({"a": BEFORE}), results({"b": BEFORE})).refusals == ("no strategy is in both",)
    none_left = ("no answerable question is the same in both",)
    assert against({"q9": 1}, {"q1": 1}).refusals == none_left
    assert against({"u1": ()}, {"u1": ()}).refusals == none_left
    assert against({"q1": 1, "u1": ()}, {"q1": 1, "u1": ()}, new={"asked": {"q1": "another"}}).refusals == none_left


# What differs


def test_equal_parts_are_told_to_be_the_same():
    parts = ["corpus", "key", "metrics", *TREATMENT, "rules"]
    assert against(BEFORE).differences == tuple(f"{part}: same" for part in parts)


def test_a_cap_is_named_with_its_values():
    changed = TREATMENT | {"chunkers": {"headers": {"size": 500, "cap": 120}}}
    assert differing(new={"treatment": changed}) == ["chunkers: headers cap: 500 → 120"]


def test_another_embedder_is_named():
    changed = TREATMENT | {"models": {"embedder": "bge-small", "reranker": "ms-marco"}}
    told = ["models: embedder: MiniLM → bge-small; reranker: none → ms-marco"]
    assert differing(new={"treatment": changed}) == told


def test_of_long_values_that_part_is_told_which_differs():
    long = "all-MiniLM-L6-v2, mean pooling, 510 tokens, model.onnx 2f019cf6217537cc, onnxruntime 1.32.0"
    old, new = (TREATMENT | {"models": {"embedder": long.replace("1.32.0", v)}} for v in ("1.32.0", "1.33.0"))
    assert differing(old={"treatment": old}, new={"treatment": new}) == [
        "models: embedder: …untime 1.32.0 → …untime 1.33.0"
    ]
    other = TREATMENT | {"models": {"embedder": "bge-small-en-v1.5, " + long}}
    [told] = differing(old={"treatment": old}, new={"treatment": other})
    assert (
        told == "models: embedder: all-MiniLM-L6-v2, mean pooling, 510 tok… → bge-small-en-v1.5, all-MiniLM-L6-v2, me…"
    )


def test_pages_and_files_are_named_by_what_happened_to_them():
    old = {"pages": {"a.md": "1", "b.md": "1", "gone.md": "1"}}
    new = {"pages": {"a.md": "1", "b.md": "2", "new.md": "1"}}
    told = "corpus: 1 page changed (b.md); 1 page added (new.md); 1 page removed (gone.md)"
    assert differing(old=old, new=new) == [told]
    code = TREATMENT | {"code": {"retrieval/bm25.py": "zz", "retrieval/mmr.py": "yy"}}
    assert differing(new={"treatment": code}) == ["code: 2 files changed (retrieval/bm25.py, retrieval/mmr.py)"]


def test_of_many_pages_five_are_named_and_the_rest_counted():
    many = {"pages": {"page.md": "p1"} | {f"{i}.md": "1" for i in range(8)}}
    assert differing(new=many) == ["corpus: 8 pages added (0.md, 1.md, 2.md, 3.md, 4.md and 3 more)"]


def test_a_part_that_one_run_does_not_have_is_told():
    fewer = {key: value for key, value in TREATMENT.items() if key != "libraries"}
    assert differing(old={"treatment": fewer}) == ["libraries: none → {'numpy': '2.4'}"]
    assert differing(new={"treatment": fewer}) == ["libraries: {'numpy': '2.4'} → none"]
