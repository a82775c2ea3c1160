"""How much a question gives away: words counted by hand, and hits of BM25 less hits of vectors."""

import pytest

from docmind.evaluation.scoring.leakage import Leakage, leakage, shared_words
from docmind.types import Gold, Outcome, Query, Question, Ranking, Run, Span

TEXTS = {
    "leave.md": "You have 25 days of annual leave. Parents are paid.",
    "pay.md": "The bonus is paid in March.",
}
LEAVE = Gold((Span("leave.md", 0, 33),))
PAID = Gold((Span("leave.md", 34, 51), Span("pay.md", 0, 27)))


def asked(text, *gold, **more):
    return Question(more.pop("id", "q"), text, gold, **more)


@pytest.mark.parametrize(
    ("text", "gold", "share"),
    [
        ("How many days of annual leave?", [LEAVE], 3 / 4),  # day, annual, leav of: mani, day, annual, leav
        ("Annual leave: how many days of annual leave?", [LEAVE], 3 / 4),  # each word once
        ("What is the vacation allowance?", [LEAVE], 0.0),
        ("ANNUAL Leaves", [LEAVE], 1.0),  # stemmed, whatever the case
        ("Are parents paid a bonus?", [PAID], 1.0),  # parent and paid here, bonus in the other place
        ("Is the bonus annual?", [PAID], 1 / 2),
        ("Is the bonus annual?", [PAID, LEAVE], 1.0),  # of either piece
        ("What is it of the that?", [LEAVE], 0.0),  # "it" is a word
        ("", [LEAVE], None),
        ("?!", [LEAVE], None),
        ("How many days?", [], None),
        ("How many days?", [Gold(doc_id="leave.md")], None),  # no words are named
    ],
)
def test_the_share_of_the_questions_words_that_stand_in_its_evidence(text, gold, share):
    assert shared_words(asked(text, *gold), TEXTS) == (None if share is None else pytest.approx(share))


def test_only_the_evidence_counts_and_not_its_page():
    assert shared_words(asked("Parents", LEAVE), TEXTS) == 0.0


QUESTIONS = (
    asked("annual leave", LEAVE, id="d1", type="direct"),  # 1
    asked("annual bonus", LEAVE, id="d2", type="direct"),  # 1/2
    asked("vacation", LEAVE, id="v1", type="vague"),  # 0
    asked("days", LEAVE, id="n1"),  # 1, of no type
    asked("days", id="u1", type="unanswerable"),
)


def made(name, error=None, **ranks):
    outcomes = tuple(
        Outcome(q.id, Query(q.text), Ranking(()), (ranks.get(q.id),) if q.gold else (), error if q.id == "d1" else None)
        for q in QUESTIONS
    )
    return Run(name, outcomes, 10)


BM25 = made("headers+bm25", d1=1, d2=3, v1=4, n1=2)
VECTOR = made("headers+vector", d1=1, v1=3, n1=10)


def test_by_type_and_for_all():
    found = leakage(QUESTIONS, TEXTS, {"headers": (BM25, VECTOR)})
    assert found.shared_words == {
        "all": pytest.approx(2.5 / 4),
        "direct": pytest.approx(0.75),
        "vague": pytest.approx(0.0),
    }
    # Hits at 3: BM25 has d1, d2, n1, and vectors d1, v1, of four questions with gold.
    assert found.bm25_minus_vector == {
        "headers": {"all": pytest.approx(1 / 4), "direct": pytest.approx(1 / 2), "vague": pytest.approx(-1.0)}
    }


def test_the_sign_is_that_of_bm25():
    found = leakage(QUESTIONS, TEXTS, {"headers": (VECTOR, BM25)})
    assert found.bm25_minus_vector["headers"]["all"] == pytest.approx(-1 / 4)


def test_a_run_with_an_error_has_no_difference():
    failed = made("semantic+bm25", error="a fault", d2=1)
    found = leakage(QUESTIONS, TEXTS, {"semantic": (failed, VECTOR), "headers": (BM25, VECTOR)})
    assert list(found.bm25_minus_vector) == ["headers"]


def test_without_words_there_is_no_mean():
    found = leakage([asked("?", LEAVE, id="x", type="direct")], TEXTS, {})
    assert found == Leakage(shared_words={"all": None, "direct": None}, bm25_minus_vector={})
