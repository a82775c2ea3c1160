"""BM25 on small corpora, where its textbook idf goes wrong, and to the bit that of rank-bm25 on any."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from docmind.index.lexical import SMALLEST_IDF, Bm25Index
from docmind.text import stems, words
from docmind.types import Chunk, Document, Span


@pytest.fixture
def index_of(chunks_of):
    """Makes an index of texts, each a document of its own. A chunk is never empty; "." has no word."""
    return lambda texts, analyse=words: Bm25Index(chunks_of([text or "." for text in texts]), analyse)


def reference(texts, question):
    """rank-bm25's own scores, with idfs that are not positive raised."""
    bm25 = BM25Okapi([words(text) for text in texts])
    bm25.idf = {term: idf if idf > 0 else SMALLEST_IDF for term, idf in bm25.idf.items()}
    return bm25.get_scores(words(question))


def expected(scores, k, positions=None):
    among = range(len(scores)) if positions is None else positions
    return sorted(((i, scores[i]) for i in among if scores[i] > 0), key=lambda pair: (-pair[1], pair[0]))[:k]


@pytest.mark.parametrize("texts", [[], [""], ["", "!?"]])
def test_a_corpus_without_words_finds_nothing(index_of, texts):
    assert index_of(texts).search("leave", 10) == []
    assert index_of(texts).search("leave", 10, frozenset({"0000.md"})) == []


@pytest.mark.parametrize(
    ("texts", "question", "found"),
    [
        (["annual leave policy", "pay day"], "leave", [0]),  # in half of the texts: the idf is 0
        (["annual leave policy"], "leave", [0]),  # in the only text: the idf is below 0
        (["Is leave paid?", "Pay is monthly.", "Bikes are free."], "PAID", [0]),
        (["", "leave", ""], "leave", [1]),
        (["of\u00adfice pol\u00adicy", "pay day"], "office policy", [0]),
        (["office policy", "pay day"], "of\u200bfice", [0]),
        (["bike scheme", "pay day"], "holiday", []),
        (["bike scheme", "pay day"], "", []),
    ],
)
def test_a_text_is_found_if_it_holds_a_term(index_of, texts, question, found):
    result = index_of(texts).search(question, 10)
    assert [position for position, _ in result] == found
    assert all(score > 0 for _, score in result)


def test_a_single_score_by_hand(index_of):
    # N 3, term in 1: idf = ln(3 - 1 + 0.5) - ln(1 + 0.5) = ln(2.5 / 1.5). Lengths 2, 1, 1; mean 4/3.
    # tf part = 1 * (1.5 + 1) / (1 + 1.5 * (0.25 + 0.75 * 2 / (4 / 3)))
    score = math.log(2.5 / 1.5) * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 1.5))
    assert index_of(["sick note", "bike", "pay"]).search("sick", 10) == [(0, pytest.approx(score))]


texts_of_few_words = st.lists(
    st.lists(st.sampled_from(["leave", "pay", "bike", "sick", "day", "note", "it", "25"]), max_size=12).map(" ".join),
    min_size=1,
    max_size=20,
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts_of_few_words, st.lists(st.sampled_from(["leave", "pay", "day", "note", "unknown"]), max_size=6), st.data())
def test_scores_are_to_the_bit_those_of_rank_bm25(index_of, texts, terms, data):
    """Repeated terms of the question, empty texts, ties, and k above and below the number of hits."""
    question = " ".join(terms)
    if not any(texts):
        assert index_of(texts).search(question, 5) == []
        return
    scores = reference(texts, question)
    k = data.draw(st.integers(1, len(texts) + 3))
    index = index_of(texts)
    assert index.search(question, k) == expected(scores, k)
    some = data.draw(st.sets(st.integers(0, len(texts) - 1)))
    allowed = frozenset(f"{i:04}.md" for i in some) | {"nowhere.md"}
    assert index.search(question, k, allowed) == expected(scores, k, some)


def test_scores_are_to_the_bit_those_of_rank_bm25_on_a_larger_corpus(index_of):
    """2,000 texts of a Zipf vocabulary: many postings, common and rare terms, lengths from 1 to 60."""
    generator = np.random.default_rng(11)
    texts = [" ".join(f"w{n}" for n in generator.zipf(1.4, generator.integers(1, 61))) for _ in range(2_000)]
    index = index_of(texts)
    for _ in range(20):
        question = " ".join(f"w{n}" for n in generator.zipf(1.4, 8))
        assert index.search(question, 50) == expected(reference(texts, question), 50)


def test_equal_scores_stand_by_position_and_the_first_are_taken(index_of):
    index = index_of(["pay day", "leave a", *["leave b"] * 30, "leave leave c", "bike"] + ["bonus"] * 60)
    assert [position for position, _ in index.search("leave", 4)] == [32, 1, 2, 3]
    assert [position for position, _ in index.search("leave", 100)] == [32, *range(1, 32)]


def test_documents_limit_the_search_before_the_best_are_taken():
    chunks = []
    for page, bodies in {"a.md": ["leave", "leave pay"], "b.md": ["leave", "bike"], "c.md": ["leave", "leave"]}.items():
        document = Document(page, "", " ".join(bodies))
        at = 0
        for order, body in enumerate(bodies):
            chunks.append(Chunk.of(document, (Span(page, at, at + len(body)),), order))
            at += len(body) + 1
    index = Bm25Index(chunks, words)

    def found(*pages):
        return [position for position, _ in index.search("leave", 3, frozenset(pages))]

    assert found("b.md") == [2]
    assert found("c.md", "a.md") == [0, 4, 5]
    assert found("c.md", "nowhere.md") == [4, 5]
    assert found("nowhere.md") == found() == []
    with pytest.raises(ValueError, match=r"a\.md do not stand together"):
        Bm25Index([*chunks[1:], chunks[0]], words)


def test_stems_find_other_forms_of_a_word(index_of):
    texts = ["Travelling by train", "Pay", "Bikes"]
    assert index_of(texts).search("travel", 10) == []
    assert [position for position, _ in index_of(texts, stems).search("travels", 10)] == [0]


def test_eight_threads_get_what_one_gets(index_of):
    generator = np.random.default_rng(5)
    texts = [" ".join(f"w{n}ing" for n in generator.zipf(1.4, 30)) for _ in range(500)]
    index = index_of(texts, stems)
    questions = [" ".join(f"w{n}ed" for n in generator.zipf(1.4, 6)) for _ in range(200)]
    alone = [index.search(question, 20) for question in questions]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda question: index.search(question, 20), questions)) == alone
