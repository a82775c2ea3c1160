"""What a change proposes to be judged by, told from what to what whatever the keys are."""

import pytest
from handmade import hits, reference

from docmind.evaluation.gate import proposal
from docmind.evaluation.gate.values import changes, listed
from docmind.evaluation.record.rules import Rules, StrategiesFile


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({"a": 0.677}, {"a": 0.6}, ["a: 0.677 → 0.6"]),
        ({"a": 3.0, "b": 1}, {"b": 1}, ["a: 3 → none"]),
        ({}, {"b": False}, ["b: none → False"]),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, ["a.b.c: 1 → 2"]),
        ({"a": ["x", "y"]}, {"a": ["y", "z"]}, ["a: x taken out; z added"]),
        ({"a": ["x", "y"]}, {"a": ["y", "x"]}, ["a: x, y → y, x"]),
        (
            {"min": [{"metric": "hit@1", "at_least": 0.5}]},
            {"min": [{"metric": "hit@1", "at_least": 0.4}]},
            ["min: metric hit@1 at_least 0.5 taken out; metric hit@1 at_least 0.4 added"],
        ),
        ({"a": "x\n::error::y"}, {"a": None}, ["a: x ::error::y → none"]),
        ({"a": "x" * 99}, {"a": 1}, [f"a: {'x' * 79}… → 1"]),
    ],
)
def test_each_key_is_told_from_what_to_what(old, new, told):
    assert list(changes(old, new)) == told
    assert list(changes(old, old)) == []


def test_of_a_long_list_the_first_are_named():
    assert listed([f"q{n}" for n in range(7)]) == "q0, q1, q2, q3, q4 and 2 more"


def test_of_many_sentences_the_last_counts_the_rest():
    told = proposal.limited([f"{n} {'x' * 999}" for n in range(50)])
    assert len(told) == proposal.MOST
    assert max(map(len, told)) == proposal.SENTENCE
    assert told[-1] == "and 31 more changes, which are not listed", "19 are"
    assert proposal.limited(["a", "b"]) == ("a", "b")


def test_a_baseline_is_told_by_figures_then_by_ranks():
    """Figures made by hand are all 0.5; s loses three ranks with the figure as it was."""
    old = reference({"s": hits(60), "t": hits(60)})
    assert list(proposal.baseline(old, old)) == []
    moved = reference({"s": hits(60, lost=3), "t": hits(60)})
    assert list(proposal.baseline(old, moved)) == ["baseline: other ranks without another figure: s (3 questions)"]
    worse = moved.strategies["s"].model_copy(update={"metrics": {"hit@3": 0.475}})
    lower = moved.model_copy(update={"strategies": {**moved.strategies, "s": worse}})
    assert list(proposal.baseline(old, lower)) == ["baseline: 1 strategy's figures differ: s hit@3 50.0 → 47.5"]
    close = lower.model_copy(
        update={"strategies": {**old.strategies, "s": worse.model_copy(update={"metrics": {"hit@3": 0.50004}})}}
    )
    assert list(proposal.baseline(old, close)) == ["baseline: 1 strategy's figures differ: s hit@3 50.0000 → 50.0040"]


def test_a_baseline_of_other_strategies_or_of_another_run_is_told():
    old = reference({"s": hits(60), "t": hits(60)})
    assert list(proposal.baseline(old, reference({"s": hits(60), "u": hits(60)}))) == [
        "baseline: strategies taken out: t",
        "baseline: strategies added: u",
    ]
    [told] = proposal.baseline(old, reference({"s": hits(60), "t": hits(60)}, pages={"page.md": "p2"}))
    assert told == "baseline: it is of another run, which differs in: corpus"
    chunks = {
        "questions": {
            name: found.model_copy(update={"chunks": ("x",)}) for name, found in old.strategies["s"].questions.items()
        }
    }
    other = old.model_copy(
        update={"strategies": {**old.strategies, "s": old.strategies["s"].model_copy(update=chunks)}}
    )
    assert list(proposal.baseline(old, other)) == [
        "baseline: it differs in what no figure shows, such as ids of chunks"
    ]


def test_strategies_are_told_by_what_becomes_of_them():
    old = StrategiesFile(matrix=("a", "b", "c"), gate=("a", "b"), names={"a": "x+bm25", "b": "y+bm25", "c": "z+bm25"})
    new = StrategiesFile(matrix=("d", "c"), gate=None, names={"b": "y+bm25", "c": "z+vector", "d": {"url": "http://x"}})
    assert list(proposal.strategies(old, new)) == [
        "strategies: a is in the base's matrix and no longer here; it is scored as it stands in the base",
        "strategies: b is in the base's matrix and no longer here; it is scored as it is defined here",
        "strategies: new in the matrix: d",
        "strategies: gate: a, b → all",
        "strategies: the name a is no longer here; in the base it is x+bm25",
        "strategies: c: z+bm25 → z+vector; it is scored as it is here",
        "strategies: new names: d = url http://x",
    ]
    assert list(proposal.strategies(old, old)) == []


def test_rules_of_a_record_are_strict():
    file = StrategiesFile(matrix=("a",), gate=None, names={})
    assert Rules.model_validate(
        {"thresholds": None, "strategies": {"matrix": ["a"], "gate": None, "names": {}}}
    ) == Rules(thresholds=None, strategies=file)
    for odd in ({"strategies": file}, {"thresholds": [], "strategies": file}, {"thresholds": None, "strategies": None}):
        with pytest.raises(ValueError, match="validation error"):
            Rules.model_validate(odd)
