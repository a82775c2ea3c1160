"""The committed answer key keeps what eval/README.md says of it."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from docmind.corpus import load
from docmind.evaluation.key.dataset import load_questions
from docmind.text import STOP_WORDS, stems, words

ROOT = Path(__file__).parent.parent
QUOTAS = {
    "direct": 110,
    "paraphrase": 90,
    "exact_term": 50,
    "multi_evidence": 30,
    "vague": 20,
    "unanswerable": 40,
}


@pytest.fixture(scope="module")
def documents():
    return {document.id: document for document in load(ROOT / "corpus")}


@pytest.fixture(scope="module")
def key(documents):
    return load_questions(ROOT / "eval" / "questions.jsonl", documents.values())


def of_type(key, kind):
    return [question for question in key.questions if question.type == kind]


def pages_of(question):
    return {span.doc_id for piece in question.gold for span in piece.spans}


def test_every_evidence_stands_once_in_its_page(key):
    """Otherwise loading it fails, or warns."""
    assert key.warnings == ()


def test_the_quotas_are_kept(key):
    assert Counter(question.type for question in key.questions) == QUOTAS


def test_dev_and_test_share_each_type_half_and_half(key):
    splits = Counter((question.type, question.split) for question in key.questions)
    assert {(kind, split): n // 2 for kind, n in QUOTAS.items() for split in ("dev", "test")} == splits


def test_only_unanswerable_questions_have_no_gold(key):
    assert {q.id for q in key.questions if not q.gold} == {q.id for q in of_type(key, "unanswerable")}
    assert all((question.answer is None) == (not question.gold) for question in key.questions)


def test_half_of_the_unanswerable_are_near_misses_in_both_splits(key):
    near = Counter((question.near_miss, question.split) for question in of_type(key, "unanswerable"))
    assert near == {(True, "dev"): 10, (True, "test"): 10, (False, "dev"): 10, (False, "test"): 10}
    assert not [question.id for question in key.questions if question.near_miss and question.gold]


def test_several_pieces_are_what_makes_multi_evidence(key):
    pieces = {q.id: len(q.gold) for q in key.questions if len(q.gold) > 1}
    assert pieces.keys() == {q.id for q in of_type(key, "multi_evidence")}
    assert set(pieces.values()) <= {2, 3}


def test_a_paraphrase_shares_no_content_word_with_its_evidence(key, documents):
    for question in of_type(key, "paraphrase"):
        for span in (span for piece in question.gold for span in piece.spans):
            evidence = documents[span.doc_id].text[span.start : span.end]
            assert not set(stems(question.text)) & set(stems(evidence)), question.id


def test_a_term_in_at_most_three_pages_decides_an_exact_term_question(key, documents):
    """One word of the question, a form's number, or a run of two or three of its words."""
    texts = [f" {' '.join(words(document.text))} " for document in documents.values()]
    for question in of_type(key, "exact_term"):
        asked = words(question.text)
        runs = [asked[i : i + n] for n in (1, 2, 3) for i in range(len(asked) - n + 1)]
        terms = [run for run in runs if set(run) - STOP_WORDS]
        counts = [sum(f" {' '.join(term)} " in text for text in texts) for term in terms]
        assert any(1 <= count <= 3 for count in counts), question.id


def test_a_vague_question_names_no_country(key):
    names = {
        "austria", "australia", "belgium", "brazil", "canada", "czechia", "denmark", "france", "germany", "india", "ireland",
        "italy", "japan", "kenya", "mexico", "netherlands", "poland", "portugal", "singapore", "spain", "sweden", "switzerland",
    }  # fmt: skip
    for question in of_type(key, "vague"):
        assert not set(words(question.text)) & names, question.id
        assert not [page for page in pages_of(question) if page.startswith("country-")], question.id


def test_every_page_but_the_mess_is_a_source_and_none_of_more_than_nine(key, documents):
    plan = (ROOT / "eval" / "handbook_plan.md").read_text(encoding="utf-8")
    mess = set(re.findall(r"`(\S+\.md)` \|[^|]*\| mess", plan))
    assert len(mess) == 10
    sources = Counter(page for question in key.questions for page in pages_of(question) - mess)
    assert documents.keys() - sources.keys() <= mess
    assert max(sources.values()) <= 9


def test_no_question_stands_twice(key):
    asked = Counter(" ".join(words(question.text)) for question in key.questions)
    assert max(asked.values()) == 1


def test_every_line_says_who_wrote_it_and_that_nobody_reviewed_it(key):
    assert {(question.author, question.reviewed_by_human) for question in key.questions} == {("ai", False)}


def test_lines_are_json_in_one_form():
    for line in (ROOT / "eval" / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        assert list(json.loads(line))[:4] == ["id", "type", "question", "answer"]
