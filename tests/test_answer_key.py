"""The committed answer key keeps what eval/README.md says of it."""

import json
from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest

from docmind.corpus import load
from docmind.evaluation.dataset import load_questions
from docmind.text import stems

ROOT = Path(__file__).parent.parent
TYPES = {"direct", "paraphrase", "exact_term", "multi_evidence", "vague", "unanswerable"}


@pytest.fixture(scope="module")
def documents():
    return {document.id: document for document in load(ROOT / "corpus")}


@pytest.fixture(scope="module")
def key(documents):
    return load_questions(ROOT / "eval" / "questions.jsonl", documents.values())


def test_every_evidence_stands_once_in_its_page(key):
    """Otherwise loading it fails, or warns."""
    assert key.warnings == ()


def test_it_has_the_promised_size_and_types(key, documents):
    assert len(documents) >= 12
    assert len(key.questions) >= 60
    assert {question.type for question in key.questions} == TYPES


def test_dev_and_test_share_each_type(key):
    by_type = sorted(key.questions, key=lambda question: question.type)
    for kind, questions in groupby(by_type, key=lambda question: question.type):
        splits = Counter(question.split for question in questions)
        assert abs(splits["dev"] - splits["test"]) <= 2, kind
        assert set(splits) == {"dev", "test"}, kind


def test_only_unanswerable_questions_have_no_gold(key):
    assert {q.id for q in key.questions if not q.gold} == {q.id for q in key.questions if q.type == "unanswerable"}
    assert all((question.answer is None) == (not question.gold) for question in key.questions)


def test_several_pieces_are_what_makes_multi_evidence(key):
    assert {q.id for q in key.questions if len(q.gold) > 1} == {
        q.id for q in key.questions if q.type == "multi_evidence"
    }


def test_a_paraphrase_shares_no_content_word_with_its_evidence(key, documents):
    for question in key.questions:
        if question.type == "paraphrase":
            for span in (span for piece in question.gold for span in piece.spans):
                evidence = documents[span.doc_id].text[span.start : span.end]
                assert not set(stems(question.text)) & set(stems(evidence)), question.id


def test_every_line_says_who_wrote_it_and_that_nobody_reviewed_it(key):
    assert {(question.author, question.reviewed_by_human) for question in key.questions} == {("ai", False)}


def test_no_page_is_asked_about_more_than_nine_times(key):
    first = Counter(question.gold[0].spans[0].doc_id for question in key.questions if question.gold)
    assert max(first.values()) <= 9


def test_lines_are_json_in_one_form():
    for line in (ROOT / "eval" / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        assert list(json.loads(line))[:4] == ["id", "type", "question", "answer"]
