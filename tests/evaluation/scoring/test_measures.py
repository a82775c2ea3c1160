"""Metrics by name at any k: what names there are, how deep they look, and that nothing deeper is made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.errors import UsageError
from docmind.evaluation.scoring import metrics
from docmind.evaluation.scoring.asking import check_depth, run
from docmind.evaluation.scoring.measures import depth, measure, standard
from docmind.evaluation.scoring.metrics.family import Family
from docmind.evaluation.scoring.metrics.judged import Judged
from docmind.evaluation.scoring.score import score
from docmind.types import Gold, Span


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("recall@0", "its k is '0'. A whole number from 1 to 10,000"),
        ("recall@-1", "its k is '-1'"),
        ("recall@007", "its k is '007'"),
        ("recall@+5", "its k is '+5'"),
        ("recall@ 5", "its k is ' 5'"),
        ("hit@1e3", "its k is '1e3'"),
        ("hit@3.0", "its k is '3.0'"),
        ("hit@３", "its k is '３'"),
        ("recall@", "its k is ''"),
        ("hit@tok", "its k is ''"),
        ("hit@0tok", "its k is '0'"),
        ("hit@10001", "its k is '10001'"),
        ("hit@" + "9" * 5_000, "A whole number from 1 to 10,000 was expected"),
        ("HIT@3", "unknown metric 'HIT@3'. Did you mean 'hit@k'? There are: hit@k, mrr@k"),
        ("foo@3", "unknown metric 'foo@3'. There are: hit@k"),
        ("recal@5", "Did you mean 'recall@k'?"),
        ("", "unknown metric ''"),
        ("@3", "unknown metric '@3'"),
    ],
)
def test_another_name_is_refused_in_words(name, told):
    with pytest.raises(UsageError) as raised:
        measure(name)
    assert told in str(raised.value)


@pytest.mark.parametrize(("name", "expected"), [("recall@100", 100), ("hit@1", 1), ("ndcg@7", 7), ("hit@500tok", 10)])
def test_a_measure_says_how_deep_it_looks(name, expected):
    assert (measure(name).name, measure(name).depth) == (name, expected)


def test_as_many_are_asked_for_as_the_deepest_takes_and_the_reports_show():
    assert depth([measure("hit@3")]) == depth(standard()) == 10
    assert depth([measure("hit@3"), measure("recall@100")]) == 100


def test_a_metric_deeper_than_the_run_is_an_error_and_no_small_number(chunks, gold_in, ask, scripted):
    """The evidence stands at 10 of 10, and what stands below is not known: recall@100 could be 1 or 1/2."""
    questions = [ask("q", gold_in(chunks[9]), Gold(spans=(Span("other.md", 0, 9),)))]
    done = run("ours", scripted({"q": chunks}), questions, 10)
    assert score(done, questions, [measure("recall@10")], len).overall.metrics == {"recall@10": 0.5}
    with pytest.raises(UsageError, match=r"recall@100 needs 100 hits, and the run of ours holds 10 a question\."):
        score(done, questions, [measure("recall@10"), measure("recall@100")], len)
    assert run("ours", scripted({"q": chunks}), questions, 100).depth == 100


def test_a_list_that_ends_before_a_metric_is_refused_before_anything_is_asked(chunks, gold_in, ask, scripted):
    with pytest.raises(
        UsageError, match=r"recall@21 needs 21 hits, and the list of ours ends at its depth 20\..*depth=21"
    ):
        check_depth("ours", 20, [measure("hit@3"), measure("recall@21")])
    check_depth("ours", 20, [measure("recall@20")])
    check_depth("ours", None, [measure("recall@100")])
    ends = scripted({"q": chunks})
    ends.depth = 5
    done = run("ours", ends, [ask("q", gold_in(chunks[0]))], 10)
    assert done.depth == 5


some_ranks = st.lists(st.none() | st.integers(1, 40), min_size=1, max_size=5)


@given(ranks=some_ranks, k=st.integers(1, 40), tokens=st.lists(st.integers(1, 400), min_size=40, max_size=40))
def test_what_stands_below_k_changes_nothing(ranks, k, tokens):
    """A deeper run gives the same value as one that ends at the measure's depth."""
    gold = tuple(Gold(spans=(Span("a", 10 * i, 10 * i + 10),)) for i in range(len(ranks)))
    shown = tuple(
        tuple(gold[i].spans[0] for i, rank in enumerate(ranks) if rank == place) or (Span("b", place, place + 5),)
        for place in range(1, 41)
    )
    for each in (*map(measure, [name.replace("@k", f"@{k}") for name in metrics.METRICS]), *standard()):
        end = each.depth
        cut = Judged(
            gold, tuple(r if r is not None and r <= end else None for r in ranks), shown[:end], tuple(tokens[:end])
        )
        value = each.of(Judged(gold, tuple(ranks), shown, tuple(tokens)))
        assert value == each.of(cut)
        assert value is None or 0 <= value <= 1


def test_a_metric_is_a_line_and_is_measured(monkeypatch, chunks, gold_in, ask, scripted):
    def newcomer(judged: Judged, k: int) -> float:
        return len(set(judged.within(k))) / k

    monkeypatch.setitem(metrics.METRICS._entries, "newcomer@k", Family(newcomer, standard=(5,)))
    assert [each.name for each in standard()][-1] == "newcomer@5"
    questions = [ask("q", gold_in(chunks[0]), gold_in(chunks[1]))]
    scores = score(run("s", scripted({"q": chunks}), questions), questions, [*standard(), measure("newcomer@2")], len)
    assert (scores.overall.metrics["newcomer@5"], scores.overall.metrics["newcomer@2"]) == (2 / 5, 1)
