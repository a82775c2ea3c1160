import inspect
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import docmind
from docmind.evaluation.key.dataset import AnswerKey
from docmind.evaluation.record.instrument import instrument
from docmind.evaluation.scoring import spans
from docmind.evaluation.scoring.measures import standard
from docmind.types import Chunk, Document, Gold, Hit, Question, Span, Turn, merge, overlap

METRICS = tuple(measure.name for measure in standard())
PAGE = Document("a.md", "A", "You get 10 days. Ask first.")
OTHER = Document("b.md", "B", "You get 10 days.")
TEN_DAYS = Gold(spans=(Span("a.md", 8, 15),))
QUESTION = Question("q", "How many?", (TEN_DAYS,))


def question_hash(question: Question, *documents: Document) -> str:
    return instrument(AnswerKey((question,), (), "00"), documents or (PAGE, OTHER), standard()).questions[question.id]


def test_it_names_all_that_a_figure_depends_on() -> None:
    found = instrument(AnswerKey((QUESTION,), (), "00"), [OTHER, PAGE], standard())
    assert list(found.model_dump()) == ["answer_key", "pages", "questions", "gold_rule", "metrics"]
    assert found.answer_key == "00"
    assert list(found.pages) == ["a.md", "b.md"]
    assert found.metrics.names == METRICS
    assert (found.metrics.depth, found.gold_rule.covered) == (10, 0.8)
    assert found == instrument(AnswerKey((QUESTION,), (), "00"), [PAGE, OTHER], standard())


def test_an_edit_elsewhere_in_the_page_leaves_the_question_comparable() -> None:
    moved = Document("a.md", "A", "New! You get 10 days. Ask first.")
    there = replace(QUESTION, gold=(Gold(spans=(Span("a.md", 13, 20),)),))
    assert question_hash(there, moved, OTHER) == question_hash(QUESTION)
    pages = [instrument(AnswerKey((), (), "00"), [p], standard()).pages["a.md"] for p in (PAGE, moved)]
    assert pages[0] != pages[1]


@pytest.mark.parametrize(
    "changed",
    [
        replace(QUESTION, text="How few?"),
        replace(QUESTION, history=(Turn("user", "Study leave?"),)),
        replace(QUESTION, doc_ids=frozenset(["a.md"])),
        replace(QUESTION, gold=(Gold(spans=(Span("a.md", 0, 15),)),)),
        replace(QUESTION, gold=(Gold(spans=(Span("b.md", 8, 15),)),)),
        replace(QUESTION, gold=(Gold(spans=(*TEN_DAYS.spans, Span("b.md", 8, 15))),)),
        replace(QUESTION, gold=(TEN_DAYS, Gold(spans=(Span("b.md", 8, 15),)))),
        replace(QUESTION, gold=(Gold(doc_id="a.md"),)),
        replace(QUESTION, gold=()),
    ],
)
def test_what_is_asked_and_what_answers_it_make_the_hash(changed: Question) -> None:
    assert question_hash(changed) != question_hash(QUESTION)


def test_labels_and_the_order_of_alternatives_do_not() -> None:
    both = (Span("a.md", 8, 15), Span("b.md", 8, 15))
    one, other = (replace(QUESTION, gold=(Gold(spans=spans),)) for spans in (both, both[::-1]))
    assert question_hash(one) == question_hash(other)
    assert question_hash(replace(QUESTION, type="direct", split="dev", answer="10", line=9)) == question_hash(QUESTION)


def rule_hash() -> str:
    return instrument(AnswerKey((), (), "00"), [], standard()).gold_rule.code


@pytest.mark.parametrize("part", [spans, Span, Chunk.shown.fget, Hit.shown.fget, merge, overlap])
def test_the_code_that_decides_what_counts_makes_the_gold_rule(part: object, monkeypatch: pytest.MonkeyPatch) -> None:
    before, read = rule_hash(), inspect.getsource

    def edited(other: object) -> str:
        return read(other) + "# edited\n" * (other is part)

    monkeypatch.setattr(inspect, "getsource", edited)
    assert rule_hash() != before


def test_no_two_threads_read_the_rule_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """To find a class, inspect parses its module, which Python 3.11 cannot do in two threads at once."""
    read, reading, most = inspect.getsource, 0, 0

    def watched(part: object) -> str:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        time.sleep(0.005)
        reading -= 1
        return read(part)

    expected = rule_hash()
    monkeypatch.setattr(inspect, "getsource", watched)
    with ThreadPoolExecutor(4) as threads:
        assert {found.result() for found in [threads.submit(rule_hash) for _ in range(4)]} == {expected}
    assert most == 1


def test_line_ends_do_not_count(tmp_path: Path) -> None:
    """The same sources with the line ends of Windows give the same hashes of the gold rule and of the metrics."""
    package = Path(docmind.__file__).parent
    for path in package.rglob("*.py"):
        copied = tmp_path / "docmind" / path.relative_to(package)
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    code = (
        "from docmind.evaluation.key.dataset import AnswerKey\n"
        "from docmind.evaluation.record.instrument import instrument\n"
        "from docmind.evaluation.scoring.measures import standard\n"
        "found = instrument(AnswerKey((), (), '00'), [], standard())\n"
        "print(found.gold_rule.code, found.metrics.code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    here = instrument(AnswerKey((), (), "00"), [], standard())
    assert done.stdout.split() == [here.gold_rule.code, here.metrics.code]
