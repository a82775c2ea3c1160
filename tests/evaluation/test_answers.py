"""Verdicts on answers by hand-counted spans, rows that can be used again, samples and counts."""

import json
import logging
import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.errors import StorageError
from docmind.evaluation import answers
from docmind.evaluation.answers import (
    VERDICTS,
    answer_key_of,
    failed_row,
    read_rows,
    row,
    span_judge,
    span_verdict,
    stratified,
    summary,
)
from docmind.files import append_line
from docmind.types import Answer, Chunk, Citation, Document, Gold, Hit, Question, Ranking, Span, Turn, Usage

PAGE = Document("page.md", "Page", "0123456789" * 10)
HIT = Hit(Chunk.of(PAGE, (Span("page.md", 0, 100),), 0), 1.0, 1)


def span(start, end, page="page.md"):
    return Span(page, start, end)


def answer(*spans, abstained=False, **more):
    """An answer that cites one passage for each tuple of spans."""
    cited = tuple(Citation(number, HIT, found) for number, found in enumerate(spans, start=1))
    return Answer("Five days [1].", cited, abstained, Ranking((HIT,)), "extractive", **more)


TEN = Gold((span(10, 20),))
"""Ten characters: eight of them cover it."""
OTHER = Gold((span(50, 60), span(0, 5, "also.md")))
"""Ten characters here, or five of another page."""


@pytest.mark.parametrize(
    ("gold", "spans", "verdict"),
    [
        ((TEN,), [(span(10, 20),)], "correct"),
        ((TEN,), [(span(0, 18),)], "correct"),  # 8 of 10
        ((TEN,), [(span(0, 17),)], "wrong"),  # 7 of 10
        ((TEN,), [(span(10, 14), span(16, 20))], "correct"),  # 4 + 4, in two sentences
        ((TEN,), [(span(10, 14),), (span(16, 20),)], "correct"),  # of two citations
        ((TEN,), [(span(10, 15), span(12, 17))], "wrong"),  # 10 to 17: what stands twice counts once
        ((TEN,), [(span(10, 20, "other.md"),)], "wrong"),
        ((TEN,), [()], "wrong"),  # a citation of nothing
        ((OTHER,), [(span(0, 4, "also.md"),)], "correct"),  # 4 of 5 of the second alternative
        ((OTHER,), [(span(50, 54), span(0, 2, "also.md"))], "wrong"),  # halves of two alternatives are no whole
        ((TEN, OTHER), [(span(10, 20), span(50, 60))], "correct"),
        ((TEN, OTHER), [(span(10, 20),), (span(0, 5, "also.md"),)], "correct"),
        ((TEN, OTHER), [(span(10, 20),)], "partial"),
        ((TEN, OTHER), [(span(50, 58),)], "partial"),
        ((TEN, OTHER), [(span(30, 40),)], "wrong"),
        ((Gold(doc_id="page.md"),), [(span(99, 100),)], "correct"),  # a whole page is the evidence
        ((), [(span(10, 20),)], "wrong"),  # unanswerable, and answered
        ((TEN,), [], "unsupported"),
        ((), [], "unsupported"),
    ],
)
def test_a_verdict_counts_the_characters_that_were_cited(gold, spans, verdict):
    assert span_verdict(Question("q1", "How long?", gold), answer(*spans)) == verdict


@pytest.mark.parametrize("gold", [(), (TEN,)])
def test_an_abstention_is_one_whether_right_or_not(gold):
    assert span_verdict(Question("q1", "How long?", gold), answer(abstained=True)) == "abstained"


def test_a_row_tells_the_answer_and_its_grounds():
    made = row(
        Question("q1", "How long?"),
        "key",
        answer((span(10, 20), span(30, 31)), removed=(7,), usage=Usage(100, 20), timings={"answer": 0.123456}, confidence=0.5),
        "correct",
        reason="so",
    )  # fmt: skip
    assert made == {
        "id": "q1", "key": "key", "question": "How long?", "answer": "Five days [1].",
        "citations": [{"number": 1, "chunk": HIT.chunk.id, "spans": [["page.md", 10, 20], ["page.md", 30, 31]]}],
        "removed": [7], "abstained": False, "confidence": 0.5, "verdict": "correct", "usage": [100, 20],
        "seconds": {"answer": 0.1235}, "error": None, "reason": "so",
    }  # fmt: skip


BASE = {
    "question": Question("q1", "How long?", (TEN,), answer="Five days."),
    "answerer": "openai/a",
    "judge": "span",
    "prompt": "rules",
    "passages": ["Five days.", "Six."],
}
CHANGES = {
    "another id": {"question": Question("q2", "How long?", (TEN,), answer="Five days.")},
    "other words": {"question": Question("q1", "How long is it?", (TEN,), answer="Five days.")},
    "another right answer": {"question": Question("q1", "How long?", (TEN,), answer="Six days.")},
    "other gold": {"question": Question("q1", "How long?", (OTHER,), answer="Five days.")},
    "more gold": {"question": Question("q1", "How long?", (TEN, OTHER), answer="Five days.")},
    "no gold": {"question": Question("q1", "How long?", (), answer="Five days.")},
    "a page as gold": {"question": Question("q1", "How long?", (Gold(doc_id="page.md"),), answer="Five days.")},
    "another page as gold": {"question": Question("q1", "How long?", (Gold(doc_id="b.md"),), answer="Five days.")},
    "something said before": {
        "question": Question("q1", "How long?", (TEN,), answer="Five days.", history=(Turn("user", "In Spain."),))
    },
    "another model": {"answerer": "openai/b"},
    "another judge": {"judge": "mistral/c"},
    "another prompt": {"prompt": "other rules"},
    "another passage": {"passages": ["Five days.", "Seven."]},
    "another order": {"passages": ["Six.", "Five days."]},
    "one passage less": {"passages": ["Five days."]},
    "passages joined": {"passages": ["Five days.Six."]},
}


def test_the_key_of_an_answer_changes_with_all_it_comes_from():
    keys = {name: answer_key_of(**BASE | change) for name, change in CHANGES.items()}
    keys["nothing"] = answer_key_of(**BASE)
    assert len(set(keys.values())) == len(keys)
    assert answer_key_of(**BASE) == keys["nothing"]


def test_the_key_does_not_change_with_what_tells_nothing_of_the_answer():
    labelled = Question("q1", "How long?", (TEN,), answer="Five days.", type="direct", split="dev", line=7)
    swapped = Gold(OTHER.spans[::-1])
    assert answer_key_of(**BASE | {"question": labelled}) == answer_key_of(**BASE)
    assert answer_key_of(**BASE | {"question": Question("q1", "a", (swapped,))}) == answer_key_of(
        **BASE | {"question": Question("q1", "a", (OTHER,))}
    )


def test_another_rule_of_the_span_judge_is_another_judge(monkeypatch):
    before = span_judge()
    assert span_judge() == before
    monkeypatch.setattr(answers, "COVERED", 0.9)
    assert span_judge() != before


def test_rows_are_read_by_key_and_the_last_of_a_key_counts(tmp_path):
    path = tmp_path / "rows.jsonl"
    for found in ({"key": "a", "n": 1}, {"key": "b", "n": 2}, {"key": "a", "n": 3}):
        append_line(path, json.dumps(found))
    assert read_rows(path) == {"a": {"key": "a", "n": 3}, "b": {"key": "b", "n": 2}}


def test_where_there_is_no_file_there_are_no_rows(tmp_path):
    assert read_rows(tmp_path / "rows.jsonl") == {}


LINES = [json.dumps({"key": key, "answer": f"“{key}” … é"}, ensure_ascii=False).encode() for key in "abc"]


@pytest.mark.parametrize("length", [1, 8, 25, 26, len(LINES[2]) - 1])  # 25 and 26 end within “
def test_a_row_cut_at_the_end_is_left_out_and_the_next_stands_on_a_line_of_its_own(tmp_path, caplog, length):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join([*LINES[:2], LINES[2][:length]]))
    with caplog.at_level(logging.WARNING):
        assert set(read_rows(path)) == {"a", "b"}
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}:3: is no whole row, and its question is asked again."
    ]
    append_line(path, LINES[2].decode())
    assert set(read_rows(path)) == {"a", "b", "c"}


@pytest.mark.parametrize("line", [LINES[1][:25], b"\xff", b"[]", b"7", b'"key"', b"{}", b'{"key": []}', b"\x00", b"{"])
def test_a_row_cut_in_the_middle_is_left_out_with_file_and_line(tmp_path, caplog, line):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join([LINES[0], line, LINES[2], b""]))
    with caplog.at_level(logging.WARNING):
        assert set(read_rows(path)) == {"a", "c"}
    assert [record.getMessage().partition(": ")[0] for record in caplog.records] == [f"{path}:2"]


def test_broken_characters_and_line_separators_within_a_row_survive(tmp_path, caplog):
    path = tmp_path / "rows.jsonl"
    found = {"key": "a", "answer": "\ud800 \u2028 \x85 \x1e"}
    append_line(path, json.dumps(found, ensure_ascii=False))
    assert read_rows(path) == {"a": found}
    assert not caplog.records


def test_rows_that_cannot_be_read_are_told(tmp_path):
    with pytest.raises(StorageError, match=r"cannot be read: Is a directory\. Move the file away"):
        read_rows(tmp_path)


def key_of(**types):
    """Questions of these types, mixed."""
    made = [Question(f"{kind}{i}", "?", type=kind) for kind, n in types.items() for i in range(n)]
    return tuple(random.Random(1).sample(made, len(made)))


def test_a_sample_has_each_type_in_proportion():
    questions = key_of(direct=60, paraphrase=30, none=10)
    assert Counter(q.type for q in stratified(questions, 10)) == {"direct": 6, "paraphrase": 3, "none": 1}
    # 7 of 100: 4.2, 2.1, 0.7: 4 + 2 + 0, and the seventh to the largest remainder
    assert Counter(q.type for q in stratified(questions, 7)) == {"direct": 4, "paraphrase": 2, "none": 1}
    # 1 of 100: 0.6, 0.3, 0.1
    assert Counter(q.type for q in stratified(questions, 1)) == {"direct": 1}


def test_types_with_equal_remainders_are_served_by_name():
    assert [q.type for q in stratified(key_of(b=2, a=2, c=2), 1)] == ["a"]  # a third each


def test_a_sample_is_drawn_with_its_seed_and_keeps_the_order_of_the_key():
    questions = key_of(direct=60, paraphrase=40)
    drawn = stratified(questions, 20)
    assert stratified(questions, 20) == drawn
    assert stratified(questions, 20, seed=1) != drawn
    places = [questions.index(q) for q in drawn]
    assert places == sorted(places)
    assert places != list(range(20)), "not the first of each type"


@pytest.mark.parametrize("n", [6, 7, 1_000])
def test_a_sample_of_all_and_more_is_the_key(n):
    questions = key_of(a=4, b=2)
    assert stratified(questions, n) == questions


def test_questions_without_a_type_are_a_group():
    questions = (*key_of(a=5), *(Question(f"n{i}", "?") for i in range(5)))
    assert Counter(q.type for q in stratified(questions, 4)) == {"a": 2, None: 2}


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 30), min_size=1), st.integers(1, 200))
def test_a_sample_has_its_size_and_no_type_is_off_by_one(types, n):
    questions = key_of(**types)
    drawn = stratified(questions, n)
    assert len(drawn) == len({q.id for q in drawn}) == min(n, len(questions))
    counts = Counter(q.type for q in drawn)
    for kind, size in types.items():
        share = min(n, len(questions)) * size / len(questions)
        assert math.floor(share) <= counts[kind] <= math.ceil(share)


KEY = (
    *(Question(f"d{i}", "?", (TEN,), type="direct", split="dev") for i in range(4)),
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


def rows():
    for question in KEY:
        verdict, confidence = SAID[question.id]
        if verdict is None:
            yield failed_row(question, "key", "429 for ever")
        else:
            yield row(question, "key", answer(confidence=confidence), verdict)


def counts(n, judged, **verdicts):
    counted = {verdict: verdicts.get(verdict, 0) for verdict in VERDICTS}
    return {
        "n": n,
        "judged": judged,
        **counted,
        "rates": {v: c / judged for v, c in counted.items()} if judged else None,
    }


def test_a_summary_counts_verdicts_and_what_has_none():
    found = summary(list(rows()), KEY)
    assert found["counts"] == {"answerable": 7, "unanswerable": 3}
    assert found["answerable"] == {
        "all": counts(7, 6, correct=2, partial=1, wrong=1, unsupported=1, abstained=1),
        "direct": counts(4, 4, correct=2, partial=1, wrong=1),
        "vague": counts(3, 2, unsupported=1, abstained=1),  # a failed one is in no rate
        "dev": counts(4, 4, correct=2, partial=1, wrong=1),
        "test": counts(3, 2, unsupported=1, abstained=1),
    }
    assert found["unanswerable"] == {
        "all": counts(3, 3, wrong=1, abstained=2),
        "near": counts(1, 1, wrong=1),
        "far": counts(2, 2, abstained=2),
        "dev": counts(1, 1, wrong=1),
        "test": counts(2, 2, abstained=2),
    }


def test_confidence_is_measured_against_near_and_far_ones_and_needs_both_sides():
    found = summary(list(rows()), KEY)["confidence"]
    # answerable: .9 .8 .7 .3 .2; near .8; far .1 .3. Pairs won, ties half:
    # near: 1 + ½ of 5; far: over .1 all 5, over .3: 3 + ½. In all (1.5 + 5 + 3.5) of 15.
    assert [found["all"][group]["value"] for group in ("near", "far", "all")] == pytest.approx([0.3, 0.85, 10 / 15])
    assert (found["all"]["far"]["n"], found["all"]["far"]["m"]) == (5, 2)
    assert found["dev"]["far"] is None
    assert found["dev"]["near"]["value"] == pytest.approx(1.5 / 4)
    assert found["test"]["far"]["value"] == pytest.approx(0.5)  # .2 over .1, and under .3


def test_where_nothing_was_judged_there_is_no_rate():
    failed = [failed_row(question, "key", "refused") for question in KEY]
    found = summary(failed, KEY)
    assert found["answerable"]["all"] == counts(7, 0)
    assert found["confidence"]["all"]["all"] is None
