"""Without token vectors the passages are the answer: all that are given, cited, and nothing chosen."""

from docmind.generation.prompts import ABSTENTION
from docmind.generation.whole import Whole
from docmind.types import Query


def test_the_first_three_passages_are_cited_whole(found):
    told = []
    answer = Whole().answer(Query("?"), found("One.", "Two.", "Three.", "Four."), told.append)
    assert answer.text.endswith("What was found: [1] [2] [3]")
    assert told == [answer.text]
    assert [(c.number, c.spans == c.hit.chunk.spans) for c in answer.citations] == [(1, True), (2, True), (3, True)]
    assert (answer.abstained, answer.supported, answer.confidence, answer.answerer) == (False, True, None, "passages")


def test_where_nothing_was_found_it_abstains(found):
    answer = Whole().answer(Query("?"), found())
    assert (answer.text, answer.abstained, answer.citations) == (ABSTENTION, True, ())
