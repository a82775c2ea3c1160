"""BM25 on small corpora, where its textbook idf goes wrong, and against rank-bm25 where it does not."""

import math

import pytest
from rank_bm25 import BM25Okapi

from docmind.index.lexical import Lexical
from docmind.text import stems, words


@pytest.mark.parametrize("texts", [[], ["", "!?"]])
def test_a_corpus_without_words_finds_nothing(texts):
    assert Lexical(texts, words).search("leave") == []


@pytest.mark.parametrize(
    ("texts", "question", "found"),
    [
        (["annual leave policy", "pay day"], "leave", [0]),  # in half of the texts: the idf is 0
        (["annual leave policy"], "leave", [0]),  # in the only text: the idf is below 0
        (["Is leave paid?", "Pay is monthly.", "Bikes are free."], "PAID", [0]),
        (["bike scheme", "pay day"], "holiday", []),
    ],
)
def test_a_text_is_found_if_it_holds_a_term(texts, question, found):
    result = Lexical(texts, words).search(question)
    assert [position for position, _ in result] == found
    assert all(score > 0 for _, score in result)


def test_scores_are_those_of_rank_bm25_where_every_idf_is_positive():
    texts = [f"{rare} leave of {rare} day {rare}" for rare in ("annual", "sick", "study", "unpaid", "special")]
    texts += ["pay day monthly", "bikes and trains", "the bonus", "the canteen", "parking spaces"]
    texts += ["shoes", "gloves", "hats", "desks"]
    reference = BM25Okapi([words(text) for text in texts])
    assert all(idf > 0 for idf in reference.idf.values())
    question = "annual leave day and the bonus"
    expected = reference.get_scores(words(question))
    result = dict(Lexical(texts, words).search(question))
    assert result == {i: pytest.approx(score, abs=1e-12) for i, score in enumerate(expected) if score > 0}


def test_a_single_score_by_hand():
    # N 3, term in 1: idf = ln(3 - 1 + 0.5) - ln(1 + 0.5) = ln(2.5 / 1.5). Lengths 2, 1, 1; mean 4/3.
    # tf part = 1 * (1.5 + 1) / (1 + 1.5 * (0.25 + 0.75 * 2 / (4 / 3)))
    expected = math.log(2.5 / 1.5) * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 1.5))
    [(position, score)] = Lexical(["sick note", "bike", "pay"], words).search("sick")
    assert (position, score) == (0, pytest.approx(expected))


def test_only_allowed_positions_are_found():
    lexical = Lexical(["leave a", "leave b", "leave c", "pay"], words)
    assert [position for position, _ in lexical.search("leave", {1, 2, 3})] == [1, 2]
    assert lexical.search("leave", set()) == []


def test_stems_find_other_forms_of_a_word():
    assert Lexical(["Travelling by train", "Pay", "Bikes"], words).search("travel") == []
    assert [position for position, _ in Lexical(["Travelling by train", "Pay", "Bikes"], stems).search("travels")] == [
        0
    ]
