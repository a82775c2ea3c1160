"""Reports show what the results hold, in the order people read, and text of questions breaks nothing."""

import pytest

from docmind.evaluation.reports import REPORTS, Material
from docmind.evaluation.reports.markdown import wilson
from docmind.evaluation.reports.tables import hardest, ladder, losses, matrix, order
from docmind.retrieval.strategies import read_strategies
from docmind.types import Gold, Question, Span

MATRIX = read_strategies(None).matrix

METRICS = ("hit@1", "hit@3", "hit@5", "hit@10", "mrr@5", "mrr@10", "ndcg@10", "recall@5", "full@5")


def strategy(hit3, *, dev=None, lost=None, error=None):
    """A strategy's part of the results, every metric `hit3`; `lost` maps question ids to places."""
    metrics = None if error else dict.fromkeys((*METRICS, "hit@1000tok"), hit3)
    question = {"rank": 1, "ranks": [1], "hits": [], "error": error}
    return {
        "metrics": metrics,
        "by_type": {} if error else {"direct": {"n": 2, "hit@3": hit3}},
        "by_split": {} if dev is None else {"dev": {"n": 1, "hit@3": dev}},
        "ceiling": 1.0,
        "questions": {q: {**question, "lost_at": (lost or {}).get(q)} for q in ("a", "b")},
    }


QUESTIONS = [
    Question("a", "How?", (Gold((Span("d", 0, 1),)),), "direct"),
    Question("b", "a|b? @team <!-- x -->\n`", (Gold((Span("d", 0, 1),)),)),
]


def results(**strategies):
    return {
        "counts": {
            "answerable": 2,
            "unanswerable": 1,
            "left_out": 0,
            "errors": sum(s["metrics"] is None for s in strategies.values()),
        },
        "strategies": strategies,
    }


def whole(**changed):
    return results(**{**{s.name: strategy(0.5) for s in MATRIX}, **changed})


def test_the_matrix_stands_in_its_own_order_and_others_after_it():
    found = results(**{"headers+bm25": strategy(1), "headers+vector": strategy(1), "s0_original": strategy(1)})
    assert order(found) == ["s0_original", "headers+vector", "headers+bm25"]
    timings = {"s0_original": {"query": {"p50": 12.34}}}
    table = matrix(found, timings)
    assert table.header == ("strategy", "Hit@1", "Hit@3", "Hit@5", "MRR@5", "direct", "ms/query")
    assert table.rows[0] == ("s0_original", "100.0", "100.0", "100.0", "1.000", "100.0", "12.3")
    assert table.rows[1][-1] == "–"


def test_a_strategy_with_an_error_has_no_figures():
    table = matrix(results(**{"headers+vector": strategy(0.5, error="boom")}), {})
    assert set(table.rows[0][1:]) == {"–"}


def test_the_ladder_goes_on_with_the_chunker_that_is_best_on_dev():
    found = whole(**{"fixed_500+vector": strategy(0.9, dev=0.2), "semantic+vector": strategy(0.6, dev=0.8)})
    steps = [row[0] for row in ladder(found).rows]
    assert steps[-2:] == ["semantic+hybrid", "semantic+rerank"]
    assert ladder(found).rows[2][1:3] == ("60.0", "+10.0")


def test_without_a_split_the_ladder_looks_at_all_questions():
    found = whole(**{"headers+vector": strategy(0.9)})
    assert [row[0] for row in ladder(found).rows][-1] == "headers+rerank"


def test_there_is_no_ladder_without_all_its_steps():
    assert ladder(results(**{"headers+vector": strategy(1)})) is None
    assert ladder(whole(**{"headers+vector": strategy(1, error="boom")})) is None


def test_losses_are_counted_by_place():
    found = results(**{"headers+vector": strategy(0.5, lost={"a": "chunking", "b": "fusion"})})
    assert losses(found).rows == (("headers+vector", "100.0", "2", "1", "0", "1", "0"),)


def test_the_hardest_questions_are_those_that_most_strategies_miss():
    found = results(x=strategy(0, lost={"a": "fusion", "b": "fusion"}), y=strategy(0, lost={"b": "rerank"}))
    assert [row[:3] for row in hardest(found, QUESTIONS).rows] == [("b", "–", "2 of 2"), ("a", "direct", "1 of 2")]
    assert len(hardest(found, QUESTIONS, n=1).rows) == 1


def markdown(found):
    material = Material(found, {}, QUESTIONS, texts={}, relevant={}, key="key.jsonl")
    return REPORTS["markdown"](material)["latest.md"]


def test_text_of_a_question_breaks_no_table():
    page = markdown(whole(**{"headers+vector": strategy(0.5, lost={"b": "fusion"})}))
    [row] = [line for line in page.splitlines() if line.startswith("| b |")]
    assert row == "| b | – | 1 of 10 | a\\|b? @\u200bteam &lt;\\!-- x --&gt; \\` |"


def test_an_incomplete_run_is_told_first_with_its_errors():
    page = markdown(results(**{"headers+vector": strategy(0, error="ValueError: no")}))
    assert "**Incomplete: 1 answer ended in an error**" in page
    assert "- `headers+vector`, `a`: ValueError: no" in page


def test_a_filter_that_was_on_is_told():
    assert "left out" not in markdown(whole())
    filtered = whole()
    filtered["counts"]["left_out"] = 3
    assert "A filter left out 3 questions of the answer key." in markdown(filtered)


def test_one_question_is_worth_its_share():
    assert "One question is worth 50.00 points." in markdown(whole())


def test_wilson_by_hand():
    # 8 of 10, z 1.96: centre (0.8 + 0.192) / 1.384 = 0.7168, half 1.96 * sqrt(0.016 + 0.0096) / 1.384 = 0.2266
    assert wilson(8, 10) == (pytest.approx(0.4902, abs=1e-4), pytest.approx(0.9433, abs=1e-4))
    assert wilson(10, 10)[1] == pytest.approx(1.0)
