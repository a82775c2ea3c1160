"""Verdicts on answers by hand-counted spans, rows that can be used again, and samples."""

import logging
import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.errors import StorageError
from docmind.evaluation.record import answerrows
from docmind.evaluation.record.answerrows import Kept, Keys, Row, read_rows, span_judge
from docmind.evaluation.scoring.answers import span_verdict, stratified
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


KEYS = ("of the answer", "of the verdict")


def test_a_row_tells_the_answer_and_its_grounds_and_gives_it_back():
    said = answer(
        (span(10, 20), span(30, 31)),
        removed=(7,), model="small", served="small-2 fp_1", thought="Hmm [2].",
        usage=Usage(100, 20), timings={"answer": 0.1235}, confidence=0.5,
        cut=True,
    )  # fmt: skip
    metrics = {"token_f1": 0.5, "exact_match": None}
    made = Row.of(
        Question("q1", "How long?"), KEYS, said, verdict="correct", reason="so", metrics=metrics, judged_by="large-3"
    )
    assert made.model_dump(mode="json") == {
        "id": "q1", "key": "of the verdict", "answer_key": "of the answer", "question": "How long?",
        "answer": "Five days [1].",
        "citations": [{"number": 1, "chunk": HIT.chunk.id, "spans": [["page.md", 10, 20], ["page.md", 30, 31]]}],
        "removed": [7], "abstained": False, "confidence": 0.5, "cut": True, "model": "small",
        "served": "small-2 fp_1", "judged_by": "large-3", "thought": "Hmm [2].", "usage": [100, 20],
        "seconds": {"answer": 0.1235}, "verdict": "correct", "reason": "so", "raw": None, "error": None,
        "metrics": {"token_f1": 0.5, "exact_match": None},
    }  # fmt: skip
    assert made.said(Ranking((HIT,)), "extractive") == said


def test_a_row_gives_back_no_answer_where_it_has_none_or_its_passages_are_others():
    failed = Row.of(Question("q1", "How long?"), KEYS, None, error="refused")
    assert failed.said(Ranking((HIT,)), "extractive") is None
    cited = Row.of(Question("q1", "How long?"), KEYS, answer((span(10, 20),)), error="not judged")
    assert cited.said(Ranking(()), "extractive") is None


BASE = {
    "question": Question("q1", "How long?", (TEN,), answer="Five days."),
    "answerer": "openai/a",
    "judge": "span",
    "prompt": "rules",
    "passages": [("c1", "Five days."), ("c2", "Six.")],
}


def keys_of(question, answerer, judge, prompt, passages, served="", judged_by=""):
    """The keys of the answer and of the verdict."""
    return Keys(question, answerer, judge, prompt, tuple(passages)).of(served, judged_by)


OF_THE_ANSWER = {
    "another id": {"question": Question("q2", "How long?", (TEN,), answer="Five days.")},
    "other words": {"question": Question("q1", "How long is it?", (TEN,), answer="Five days.")},
    "something said before": {
        "question": Question("q1", "How long?", (TEN,), answer="Five days.", history=(Turn("user", "In Spain."),))
    },
    "another model": {"answerer": "openai/b"},
    "another model served": {"served": "a-2026-01"},
    "another fingerprint of it": {"served": "a-2026-01 fp_2"},
    "another prompt": {"prompt": "other rules"},
    "another passage": {"passages": [("c1", "Five days."), ("c2", "Seven.")]},
    "another place": {"passages": [("c1", "Five days."), ("c3", "Six.")]},
    "another order": {"passages": [("c2", "Six."), ("c1", "Five days.")]},
    "one passage less": {"passages": [("c1", "Five days.")]},
    "passages joined": {"passages": [("c1", "Five days.Six.")]},
}
OF_THE_VERDICT = {
    "another right answer": {"question": Question("q1", "How long?", (TEN,), answer="Six days.")},
    "other gold": {"question": Question("q1", "How long?", (OTHER,), answer="Five days.")},
    "more gold": {"question": Question("q1", "How long?", (TEN, OTHER), answer="Five days.")},
    "no gold": {"question": Question("q1", "How long?", (), answer="Five days.")},
    "a page as gold": {"question": Question("q1", "How long?", (Gold(doc_id="page.md"),), answer="Five days.")},
    "another page as gold": {"question": Question("q1", "How long?", (Gold(doc_id="b.md"),), answer="Five days.")},
    "another judge": {"judge": "mistral/c"},
    "another judge served": {"judged_by": "c-2026-01"},
}


def test_the_keys_change_with_all_that_answer_and_verdict_come_from():
    changed = [keys_of(**BASE | change) for change in ({}, *OF_THE_ANSWER.values())]
    assert len({asked for asked, _ in changed}) == len({key for _, key in changed}) == len(changed)
    judged = [keys_of(**BASE | change) for change in ({}, *OF_THE_VERDICT.values())]
    assert {asked for asked, _ in judged} == {changed[0][0]}, "another judge needs no other answer"
    assert len({key for _, key in judged}) == len(judged)


def test_a_row_is_found_whatever_model_was_served_and_the_newest_first():
    question = BASE["question"]
    keys = Keys(question, "openai/a", "mistral/c", "rules", tuple(BASE["passages"]))
    rows = [
        Row.of(question, keys.of(served, by), answer((span(10, 20),), served=served), verdict="correct", judged_by=by)
        for served, by in (("a-1", "c-1"), ("a-2", "c-1"), ("a-2", "c-2"))
    ]
    assert Kept(rows).verdict(keys) == rows[2]
    assert Kept(rows[:1]).verdict(keys) == Kept(rows[:1]).answer(keys) == rows[0]
    assert Kept(rows).verdict(Keys(question, "openai/a", "mistral/d", "rules", keys.passages)) is None
    assert Kept(rows).answer(Keys(question, "openai/a", "mistral/d", "rules", keys.passages)) == rows[2]
    assert Kept([rows[0].model_copy(update={"judged_by": "c-9"})]).verdict(keys) is None, "its key is of another model"
    assert Kept([]).answer(keys) is None


def test_the_keys_do_not_change_with_what_tells_nothing_of_the_answer():
    labelled = Question("q1", "How long?", (TEN,), answer="Five days.", type="direct", split="dev", line=7)
    swapped = Gold(OTHER.spans[::-1])
    assert keys_of(**BASE | {"question": labelled}) == keys_of(**BASE)
    assert keys_of(**BASE | {"question": Question("q1", "a", (swapped,))}) == keys_of(
        **BASE | {"question": Question("q1", "a", (OTHER,))}
    )


def test_another_rule_of_the_span_judge_is_another_judge(monkeypatch):
    before = span_judge()
    assert span_judge() == before
    monkeypatch.setattr(answerrows, "COVERED", 0.9)
    assert span_judge() != before


MADE = [
    Row.of(Question(name, "How long?"), (name, name), answer((span(10, 20),), confidence=0.5), verdict="correct")
    for name in "abc"
]
LINES = [made.model_dump_json().replace("Five", "“Five”").encode() for made in MADE]


def ids(path):
    return [row.id for row in read_rows(path)]


def test_rows_are_read_as_they_were_written(tmp_path, caplog):
    path = tmp_path / "rows.jsonl"
    odd = Row.of(Question("q1", "“a” \u2028 \x85 \x1e"), KEYS, None, error="refused\nand “more”")
    for found in (*MADE, odd):
        append_line(path, found.model_dump_json())
    assert read_rows(path) == [*MADE, odd]
    assert not caplog.records


def test_a_row_of_before_there_were_metrics_is_read(tmp_path, caplog):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(edited(b',"metrics":{}', b""))
    assert read_rows(path)[0].metrics == {}
    assert not caplog.records


def test_where_there_is_no_file_there_are_no_rows(tmp_path):
    assert read_rows(tmp_path / "rows.jsonl") == []


@pytest.mark.parametrize("length", [1, 8, 92, 93, len(LINES[2]) - 1])
def test_a_row_cut_at_the_end_is_left_out_and_the_next_stands_on_a_line_of_its_own(tmp_path, caplog, length):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join([*LINES[:2], LINES[2][:length]]))
    with caplog.at_level(logging.WARNING):
        assert ids(path) == ["a", "b"]
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}:3: is no whole row. What is missing is asked again."
    ]
    append_line(path, LINES[2].decode())
    assert ids(path) == ["a", "b", "c"]


def edited(old, new):
    assert old in LINES[1]
    return LINES[1].replace(old, new)


@pytest.mark.parametrize(
    "line",
    [
        LINES[1][:25],
        b"\xff",
        b"[]",
        b"7",
        b'"key"',
        b"{}",
        b'{"key": []}',
        b"\x00",
        b"{",
        b"[" * 100_000,
        edited(b'"id":"b",', b""),
        edited(b'"id":"b"', b'"id":7'),
        edited(b'"id":"b"', b'"id":"\\ud800"'),
        edited(b'"confidence":0.5', b'"confidence":NaN'),
        edited(b'"confidence":0.5', b'"confidence":1e999'),
        edited(b'"confidence":0.5', b'"confidence":"high"'),
        edited(b'"verdict":"correct"', b'"verdict":"great"'),
        edited(b'"verdict":"correct"', b'"verdict":null'),
        edited(b'"error":null', b'"error":"refused"'),
        edited("“Five” days [1].".encode(), b"").replace(b'"answer":""', b'"answer":null'),
        edited(b'["page.md",10,20]', b'["page.md",10]'),
        edited(b'["page.md",10,20]', b'["page.md",-1,20]'),
        edited(b'["page.md",10,20]', b'["page.md",20,10]'),
        edited(b'"key"', b'"kye"'),
        edited(b'"metrics":{}', b'"metrics":{"token_f1":1.5}'),
        edited(b'"metrics":{}', b'"metrics":[]'),
    ],
)
def test_a_row_that_is_none_is_left_out_with_file_and_line(tmp_path, caplog, line):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join([LINES[0], line, LINES[2], b""]))
    with caplog.at_level(logging.WARNING):
        assert ids(path) == ["a", "c"]
    assert [record.getMessage().partition(": ")[0] for record in caplog.records] == [f"{path}:2"]


def test_many_odd_rows_are_told_in_one_line(tmp_path, caplog):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join([b"{", LINES[0], *[b"{}"] * 300]))
    with caplog.at_level(logging.WARNING):
        assert ids(path) == ["a"]
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}:1: is no whole row, nor are 300 lines after it. What is missing is asked again."
    ]


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
