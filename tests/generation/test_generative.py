"""Answers of a language model, asked through the real clients: what it cites is checked, what it withholds is told."""

import pytest
from standin_llm import LlmServer, Reply

from docmind.errors import LanguageModelError
from docmind.generation.generative import Generative
from docmind.generation.prompts import ABSTENTION, SYSTEM
from docmind.types import Citation, Query, Turn, Usage

QUERY = Query("How long is leave?")


@pytest.fixture
def three(found):
    return found("Leave is five days.", "In Spain it is six.", "Keep the ticket.")


@pytest.fixture
def said(connect, three):
    """What becomes of an answer in these words, from three passages."""

    def answer(*pieces, ranking=three, on_text=None):
        with LlmServer([Reply(pieces)]) as server:
            return Generative(connect(server)).answer(QUERY, ranking, on_text)

    return answer


def test_a_cited_answer(connect, three):
    with LlmServer(["Five days [1]; six in Spain [2].\n"]) as server:
        llm = connect(server)
        done = Generative(llm).answer(QUERY, three)
    assert done.text == "Five days [1]; six in Spain [2]."
    assert done.citations == tuple(Citation(n, three.hits[n - 1], three.hits[n - 1].shown) for n in (1, 2))
    assert (done.abstained, done.supported, done.removed, done.confidence) == (False, True, (), None)
    assert done.answerer == llm.name
    assert llm.name.endswith(f"/{done.model}")
    assert done.usage == Usage(100, 20)
    assert done.timings["answer"] > 0
    assert done.ranking is three


def test_a_citation_of_a_passage_that_was_not_given_is_removed_and_told(said):
    done = said("Five days [1].", " Seven with a note [7].")
    assert done.text == "Five days [1]. Seven with a note."
    assert done.removed == (7,)
    assert [citation.number for citation in done.citations] == [1]


@pytest.mark.parametrize("text", ["Five days.", "Five days [7].", "Five days [page 1]."])
def test_an_answer_without_a_true_citation_is_unsupported(said, text):
    done = said(text)
    assert (done.supported, done.abstained, done.citations) == (False, False, ())


@pytest.mark.parametrize(
    "text",
    [
        ABSTENTION,
        f"  {ABSTENTION}\n",
        ABSTENTION.upper(),
        ABSTENTION.rstrip("."),
        f"**{ABSTENTION}**",
        f"I am sorry. {ABSTENTION}",
        f"{ABSTENTION} They tell of Spain alone [2].",
    ],
)
def test_the_words_of_an_abstention_abstain(said, text):
    done = said(text)
    assert (done.abstained, done.citations, done.supported) == (True, (), True)


def test_an_answer_that_says_it_of_a_part_is_an_answer(said):
    done = said(f"Five days [1]. As to the bonus: {ABSTENTION}")
    assert not done.abstained
    assert [citation.number for citation in done.citations] == [1]


@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_what_a_model_thinks_is_neither_an_abstention_nor_a_citation(said, on_text):
    thought = "The documents do not answer this. Passage 1 tells it…"
    done = said("<think>", thought, "</think>Up to $500 [1].", on_text=on_text)
    assert (done.abstained, done.text, done.thought) == (False, "Up to $500 [1].", thought)
    assert [citation.number for citation in done.citations] == [1]
    done = said(f"<think>Maybe [2]? no [9].</think>{ABSTENTION}", on_text=on_text)
    assert (done.abstained, done.text, done.citations, done.removed) == (True, ABSTENTION, (), ())


def test_the_model_that_was_served_is_told(connect, three):
    with LlmServer([Reply(model="small-2")]) as server:
        assert Generative(connect(server)).answer(QUERY, three).served == "small-2"


def test_nearly_the_words_are_no_abstention(said):
    assert not said("The documents do not say [1].").abstained


def test_an_answer_is_told_as_it_comes_and_then_checked(said):
    told = []
    done = said("Five ", "days ", "[7].", on_text=told.append)
    assert told == ["Five ", "days ", "[7]."]
    assert done.text == "Five days."


def test_without_a_passage_nobody_is_asked(connect, found):
    told = []
    with LlmServer(["Five days [1]."]) as server:
        done = Generative(connect(server)).answer(QUERY, found(), told.append)
    assert server.requests == []
    assert (done.text, done.abstained, done.usage, done.model) == (ABSTENTION, True, Usage(), "")
    assert told == [ABSTENTION]


def test_rules_history_and_passages_are_sent(connect, three):
    history = (Turn("user", "Hello"), Turn("assistant", "Yes?"))
    with LlmServer(["Five days [1]."]) as server:
        Generative(connect(server)).answer(Query("How long?", history), three)
    [asked] = server.requests
    sent = asked.body["messages"]
    assert [(m["role"], m["content"]) for m in sent[:3]] == [
        ("system", SYSTEM),
        ("user", "Hello"),
        ("assistant", "Yes?"),
    ]
    assert all(hit.text in sent[3]["content"] for hit in three.hits)
    assert sent[3]["content"].endswith("Question: How long?")


def test_the_tokens_of_a_try_that_failed_count(connect, three, sleeps):
    with LlmServer([Reply(("Fi",), finish="error"), Reply(status=429), "Five days [1]."]) as server:
        done = Generative(connect(server)).answer(QUERY, three)
    assert len(server.requests) == 3
    assert len(sleeps) == 2
    assert done.usage == Usage(200, 40)  # two replies told 100 and 20; the refusal told none


def test_a_refusal_is_an_error_and_no_answer(connect, three):
    with LlmServer([Reply(status=401)]) as server, pytest.raises(LanguageModelError, match="_API_KEY"):
        Generative(connect(server)).answer(QUERY, three)


def test_an_empty_answer_is_none(said):
    with pytest.raises(LanguageModelError, match="answered nothing"):
        said("")
