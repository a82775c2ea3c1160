"""Quotations: taken from the page word for word, scored by arithmetic, and withheld where the evidence is thin."""

import re

import numpy as np
import pytest

from docmind.config import Settings
from docmind.corpus.markdown import document
from docmind.errors import UsageError
from docmind.evaluation.scoring.answers import span_verdict
from docmind.generation import extractive
from docmind.generation.answer import LONGEST_QUESTION, answerer, ask
from docmind.generation.extractive import QUOTED, THRESHOLD, Extractive
from docmind.generation.prompts import ABSTENTION
from docmind.models import load
from docmind.retrieval.searcher import Searcher
from docmind.types import Chunk, Document, Gold, Hit, Query, Question, Ranking, Span

QUESTION = "How many days of annual leave do I have?"


class Words:
    """An embedder of words in lower case: each has the vector that `vectors` names, others are at right angles to all."""

    def __init__(self, vectors):
        self.vectors = vectors
        self.tokenizer = self

    def offsets(self, text):
        return [match.span() for match in re.finditer(r"\w+", text)]

    def matrix(self, text):
        rows = [self.vectors.get(text[start:end].lower(), (0, 0, 1)) for start, end in self.offsets(text)]
        return np.array(rows, np.float32).reshape(-1, 3)

    def embed_query(self, text):
        return np.zeros(3, np.float32), self.matrix(text)

    def tokens(self, chunk):
        """[CLS] and [SEP] would answer any question, if they counted."""
        special = np.full((1, 3), 9, np.float32)
        return np.concatenate([special, self.matrix(chunk.text), special])


@pytest.fixture
def words():
    return Words({"leave": (1, 0, 0), "days": (0, 1, 0), "holiday": (0.6, 0.8, 0), "weeks": (0, 0.5, 0)})


def answer(words, question, ranking, *documents, on_text=None):
    """Documents that are not given are one paragraph, which the hit shows whole."""
    known = {hit.chunk.doc_id: Document(hit.chunk.doc_id, "", hit.chunk.body) for hit in ranking.hits}
    known.update({document.id: document for document in documents})
    return Extractive(words, words.tokens, known).answer(Query(question), ranking, on_text)


def test_a_score_is_the_mean_of_the_sentence_and_its_passage(words, found):
    done = answer(words, "leave days", found("Leave begins. Weeks end. Days count."))
    # The passage holds both words: (1 + 1) / 2 = 1. Alone, "Leave begins." has (1 + 0) / 2, "Weeks end." (0 + 0.5) / 2,
    # "Days count." (0 + 1) / 2. The means with the passage's 1: 0.75, 0.625, 0.75; the first of two equals comes first.
    assert done.text == "“Leave begins.” [1]\n\n“Days count.” [1]\n\n“Weeks end.” [1]"
    assert done.confidence == 0.75
    assert (done.abstained, done.answerer, done.model, done.removed) == (False, "extractive", "", ())


def test_the_best_token_counts_for_each_word_of_the_question(words, found):
    done = answer(words, "leave days", found("A holiday."))
    # cosines of "holiday" are 0.6 and 0.8: 0.7 for the sentence, as for the passage
    assert done.confidence == pytest.approx(0.7)


def test_sentences_of_a_better_passage_win_and_no_more_are_quoted_than_can_be_read(words, found):
    done = answer(words, "leave days", found("Leave days. Stop.", "Days leave. Stop.", "Leave alone. Stop."))
    # the first sentences: 1, 1 and (0.5 + 0.5) / 2; the second ones: (0 + 1) / 2, (0 + 1) / 2, (0 + 0.5) / 2
    assert done.text == "“Leave days.” [1]\n\n“Days leave.” [2]\n\n“Stop.” [1][2][3]"
    assert len(done.text.split("\n\n")) == QUOTED == 3


def test_ties_stand_by_passage_and_then_by_place(words, found):
    done = answer(words, "leave", found("Leave now. Leave then.", "Leave here. Leave there."))
    assert done.text == "“Leave now.” [1]\n\n“Leave then.” [1]\n\n“Leave here.” [2]"
    assert [(c.number, c.spans) for c in done.citations] == [
        (1, (Span("0000.md", 0, 10), Span("0000.md", 11, 22))),
        (2, (Span("0001.md", 0, 11),)),
    ]


def test_what_stands_in_two_passages_is_quoted_once_and_cited_in_both_the_better_one_first(words, found):
    done = answer(words, "leave days", found("Leave. Weeks.", "Leave. Days."))
    # of the second passage, which holds both words: (0.5 + 1) / 2 each; of the first (0.5 + 0.75) / 2 and (0.25 + 0.75) / 2
    assert done.text == "“Leave.” [2][1]\n\n“Days.” [2]\n\n“Weeks.” [1]"
    assert [(c.number, c.spans) for c in done.citations] == [
        (2, (Span("0001.md", 0, 6), Span("0001.md", 7, 12))),
        (1, (Span("0000.md", 0, 6), Span("0000.md", 7, 13))),
    ]


def test_what_stands_twice_in_a_passage_is_quoted_once_and_cited_at_both_places(words, found):
    done = answer(words, "leave days", found("Leave days. Stop. Leave days."))
    assert done.text == "“Leave days.” [1]\n\n“Stop.” [1]"
    assert done.citations[0].spans == (Span("0000.md", 0, 11), Span("0000.md", 18, 29), Span("0000.md", 12, 17))


@pytest.mark.parametrize(
    ("gold", "verdict"),
    [
        ((Gold((Span("0000.md", 0, 11),)), Gold((Span("0001.md", 0, 11),))), "correct"),  # both pages are asked for
        ((Gold((Span("0001.md", 0, 11),)),), "correct"),  # the second of two equal pages
        ((Gold((Span("0002.md", 0, 11),)),), "wrong"),  # a page that was not found
    ],
)
def test_a_passage_is_its_file_and_place_though_another_says_the_same(words, found, gold, verdict):
    done = answer(words, "leave days", found("Leave days.", "Leave days."))
    assert done.text == "“Leave days.” [1][2]"
    assert span_verdict(Question("q", "leave days", gold), done) == verdict


def test_only_the_first_three_hits_are_quoted(words, found):
    done = answer(words, "leave days", found("Weeks.", "Weeks.", "Weeks.", "Leave days."))
    assert "Leave days." not in done.text
    assert len(done.ranking.hits) == 4


def test_the_prefix_counts_for_the_passage_and_is_not_quoted(words):
    document = Document("a.md", "", "Leave\nDays count.")
    chunk = Chunk.of(document, (Span("a.md", 6, 17),), 0, prefix="Leave\n", prefix_spans=(Span("a.md", 0, 5),))
    done = answer(words, "leave days", Ranking((Hit(chunk, 1.0, 1),)), document)
    # with its heading the passage has (1 + 1) / 2, the sentence (0 + 1) / 2
    assert (done.text, done.confidence) == ("“Days count.” [1]", 0.75)
    assert done.citations[0].spans == (Span("a.md", 6, 17),)


def test_a_quotation_from_a_chunk_of_several_spans_is_found_where_it_stands(words):
    document = Document("a.md", "", "Leave one. Left out. Weeks end. Left out. Days count.")
    chunk = Chunk.of(document, (Span("a.md", 0, 10), Span("a.md", 20, 31), Span("a.md", 41, 53)), 0, prefix="Of ")
    assert chunk.text == "Of Leave one. Weeks end. Days count."
    done = answer(words, "leave days", Ranking((Hit(chunk, 1.0, 1),)), document)
    # "Leave one." and "Days count." have 1 and 0, "Weeks end." 0 and 0.5
    assert done.text == "“Leave one.” [1]\n\n“Days count.” [1]\n\n“Weeks end.” [1]"
    assert done.citations[0].spans == (Span("a.md", 0, 10), Span("a.md", 42, 53), Span("a.md", 21, 31))


PAGE = document(
    "a.md",
    "# Leave days\n\n- Stop.\n\n| Leave | Days |\n|---|---|\n| weeks | holiday |\n| x | y |\n\n#### Leave days\n\nDone.",
)


def test_a_heading_and_the_head_of_a_table_are_never_quoted_and_a_row_is_with_its_heads(words):
    chunk = Chunk.of(PAGE, (Span("a.md", 0, len(PAGE.text)),), 0)
    done = answer(words, "leave days", Ranking((Hit(chunk, 1.0, 1),)), PAGE)
    # of the row "holiday" has 0.6 and 0.8: (0.7 + 1) / 2, and its heads, which are not of the row, do not count
    assert done.text == "“Leave: weeks; Days: holiday” [1]\n\n“Stop.” [1]\n\n“Leave: x; Days: y” [1]"
    assert done.confidence == pytest.approx(0.85)
    row = PAGE.text.index("| weeks")
    assert done.citations[0].spans[0] == Span("a.md", row, row + len("| weeks | holiday |"))


def test_a_passage_that_begins_below_the_head_of_a_table_is_quoted_with_it(words):
    row = PAGE.text.index("| weeks")
    chunk = Chunk.of(PAGE, (Span("a.md", row, row + len("| weeks | holiday |")),), 0)
    done = answer(words, "days", Ranking((Hit(chunk, 1.0, 1),)), PAGE)
    assert done.text == "“Leave: weeks; Days: holiday” [1]"


def test_the_context_of_a_hit_is_quoted_under_its_number_where_it_was_embedded(words):
    page = Document("a.md", "", "Leave begins. Weeks end. Days count.")
    hit, near, parent = (
        Chunk.of(page, (Span("a.md", start, end),), order)
        for order, (start, end) in enumerate([(0, 13), (25, 36), (0, 36)])
    )
    ranking = Ranking((Hit(hit, 1.0, 1, (near, parent)),))
    embedded = {hit.id, near.id}
    tokens = lambda chunk: words.tokens(chunk) if chunk.id in embedded else None  # noqa: E731
    done = Extractive(words, tokens, {"a.md": page}).answer(Query("leave days"), ranking)
    # each alone: "Leave begins." (1 + 0) / 2 of itself and of its passage, "Days count." likewise; the parent tells nothing
    assert done.text == "“Leave begins.” [1]\n\n“Days count.” [1]"
    assert done.confidence == 0.5
    assert [(c.number, c.spans) for c in done.citations] == [(1, (Span("a.md", 0, 13), Span("a.md", 25, 36)))]


@pytest.mark.parametrize(("threshold", "abstained"), [(0.75, False), (0.750001, True)])
def test_an_answer_exactly_at_the_threshold_is_given(words, found, monkeypatch, threshold, abstained):
    monkeypatch.setattr(extractive, "THRESHOLD", threshold)
    done = answer(words, "leave days", found("Leave begins. Days count."))
    assert (done.abstained, done.confidence) == (abstained, 0.75)
    assert (done.text == ABSTENTION) == abstained == (done.citations == ())


@pytest.mark.parametrize("texts", [(), ("",), ("\u200b",), ("--- !!!",), ("Leave days.", "\u200b", "")])
@pytest.mark.parametrize("question", ["", "?", "leave days"])
def test_nothing_to_ask_or_to_quote_ends_in_an_abstention(words, found, texts, question):
    ranking = found(*filter(None, texts))
    told = []
    done = answer(words, question, ranking, on_text=told.append)
    given = question == "leave days" and "Leave days." in texts
    assert done.text == ("“Leave days.” [1]" if given else ABSTENTION)
    assert told == [done.text]
    assert done.abstained is not given
    assert (done.confidence is None) is not given


@pytest.fixture
def searcher(corpus, tmp_path):
    with Searcher(Settings(corpus=corpus, index_dir=tmp_path / "indexes"), load("default")) as made:
        yield made


def test_real_answers_are_quotations_whose_spans_point_to_their_words(searcher):
    done = ask(searcher, "headers+rerank", "extractive", QUESTION)
    assert "“You have 25 days of annual leave a year.” [1]" in done.text.split("\n\n")[0]
    assert not done.abstained
    assert done.confidence >= THRESHOLD
    texts = {document.id: document.text for document in searcher.documents.values()}
    pointed = {
        (citation.number, texts[span.doc_id][span.start : span.end])
        for citation in done.citations
        for span in citation.spans
    }
    quoted = re.findall(r"“(.*?)” \[(\d)\]", done.text, re.DOTALL)
    assert {(int(number), quote) for quote, number in quoted} == pointed
    assert all(c.hit is done.ranking.hits[c.number - 1] for c in done.citations)
    assert set(done.timings) == {"retrieval", "answer"}


def test_the_same_question_gets_the_same_answer(searcher, corpus, tmp_path):
    first = ask(searcher, "headers+hybrid", "extractive", QUESTION)
    other = Searcher(Settings(corpus=corpus, index_dir=tmp_path / "other"), load("default"))
    again = ask(other, "headers+hybrid", "extractive", QUESTION)
    other.close()
    assert (again.text, again.confidence, again.citations) == (first.text, first.confidence, first.citations)


@pytest.mark.parametrize("question", ["", " ", "\x00\x07", "\u200b", "\udcff", "?!", "👶🏽"])
def test_a_question_without_words_is_refused_and_would_not_be_answered(searcher, question):
    with pytest.raises(UsageError, match="holds no word"):
        ask(searcher, "headers+rerank", "extractive", question)
    with pytest.raises(UsageError, match="holds no word"):
        searcher("headers+rerank", question, 3)
    ranking = searcher.retriever(searcher.find("headers+rerank")).retrieve(Query(question), 3)
    done = answerer("extractive", searcher, "headers+rerank").answer(Query(question), ranking)
    assert (done.text, done.abstained) == (ABSTENTION, True)


def test_a_question_may_have_4000_characters(searcher):
    assert ask(searcher, "headers+rerank", "extractive", "x" * LONGEST_QUESTION).abstained
    with pytest.raises(UsageError, match=r"has 4,001 characters; it may have 4,000\. Shorten it"):
        ask(searcher, "headers+rerank", "extractive", "x" * 4_001)


def test_what_cannot_be_seen_is_not_asked(searcher):
    plain = ask(searcher, "headers+rerank", "extractive", QUESTION)
    odd = ask(searcher, "headers+rerank", "extractive", f"\x00{QUESTION}\u202e\x9b")
    assert (odd.text, odd.confidence) == (plain.text, plain.confidence)


def test_what_has_nothing_to_do_with_the_pages_is_not_answered(searcher):
    done = ask(searcher, "headers+rerank", "extractive", "Which telescope found the exoplanet?")
    assert (done.text, done.abstained, done.citations) == (ABSTENTION, True, ())
    assert done.confidence < THRESHOLD


def test_a_page_of_characters_that_the_model_does_not_see_is_passed_over(corpus, tmp_path):
    (corpus / "a.md").write_text("\u200b\u200b\n", encoding="utf-8")
    for page in ("pay.md", "travel/rail.md"):
        (corpus / page).unlink()
    with Searcher(Settings(corpus=corpus, index_dir=tmp_path / "indexes"), load("default")) as searcher:
        done = ask(searcher, "headers+vector", "extractive", QUESTION)
    assert "a.md" in {hit.chunk.doc_id for hit in done.ranking.hits}
    assert "25 days" in done.text
