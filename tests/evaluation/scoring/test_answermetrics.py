"""Answer metrics by hand: words as SQuAD counts them, citations by the gold rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.evaluation.scoring.answermetrics import ANSWER_METRICS, AnswerMetric, JudgedAnswer, measured
from docmind.evaluation.scoring.answermetrics.words import normalised
from docmind.types import Answer, Chunk, Citation, Document, Gold, Hit, Question, Ranking, Span

PAGE = Document("page.md", "Page", "0123456789" * 10)
HIT = Hit(Chunk.of(PAGE, (Span("page.md", 0, 100),), 0), 1.0, 1)
TEN = Gold((Span("page.md", 10, 20),))
OTHER = Gold((Span("page.md", 50, 60), Span("also.md", 0, 5)))


def said(text="", *, reference="Five days.", gold=(TEN,), cited=(), abstained=False):
    return JudgedAnswer("How long?", reference, text, abstained, tuple(cited), gold, (HIT,))


def value(name, answer):
    return ANSWER_METRICS[name].measure(answer)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The  Cat, an\n hour; A.", "cat hour"),
        ("“Five days.” [1]\n\n“Six.” [2, 3]", "five days six"),
        ("Five days [ 1 ], [1-3] 【2†source】.", "five days"),
        ("the theatre and others", "theatre and others"),  # articles are whole words
        ("16-week leave", "16week leave"),  # as SQuAD has it
        ("§ 5 – 10 €", "5 10 €"),
        ("[x] [1", "x 1"),  # no citations
        ("Employee's «right»", "employees right"),
        ("A the.", ""),
        ("An of\u00adfice", "office"),
    ],
)
def test_a_text_is_normalised_as_squad_has_it_without_citations(text, words):
    assert normalised(text) == words


@pytest.mark.parametrize(
    ("text", "reference", "f1", "exact"),
    [
        ("“Five days.” [1]", "five days", 1.0, 1.0),
        ("You get five days.", "Five days.", 2 * 2 / (4 + 2), 0.0),  # P = 2/4, R = 2/2
        ("Five five days.", "Five days five weeks.", 2 * 3 / (3 + 4), 0.0),  # a word counts as often as in both
        ("Six weeks.", "Five days.", 0.0, 0.0),
        ("The.", "An a.", 1.0, 1.0),  # no word is left of either
        ("The.", "Five.", 0.0, 0.0),
        ("days five", "five days", 1.0, 0.0),
    ],
)
def test_words_are_held_against_the_right_answer(text, reference, f1, exact):
    answer = said(text, reference=reference)
    assert value("token_f1", answer) == pytest.approx(f1)
    assert value("exact_match", answer) == exact


def test_an_abstention_has_none_of_the_words_whatever_it_says():
    answer = said("Five days.", abstained=True)
    assert (value("token_f1", answer), value("exact_match", answer)) == (0.0, 0.0)


def span(start, end, page="page.md"):
    return Span(page, start, end)


@pytest.mark.parametrize(
    ("gold", "cited", "recall", "precision"),
    [
        ((TEN,), [(span(10, 18),)], 1, 1),  # 8 of 10
        ((TEN,), [(span(10, 17),)], 0, 0),  # 7 of 10
        ((TEN,), [(span(10, 14),), (span(16, 20),)], 1, 1),  # halves: together they cover it, and both are right
        ((TEN,), [(span(10, 20),), (span(30, 40),)], 1, 1 / 2),
        ((TEN,), [(span(10, 20),), (span(19, 30),), (span(20, 30),)], 1, 2 / 3),  # one character overlaps; none
        ((TEN, OTHER), [(span(10, 20),)], 1 / 2, 1),
        ((TEN, OTHER), [(span(10, 20),), (span(50, 53),)], 1 / 2, 1 / 2),  # the second piece is not covered
        ((OTHER,), [(span(0, 5, "also.md"),), (span(50, 53),)], 1, 1 / 2),  # nor that alternative
        ((OTHER,), [(span(30, 31), span(0, 5, "also.md"))], 1, 1),
        ((Gold(doc_id="page.md"),), [(span(1, 2),), (span(1, 2, "b.md"),)], 1, 1 / 2),
        ((TEN,), [()], 0, 0),  # a citation of nothing
        ((TEN,), [], 0, None),
        ((), [(span(10, 20),)], None, None),
        ((), [], None, None),
    ],
)
def test_citations_are_held_against_the_evidence(gold, cited, recall, precision):
    answer = said(gold=gold, cited=cited)
    assert value("citation_recall", answer) == recall
    assert value("citation_precision", answer) == precision


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        (Question("q", "How long?", (TEN,), answer="Five days."), "Five days."),
        (Question("q", "How long?", (TEN,)), None),
        (Question("q", "How long?", (), answer="It is not told."), None),
    ],
)
def test_an_unanswerable_question_has_no_reference(question, reference):
    answer = Answer("Five.", (Citation(1, HIT, (span(1, 2),)),), False, Ranking((HIT,)), "extractive")
    judged = JudgedAnswer.of(question, answer, (HIT,))
    assert judged == JudgedAnswer("How long?", reference, "Five.", False, ((span(1, 2),),), question.gold, (HIT,))
    if reference is None:
        assert (value("token_f1", judged), value("exact_match", judged)) == (None, None)


SPANS = st.lists(st.builds(lambda at, size: span(at, at + size), st.integers(0, 90), st.integers(1, 10)), max_size=3)


@given(st.text(), st.none() | st.text(), st.booleans(), st.lists(SPANS.map(tuple), max_size=4), st.booleans())
def test_every_metric_is_between_0_and_1_or_none(text, reference, abstained, cited, answerable):
    gold = (TEN, OTHER) if answerable else ()
    answer = said(text, reference=reference, gold=gold, cited=cited, abstained=abstained)
    for name, found in measured(answer, by_model=True).items():
        assert found is None or 0 <= found <= 1, name


def test_what_needs_a_judge_is_not_defined_without_one(monkeypatch):
    monkeypatch.setitem(ANSWER_METRICS._entries, "faithful", AnswerMetric(lambda _: 1.0, needs_judge=True))
    assert measured(said(), by_model=False)["faithful"] is None
    assert measured(said(), by_model=True)["faithful"] == 1.0
