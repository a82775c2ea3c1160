import json
import math
import random
from pathlib import Path

import pytest

from docmind.errors import IncompleteError, StorageError
from docmind.evaluation.record.baseline import baseline, read_baseline
from docmind.evaluation.record.layout import checksum, dumps
from docmind.evaluation.record.results import Graded, read_results, results
from docmind.evaluation.scoring.asking import run
from docmind.evaluation.scoring.attribution import ceiling, lost_at
from docmind.evaluation.scoring.metrics import METRICS
from docmind.evaluation.scoring.score import score
from docmind.types import Stage


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
        lost = {
            question.id: lost_at(outcome, question, chunks)
            for question, outcome in zip(questions, done.outcomes, strict=True)
        }
        return Graded(done, score(done, questions, len), ceiling(chunks, questions), lost)

    return make


def test_the_object_has_the_published_form(grade, questions, chunks) -> None:
    found = results(
        [grade("headers+vector", questions)], questions, instrument={"depth": 10}, treatment={"code": "abc"}
    )
    strategy = found["strategies"]["headers+vector"]
    assert list(found) == ["schema", "fingerprint", "counts", "types", "leakage", "strategies"]
    assert {kind: sorted(ids) for kind, ids in found["types"].items()} == found["types"]
    assert found["schema"] == "docmind.results/1"
    assert found["fingerprint"] == {"instrument": {"depth": 10}, "treatment": {"code": "abc"}}
    assert found["counts"] == {"answerable": 2, "unanswerable": 1, "left_out": 0, "errors": 0}
    assert list(strategy) == ["metrics", "by_type", "by_split", "ceiling", "questions"]
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
        "none": {"rank": None, "ranks": [], "lost_at": None, "error": None},
        "p1": {"rank": 1, "ranks": [1, 2], "lost_at": None, "error": None},
        "p2": {"rank": None, "ranks": [None], "lost_at": "candidates", "error": None},
    }
    assert len(strategy["questions"]["none"]["hits"]) == 4


def test_errors_are_counted_by_strategy_and_question_and_leave_no_metrics(grade, questions) -> None:
    fails = {"p1": ValueError("x"), "none": ValueError("y")}
    graded = [grade("a+b", questions, **fails), grade("a+c", questions, p1=ValueError("x")), grade("a+d", questions)]
    found = results(graded, questions, instrument={}, treatment={})
    assert found["counts"]["errors"] == 3
    assert found["strategies"]["a+b"]["metrics"] is None
    assert found["strategies"]["a+b"]["questions"]["p1"] == {
        "rank": None,
        "ranks": [],
        "lost_at": None,
        "hits": [],
        "error": "ValueError: x",
    }
    assert found["strategies"]["a+d"]["metrics"]["hit@3"] == 1 / 2
    with pytest.raises(IncompleteError, match="3 questions ended in an error"):
        baseline(found)


def test_the_order_of_strategies_and_questions_changes_no_byte(grade, questions) -> None:
    def written(asked, names):
        return dumps(results([grade(n, asked) for n in names], asked, instrument={}, treatment={}))

    assert written(questions, ["a+b", "c+d"]) == written(questions[::-1], ["c+d", "a+b"])


def test_layout_is_json_that_rounds_and_can_be_read() -> None:
    value = {"b": [0.12345678, -0.0000001, 1e-6, 3], "a": (True, None, "é\ud800"), "l": ["x" * 100] * 2, "e": {}}
    x = "x" * 100
    assert dumps(value) == (
        "{\n"
        ' "b": [0.123457, 0.0, 1e-06, 3],\n'
        ' "a": [true, null, "\\u00e9\\ud800"],\n'
        f' "l": [\n  "{x}",\n  "{x}"\n ],\n'
        ' "e": {}\n'
        "}\n"
    )
    rounded = {"b": [0.123457, 0.0, 0.000001, 3], "a": [True, None, "é\ud800"], "l": [x, x], "e": {}}
    assert json.loads(dumps(value)) == rounded


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_file_holds_nan(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        dumps({"a": [1.0, value]})


def test_a_checksum_is_of_values_as_they_are_read_back() -> None:
    assert checksum({"a": 1, "b": (0.1234567,)}) == checksum({"b": [0.123457], "a": 1})
    assert checksum({"a": 1}) != checksum({"a": 2})


def test_a_baseline_is_read_back_as_it_was_written(grade, questions, chunks, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    reference = baseline(results([grade("a+b", questions)], questions, instrument={"depth": 10}, treatment={}))
    path.write_text(dumps(reference))
    found = read_baseline(path)
    assert found["strategies"]["a+b"]["questions"]["p1"] == {"ranks": [1, 2], "chunks": [c.id for c in chunks[:3]]}
    assert found["strategies"]["a+b"]["metrics"]["hit@3"] == 1 / 2
    assert found["fingerprint"]["instrument"] == {"depth": 10}
    assert dumps(found) == path.read_text()


def test_a_baseline_that_was_edited_or_cut_is_refused(grade, questions, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    text = dumps(baseline(results([grade("a+b", questions)], questions, instrument={}, treatment={})))
    for edited, message in [
        (text.replace('"ranks": [1, 2]', '"ranks": [1, 1]'), "was changed after it was written"),
        (text.replace('"checksum"', '"check"'), "was changed after it was written"),
        (text[: len(text) // 2], "is not whole JSON"),
        ("", "is not whole JSON"),
        (text.replace("0.5", "NaN"), "NaN is no JSON"),
        (text.replace("docmind.baseline/1", "docmind.baseline/9"), "docmind.baseline/1 was expected"),
        ("[]", "its schema is None"),
    ]:
        assert edited != text
        path.write_text(edited)
        with pytest.raises(StorageError, match=message) as raised:
            read_baseline(path)
        assert str(path) in str(raised.value)
        assert "--save-baseline" in str(raised.value)
    path.write_bytes(b"\xff")
    with pytest.raises(StorageError, match="is not whole JSON"):
        read_baseline(path)


def test_white_space_alone_changes_no_baseline(grade, questions, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    reference = baseline(results([grade("a+b", questions)], questions, instrument={}, treatment={}))
    path.write_bytes(json.dumps(json.loads(dumps(reference)), indent=3).replace("\n", "\r\n").encode())
    assert read_baseline(path)["checksum"] == reference["checksum"]


def test_no_baseline_yet_is_no_damaged_one(tmp_path: Path) -> None:
    with pytest.raises(IncompleteError, match=r"there is no baseline\. Name one with --baseline.*--save-baseline"):
        read_baseline(tmp_path / "baseline.json")


def test_results_are_read_back_and_others_refused(grade, questions, tmp_path: Path) -> None:
    path = tmp_path / "latest.json"
    path.write_text(dumps(results([grade("a+b", questions)], questions, instrument={}, treatment={})))
    assert dumps(read_results(path)) == path.read_text()
    path.write_text(dumps({"schema": "other/1"}))
    with pytest.raises(StorageError, match=r"its schema is 'other/1', docmind.results/1 was expected"):
        read_results(path)
    with pytest.raises(StorageError, match="cannot be read: No such file"):
        read_results(tmp_path / "none.json")


def test_a_baseline_of_the_full_matrix_and_key_is_under_1_mb(chunks, grade, ask, gold_in) -> None:
    """Ten strategies, 340 questions, 80 pages; ranks and ids as long as they get."""
    generator = random.Random(1)
    questions = [
        ask(f"p{i:03}", *map(gold_in, generator.sample(chunks, 3)), type=f"type{i % 6}", split="dev")
        for i in range(340)
    ]
    hashes = {"pages": {f"countries/leave-{i}.md": "f" * 64 for i in range(80)}}
    hashes["questions"] = {question.id: "f" * 64 for question in questions}
    graded = [grade(f"recursive_1000+bm25_stem{i}", questions) for i in range(10)]
    text = dumps(baseline(results(graded, questions, instrument=hashes, treatment={})))
    assert len(text) < 1_000_000
