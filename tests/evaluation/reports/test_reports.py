"""Reports show what the results hold, in the order people read, and text of questions breaks nothing."""

from handmade import DOCUMENTS, parts, questions
from handmade import results as record

from docmind.evaluation.record.types import MetricsRule, QuestionResult, SliceResult, StrategyResult
from docmind.evaluation.reports import REPORTS, Material
from docmind.evaluation.reports.tables import by_type, details, hardest, ladder, losses, matrix
from docmind.evaluation.scoring.measures import standard
from docmind.retrieval.strategies import read_strategies
from docmind.spec import slug
from docmind.types import Gold, Question, Span

MATRIX = read_strategies(None).matrix
METRICS = tuple(measure.name for measure in standard())


def strategy(hit3, *, dev=None, lost=None, error=None):
    """A strategy's part of the record, every metric `hit3`; `lost` maps question ids to places."""

    def found(question):
        place = (lost or {}).get(question)
        return QuestionResult(ranks=() if error else (None if place else 1,), lost_at=place, hits=(), error=error)

    return StrategyResult(
        chunker="", mode="",
        metrics=None if error else dict.fromkeys(METRICS, hit3),
        by_type={} if error else {"direct": SliceResult.of(2, {"hit@3": hit3})},
        by_split={} if dev is None else {"dev": SliceResult.of(1, {"hit@3": dev})},
        ceiling=1.0,
        questions={q: found(q) for q in ("a", "b")},
    )  # fmt: skip


QUESTIONS = [
    Question("a", "How?", (Gold((Span("d", 0, 1),)),), "direct"),
    Question("b", "a|b? @team <!-- x -->\n`", (Gold((Span("d", 0, 1),)),)),
]


def results(*, left_out=0, names=tuple(METRICS), **strategies):
    """The record of strategies under their names, which say what they are made of."""
    made = record({name: {"a": 1, "b": 1} for name in strategies}, left_out=left_out)
    for name, found in strategies.items():
        chunker, mode = parts(name)
        made.strategies[name] = found.model_copy(update={"chunker": chunker, "mode": mode})
    rule = MetricsRule(names=names, depth=10, code="m")
    instrument = made.instrument.model_copy(update={"metrics": rule})
    return made.model_copy(
        update={
            "fingerprint": made.fingerprint.model_copy(update={"instrument": instrument}),
            "counts": made.counts.model_copy(
                update={"unanswerable": 1, "errors": sum(s.metrics is None for s in strategies.values())}
            ),
        }
    )


def whole(**changed):
    return results(**{**{s.name: strategy(0.5) for s in MATRIX}, **changed})


def test_strategies_stand_in_the_order_in_which_they_were_asked_for():
    found = results(**{"headers+vector": strategy(1), "headers+bm25": strategy(1), "s0_original": strategy(1)})
    table = matrix(found, {"s0_original": 12.34})
    assert table.header == ("strategy", "Hit@1", "Hit@3", "Hit@5", "MRR@5", "ms/query")
    assert [row[0] for row in table.rows] == ["headers+vector", "headers+bm25", "s0_original"]
    assert table.rows[2] == ("s0_original", "100.0", "100.0", "100.0", "1.000", "12.3")
    assert table.rows[1][-1] == "–"


DETAILED = [name for name in METRICS if name not in ("hit@1", "hit@3", "hit@5", "mrr@5")]


def test_every_metric_that_the_matrix_does_not_show_stands_in_the_details():
    found = whole(**{"fixed_500+vector": strategy(0.5, dev=0.25)})
    assert details(found).header == ("strategy", "Hit@3 dev", *DETAILED)
    assert details(found).rows[1] == ("fixed_500+vector", "25.0", *["0.500"] * len(DETAILED))


def test_a_metric_and_a_strategy_that_are_added_stand_wherever_they_belong():
    """With no other edit than that the record has them."""
    extra = strategy(0.25)
    extra = extra.model_copy(update={"metrics": extra.metrics | {"foo@7": 0.125}})
    found = whole(**{"headers(size=300)+brand_new": extra}, names=(*METRICS, "foo@7"))
    assert details(found).header[-1] == "foo@7"
    assert details(found).rows[-1] == ("headers(size=300)+brand_new", *["0.250"] * len(DETAILED), "0.125")
    assert details(found).rows[0][-1] == "–"
    assert matrix(found, {}).rows[-1][:3] == ("headers(size=300)+brand_new", "25.0", "25.0")
    assert losses(found).rows[-1][0] == "headers(size=300)+brand_new"
    assert hardest(whole(x=strategy(0, lost={"a": "fusion"})), QUESTIONS).rows[0][2] == "1 of 11"
    asked = questions({"a": 1, "b": 1})
    relevant = {name: {"a": frozenset(), "b": frozenset()} for name in found.strategies}
    material = Material(found, {}, asked, documents=DOCUMENTS, relevant=relevant, key="key.jsonl")
    files = {name: text for report in REPORTS.values() for name, text in report.render(material).items()}
    assert "foo@7" in files["latest.md"]
    assert "foo@7" in files["latest.html"]
    for name in ("latest.md", "latest.html", "latest.junit.xml"):
        assert "brand\\_new" in files[name] or "brand_new" in files[name], name
    assert f"latest.{slug('headers(size=300)+brand_new')}.qrels" in files
    assert set(files) <= {name for report in REPORTS.values() for name in report.names(found.strategies)}


def test_only_metrics_of_the_record_have_a_column():
    found = results(names=("hit@3", "recall@100"), **{"headers+vector": strategy(0.5)})
    assert matrix(found, {}).header == ("strategy", "Hit@3", "ms/query")
    assert details(found).header == ("strategy", "recall@100")


def test_a_strategy_with_an_error_has_no_figures():
    table = matrix(results(**{"headers+vector": strategy(0.5, error="boom")}), {})
    assert set(table.rows[0][1:]) == {"–"}


def test_the_ladder_goes_on_with_the_chunker_that_is_best_on_dev():
    found = whole(**{"fixed_500+vector": strategy(0.9, dev=0.2), "semantic+vector": strategy(0.6, dev=0.8)})
    steps = [row[0] for row in ladder(found).rows]
    assert steps == [
        "s0_original", "fixed_500+vector", "semantic+vector", "headers+vector", "semantic+hybrid", "semantic+rerank",
    ]  # fmt: skip
    assert ladder(found).rows[2][1:3] == ("60.0", "+10.0")


def test_without_a_split_the_ladder_looks_at_all_questions():
    found = whole(**{"headers+vector": strategy(0.9)})
    assert [row[0] for row in ladder(found).rows][-1] == "headers+rerank"


def test_there_is_no_ladder_without_all_its_steps():
    assert ladder(results(**{"headers+vector": strategy(1)})) is None
    assert ladder(whole(**{"headers+vector": strategy(1, error="boom")})) is None


def test_the_ladder_is_of_the_record_whatever_the_chunkers_are_called():
    """The first strategy is the original; a chunker that lacks a mode has no step; the first of two equals is best."""
    names = [
        "mine+bm25",
        "a+vector",
        "a+hybrid",
        "b+vector",
        "b+hybrid",
        "b+rerank",
        "c+vector",
        "c+hybrid",
        "c+rerank",
    ]
    found = results(**{name: strategy(0.5) for name in names})
    assert [row[0] for row in ladder(found).rows] == ["mine+bm25", "b+vector", "c+vector", "b+hybrid", "b+rerank"]
    own = results(**{name: strategy(0.5) for name in names[3:6]})
    assert [row[:3] for row in ladder(own).rows] == [
        ("b+vector", "50.0", ""), ("b+hybrid", "50.0", "+0.0"), ("b+rerank", "50.0", "+0.0"),
    ]  # fmt: skip


def test_losses_are_counted_by_place():
    found = results(**{"headers+vector": strategy(0.5, lost={"a": "chunking", "b": "fusion"})})
    assert losses(found).rows == (("headers+vector", "100.0", "2", "1", "0", "1", "0"),)


def test_the_hardest_questions_are_those_that_most_strategies_miss():
    found = results(x=strategy(0, lost={"a": "fusion", "b": "fusion"}), y=strategy(0, lost={"b": "rerank"}))
    assert [row[:3] for row in hardest(found, QUESTIONS).rows] == [("b", "–", "2 of 2"), ("a", "direct", "1 of 2")]
    assert len(hardest(found, QUESTIONS, n=1).rows) == 1


def markdown(found):
    material = Material(found, {}, QUESTIONS, documents={}, relevant={}, key="key.jsonl")
    return REPORTS["markdown"].render(material)["latest.md"]


def test_text_of_a_question_breaks_no_table():
    page = markdown(whole(**{"headers+vector": strategy(0.5, lost={"b": "fusion"})}))
    [row] = [line for line in page.splitlines() if line.startswith("| b |")]
    assert row == "| b | – | 1 of 10 | a\\|b? @\u200bteam &lt;\\!-- x --&gt; \\` |"


def test_the_name_of_a_type_breaks_no_table():
    made = strategy(0.5)
    made = made.model_copy(update={"by_type": {"a|b_c": SliceResult.of(2, {"hit@3": 0.5})}})
    page = markdown(results(**{"headers+vector": made}))
    assert "| strategy | a\\|b\\_c (2) |" in page


def test_an_incomplete_run_is_told_first_with_its_errors():
    page = markdown(results(**{"headers+vector": strategy(0, error="ValueError: no")}))
    assert "**Incomplete: 1 answer ended in an error**" in page
    assert "- `headers+vector`, `a`: ValueError: no" in page


def test_a_filter_that_was_on_is_told():
    assert "left out" not in markdown(whole())
    assert "A filter left out 3 questions of the answer key." in markdown(whole(left_out=3))


def test_one_question_is_worth_its_share():
    assert "One question is worth 50.00 points." in markdown(whole())


def test_a_figure_of_a_type_has_its_interval_and_all_pieces_stand_beside_any():
    """Wilson by hand: 13 of 20, z 1.96, is 43.3 to 81.9; 15 of 30 is 33.2 to 66.8, 6 of 30 9.5 to 37.3."""
    slices = {
        "joined": SliceResult.of(30, {"hit@3": 0.5, "full@3": 0.2}),
        "vague": SliceResult.of(20, {"hit@3": 0.65, "full@3": 0.65}),
    }
    found = results(names=("hit@3", "full@3"), **{"headers+vector": strategy(0.5), "a+b": strategy(0.5, error="boom")})
    found = found.model_copy(update={"types": {"joined": ("a",), "vague": ("b",)}})
    scored = found.strategies["headers+vector"]
    two = scored.questions["a"].model_copy(update={"ranks": (1, None)})
    found.strategies["headers+vector"] = scored.model_copy(
        update={"by_type": slices, "questions": scored.questions | {"a": two}}
    )
    assert by_type(found).header == ("strategy", "joined (30)", "joined full@3", "vague (20)")
    assert by_type(found).rows == (
        ("headers+vector", "50.0 (33.2–66.8)", "20.0 (9.5–37.3)", "65.0 (43.3–81.9)"),
    )  # fmt: skip


def test_there_are_no_figures_by_type_without_types():
    assert by_type(results(**{"headers+vector": strategy(0.5, error="boom")})) is None


def test_a_report_names_the_files_that_it_may_leave_behind():
    assert REPORTS["trec"].names(["a+b", "c"]) == {
        "latest.a+b.run",
        "latest.a+b.qrels",
        "latest.c.run",
        "latest.c.qrels",
    }
    assert REPORTS["comment"].names(["a+b", "c"]) == REPORTS["comment"].names([]) == {"latest.comment.md"}
