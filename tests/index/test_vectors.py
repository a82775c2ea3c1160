"""What every VectorIndex does, and that Chroma's answers are those of the reference."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from docmind.index import store
from docmind.index.exact import BLOCK, ExactIndex
from docmind.index.store import ChromaIndex
from docmind.index.top import best

KINDS = ("numpy", "chroma")


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def random(n, dim=64, seed=7):
    return unit(np.random.default_rng(seed).normal(size=(n, dim)))


@pytest.fixture
def opened(tmp_path_factory, chunks_of):
    """Makes an index of a kind, over one chunk a document; closes it in the end."""
    with ExitStack() as made:

        def make(kind, vectors):
            chunks = chunks_of([f"text {i}" for i in range(len(vectors))])
            if kind == "numpy":
                return ExactIndex(vectors, chunks)
            folder = tmp_path_factory.mktemp("chroma")
            np.save(folder / store.VECTORS, vectors)
            store.write(folder, chunks)
            index = ChromaIndex(folder, chunks)
            made.callback(index.close)
            return index

        yield make


def by_hand(vectors, query, k, positions=None):
    scores = np.round(vectors.astype(np.float64) @ query.astype(np.float64), 6)
    among = range(len(vectors)) if positions is None else positions
    return [(i, scores[i]) for i in sorted(among, key=lambda i: (-scores[i], i))[:k]]


@pytest.mark.parametrize("kind", KINDS)
def test_the_nearest_are_found_and_equal_ones_stand_by_position(opened, kind):
    """300 random vectors, 40 copies of one of them, and 20 more of another."""
    vectors = random(360)
    vectors[100:140], vectors[340:] = vectors[3], vectors[8]
    index = opened(kind, vectors)
    assert index.exact
    for query in (*random(20, seed=8), vectors[3], vectors[8], vectors[200]):
        for k in (1, 5, 50, 360, 1000):
            assert index.search(query, k) == by_hand(vectors, query, k)


@pytest.mark.parametrize("kind", KINDS)
def test_documents_limit_the_search_before_the_top_k(opened, kind, unit_rows):
    vectors = unit_rows([[1, i / 10] for i in range(30)])
    index = opened(kind, vectors)
    query = unit_rows([[1, 0]])[0]
    found = index.search(query, 3, frozenset({"0028.md", "0005.md", "0029.md", "nowhere.md"}))
    assert found == by_hand(vectors, query, 3, [5, 28, 29])
    assert index.search(query, 1, frozenset({"0028.md", "0029.md"})) == by_hand(vectors, query, 1, [28])
    assert index.search(query, 3, frozenset()) == []
    assert index.search(query, 3, frozenset({"nowhere.md"})) == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_index_finds_nothing(opened, kind):
    index = opened(kind, np.empty((0, 8), np.float32))
    assert index.search(np.ones(8, np.float32), 10) == []
    assert index.search(np.ones(8, np.float32), 10, frozenset({"0000.md"})) == []


@pytest.mark.parametrize("kind", KINDS)
def test_cosines_are_those_of_the_search_and_similarities_those_of_pairs(opened, kind, unit_rows):
    vectors = unit_rows([[1, 0], [3, 4], [0, 1]])
    index = opened(kind, vectors)
    query = unit_rows([[1, 0]])[0]
    # [3, 4] / 5 lies 0.6 along the first axis and 0.8 along the second.
    assert index.cosines(query, [1, 2, 1]).tolist() == [0.6, 0.0, 0.6]
    assert index.similarity([2, 1]).tolist() == [[1.0, 0.8], [0.8, 1.0]]
    assert index.cosines(query, []).shape == (0,)
    assert index.similarity([]).shape == (0, 0)
    assert dict(index.search(query, 3)) == dict(enumerate(index.cosines(query, range(3)).tolist()))


@pytest.mark.parametrize("kind", KINDS)
def test_eight_threads_get_what_one_gets(opened, kind):
    vectors = random(400)
    vectors[100:150] = vectors[0]
    index = opened(kind, vectors)
    asked = [
        (query, k, doc_ids)
        for query in (*random(30, seed=9), vectors[0])
        for k in (3, 30)
        for doc_ids in (None, frozenset(f"{i:04}.md" for i in range(0, 400, 3)))
    ]
    alone = [index.search(*each) for each in asked]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda each: index.search(*each), asked)) == alone


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    arrays(np.float32, (60, 4), elements=st.sampled_from([np.float32(x) for x in (-1, 0, 0.5, 1)])), st.integers(1, 20)
)
def test_chroma_finds_what_the_reference_finds(tmp_path_factory, chunks_of, corners, k):
    """Few directions, so that most vectors have copies, and most cosines are equal."""
    vectors = unit(corners + np.float32(0.25))
    chunks, folder = chunks_of([f"text {i}" for i in range(len(vectors))]), tmp_path_factory.mktemp("chroma")
    np.save(folder / store.VECTORS, vectors)
    store.write(folder, chunks)
    index, reference = ChromaIndex(folder, chunks), ExactIndex(vectors, chunks)
    try:
        for query in vectors[:20]:
            assert index.search(query, k) == reference.search(query, k)
    finally:
        index.close()


def test_blocks_do_not_change_a_cosine(opened):
    vectors = random(2 * BLOCK + 3, dim=8)
    assert opened("numpy", vectors).search(vectors[BLOCK], 7) == by_hand(vectors, vectors[BLOCK], 7)


def test_noise_of_float32_is_rounded_away(chunks_of):
    vector = np.array([0.6, 0.8], np.float32)
    index = ExactIndex(np.stack([vector, np.nextafter(vector, 1)]), chunks_of(["a", "b"]))
    assert index.search(vector, 2) == [(0, 1.0), (1, 1.0)]


@settings(max_examples=200)
@given(st.lists(st.sampled_from([0.1, 0.2, 0.3]), max_size=30), st.integers(0, 35))
def test_the_best_stand_by_score_and_then_by_place(scores, k):
    expected = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]
    assert best(np.array(scores, np.float64), k).tolist() == expected
