import json
import math
import random
from pathlib import Path

import pytest

from docmind.errors import BaselineError, IncompleteError, RecordError
from docmind.evaluation.record import layout
from docmind.evaluation.record.baseline import baseline, read_baseline
from docmind.evaluation.record.layout import checksum
from docmind.evaluation.record.reading import earlier_strategies, read_record
from docmind.evaluation.record.results import Graded, results
from docmind.evaluation.record.types import GoldRule, HitResult, Instrument, MetricsRule, QuestionResult
from docmind.evaluation.record.writing import dumps
from docmind.evaluation.scoring.asking import run
from docmind.evaluation.scoring.attribution import Winners, ceiling, lost_at, shown_by
from docmind.evaluation.scoring.measures import standard
from docmind.evaluation.scoring.score import score
from docmind.types import Stage

METRICS = tuple(measure.name for measure in standard())


@pytest.fixture
def questions(chunks, ask, gold_in):
    return [
        ask("p1", gold_in(chunks[0]), gold_in(chunks[1]), type="direct", split="dev"),
        ask("p2", gold_in(chunks[9]), type="vague", split="test"),
        ask("none", type="unanswerable"),
    ]


@pytest.fixture
def grade(chunks, scripted):
    """A strategy, run, scored and attributed over questions, each answered by what the script says or four chunks."""

    def make(name, questions, **script):
        script = {question.text: script.get(question.text, chunks[:4]) for question in questions}
        retriever = scripted(script, (Stage("vector", "candidates", tuple(chunks[:4]), 0.1),))
        done = run(name, retriever, questions)
        winning = Winners(questions).among(chunks, shown_by(retriever))
        lost = {
            question.id: lost_at(outcome, question, winning)
            for question, outcome in zip(questions, done.outcomes, strict=True)
        }
        chunker, mode = name.split("+")
        scores = score(done, questions, standard(), len)
        return Graded(done, chunker, mode, scores, ceiling(winning, questions), lost)

    return make


def instrument(questions, pages=("page.md",)) -> Instrument:
    return Instrument(
        answer_key="k",
        pages=dict.fromkeys(pages, "f" * 64),
        questions=dict.fromkeys(sorted(question.id for question in questions), "f" * 64),
        gold_rule=GoldRule(covered=0.8, code="c"),
        metrics=MetricsRule(names=METRICS, depth=10, code="c"),
    )


def made(graded, questions, treatment=None):
    return results(graded, questions, instrument=instrument(questions), treatment=treatment or {})


def test_the_file_has_the_published_form(grade, questions, chunks) -> None:
    found = json.loads(dumps(made([grade("headers+vector", questions)], questions, {"code": "abc"})))
    strategy = found["strategies"]["headers+vector"]
    assert list(found) == ["schema", "fingerprint", "counts", "types", "splits", "leakage", "rules", "strategies"]
    assert found["types"] == {"direct": ["p1"], "unanswerable": ["none"], "vague": ["p2"]}
    assert found["schema"] == "docmind.results/2"
    assert list(found["fingerprint"]["instrument"]) == ["answer_key", "pages", "questions", "gold_rule", "metrics"]
    assert found["fingerprint"]["treatment"] == {"code": "abc"}
    assert found["counts"] == {"answerable": 2, "unanswerable": 1, "left_out": 0, "errors": 0}
    assert list(strategy) == ["chunker", "mode", "metrics", "by_type", "by_split", "ceiling", "questions"]
    assert (strategy["chunker"], strategy["mode"]) == ("headers", "vector")
    assert list(strategy["metrics"]) == list(METRICS)
    assert strategy["metrics"]["hit@3"] == 1 / 2
    assert list(strategy["by_type"]) == ["direct", "vague"]
    assert list(strategy["by_type"]["direct"]) == ["n", *METRICS]
    assert strategy["by_split"]["test"]["n"] == 1
    assert strategy["ceiling"] == 1
    hits = strategy["questions"]["p1"]["hits"]
    assert hits[1] == {"chunk": chunks[1].id, "source": "page.md", "spans": [[100, 200]], "score": 0.5}
    rest = {id_: {k: v for k, v in q.items() if k != "hits"} for id_, q in strategy["questions"].items()}
    assert rest == {
        "none": {"ranks": [], "lost_at": None, "error": None},
        "p1": {"ranks": [1, 2], "lost_at": None, "error": None},
        "p2": {"ranks": [None], "lost_at": "candidates", "error": None},
    }
    assert len(strategy["questions"]["none"]["hits"]) == 4


def test_errors_are_counted_by_strategy_and_question_and_leave_no_metrics(grade, questions) -> None:
    fails = {"p1": ValueError("x"), "none": ValueError("y")}
    graded = [grade("a+b", questions, **fails), grade("a+c", questions, p1=ValueError("x")), grade("a+d", questions)]
    found = made(graded, questions)
    assert found.counts.errors == 3
    assert found.strategies["a+b"].metrics is None
    assert found.strategies["a+b"].errors == {"none": "ValueError: y", "p1": "ValueError: x"}
    failed = QuestionResult(ranks=(), lost_at=None, hits=(), error="ValueError: x")
    assert found.strategies["a+b"].questions["p1"] == failed
    assert found.strategies["a+d"].metrics["hit@3"] == 1 / 2
    with pytest.raises(IncompleteError, match="3 questions ended in an error"):
        baseline(found)


def test_a_question_knows_its_best_rank_and_what_stands_at_one() -> None:
    hit = HitResult(chunk="a", source="page.md", spans=((0, 10),), score=1.0)
    found = QuestionResult(ranks=(None, 4, 2), hits=(hit,))
    assert (found.rank, found.at(1), found.at(2)) == (2, hit, None)
    kept = QuestionResult(ranks=(None,), chunks=("a", "b"))
    assert (kept.rank, kept.at(2), kept.at(3)) == (None, "b", None)


def test_the_order_of_questions_changes_no_byte_and_strategies_keep_theirs(grade, questions) -> None:
    def written(asked, names):
        return dumps(made([grade(n, asked) for n in names], asked))

    assert written(questions, ["c+d", "a+b"]) == written(questions[::-1], ["c+d", "a+b"])
    assert list(json.loads(written(questions, ["c+d", "a+b"]))["strategies"]) == ["c+d", "a+b"]


def test_layout_is_json_that_rounds_and_can_be_read() -> None:
    value = {"b": [0.12345678, -0.0000001, 1e-6, 3], "a": (True, None, "é\ud800"), "l": ["x" * 100] * 2, "e": {}}
    x = "x" * 100
    assert layout.dumps(value) == (
        "{\n"
        ' "b": [0.123457, 0.0, 1e-06, 3],\n'
        ' "a": [true, null, "\\u00e9\\ud800"],\n'
        f' "l": [\n  "{x}",\n  "{x}"\n ],\n'
        ' "e": {}\n'
        "}\n"
    )
    rounded = {"b": [0.123457, 0.0, 0.000001, 3], "a": [True, None, "é\ud800"], "l": [x, x], "e": {}}
    assert json.loads(layout.dumps(value)) == rounded


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_file_holds_nan(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        layout.dumps({"a": [1.0, value]})


def test_a_checksum_is_of_values_as_they_are_read_back() -> None:
    assert checksum({"a": 1, "b": (0.1234567,)}) == checksum({"b": [0.123457], "a": 1})
    assert checksum({"a": 1}) != checksum({"a": 2})


def test_a_baseline_is_read_back_as_it_was_written(grade, questions, chunks, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    reference = baseline(made([grade("a+b", questions)], questions, {"b": 1, "a": [None, "é"]}))
    path.write_text(dumps(reference))
    found = read_baseline(path)
    asked = found.strategies["a+b"].questions
    assert asked["p1"] == QuestionResult(ranks=(1, 2), chunks=tuple(c.id for c in chunks[:3]))
    assert asked["none"] == QuestionResult(ranks=(), chunks=()), "it can be neither won nor lost"
    assert found.strategies["a+b"].metrics["hit@3"] == 1 / 2
    assert found.fingerprint == reference.fingerprint
    assert found.kind == "baseline"
    assert dumps(found) == path.read_text()


def test_a_baseline_that_was_edited_or_cut_is_refused(grade, questions, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    text = dumps(baseline(made([grade("a+b", questions)], questions)))
    for edited, message in [
        (text.replace('"ranks": [1, 2]', '"ranks": [1, 1]'), "checksum: is of other contents, so the file was changed"),
        (text.replace('"checksum"', '"check"'), "check: is unknown"),
        (text[: text.index(',\n "checksum"')] + "}", "checksum: is missing"),
        (text[: len(text) // 2], "is not whole JSON"),
        ("", "is not whole JSON"),
        (text.replace("0.5", "NaN"), r"strategies\.a\+b\.metrics\.hit@1: nan was found; expected: a finite number"),
        (text.replace("docmind.baseline/2", "docmind.baseline/9"), "docmind.baseline/2 was expected"),
        (text.replace("docmind.baseline/2", "docmind.baseline/1"), "is a docmind.baseline/1, of an earlier version"),
        (dumps(made([grade("a+b", questions)], questions)), "its schema is 'docmind.results/2'"),
        ("[]", "its schema is None"),
    ]:
        assert edited != text
        path.write_text(edited)
        with pytest.raises(BaselineError, match=message) as raised:
            read_baseline(path)
        assert str(raised.value).startswith(f"{path}: ")
        assert str(raised.value).endswith("make it anew: docmind eval --save-baseline.")
    path.write_bytes(b"\xff")
    with pytest.raises(BaselineError, match="is not whole JSON"):
        read_baseline(path)


def test_white_space_alone_changes_no_baseline(grade, questions, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    reference = dumps(baseline(made([grade("a+b", questions)], questions)))
    path.write_bytes(json.dumps(json.loads(reference), indent=3).replace("\n", "\r\n").encode())
    assert dumps(read_baseline(path)) == reference


def test_no_baseline_yet_is_no_damaged_one(tmp_path: Path) -> None:
    with pytest.raises(IncompleteError, match=r"there is no baseline\. Name one with --baseline.*--save-baseline"):
        read_baseline(tmp_path / "baseline.json")


def test_either_file_is_read_back_and_others_refused(grade, questions, tmp_path: Path) -> None:
    path = tmp_path / "latest.json"
    graded = [grade("a+b", questions), grade("a+c", questions, p1=ValueError("\ud800 é"))]
    for record in (made(graded, questions), baseline(made(graded[:1], questions))):
        path.write_text(dumps(record))
        found = read_record(path)
        assert dumps(found) == path.read_text()
        assert (found.kind, found.counts, found.types) == (record.kind, record.counts, record.types)
    path.write_text(layout.dumps({"schema": "other/1"}))
    expected = (
        r"its schema is 'other/1', docmind.results/2 or docmind.baseline/2 was expected\. Make it anew: docmind eval"
    )
    with pytest.raises(RecordError, match=expected):
        read_record(path)
    path.write_text(layout.dumps({"schema": "docmind.results/1"}))
    with pytest.raises(RecordError, match=r"is a docmind\.results/1, of an earlier .* Make it anew: docmind eval\.$"):
        read_record(path)
    with pytest.raises(RecordError, match="cannot be read: No such file"):
        read_record(tmp_path / "none.json")


def test_the_strategies_of_an_earlier_file_are_known_whatever_its_version(tmp_path: Path) -> None:
    path = tmp_path / "latest.json"
    for text, names in [
        ('{"schema": "docmind.results/1", "strategies": {"b": 1, "a": 2}}', ("b", "a")),
        ('{"strategies": []}', ()), ("[]", ()), ("{", ()), ('{"strategies": {"a": 1, "a": 2}}', ()),
    ]:  # fmt: skip
        path.write_text(text)
        assert earlier_strategies(path) == names
    assert earlier_strategies(tmp_path / "none.json") == ()


def test_a_baseline_of_the_full_matrix_and_key_is_under_1_mb(chunks, grade, ask, gold_in) -> None:
    """Ten strategies, 340 questions, 80 pages; ranks and ids as long as they get."""
    generator = random.Random(1)
    questions = [
        ask(f"p{i:03}", *map(gold_in, generator.sample(chunks, 3)), type=f"type{i % 6}", split="dev")
        for i in range(340)
    ]
    graded = [grade(f"recursive_1000+bm25_stem{i}", questions) for i in range(10)]
    pages = [f"countries/leave-{i}.md" for i in range(80)]
    found = results(graded, questions, instrument=instrument(questions, pages), treatment={})
    assert len(dumps(baseline(found))) < 1_000_000
