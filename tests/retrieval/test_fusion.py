"""Fusion and diversity, by hand and by property."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.retrieval.fusion import mmr, rrf


def test_rrf_by_hand():
    # b: 1/62 + 1/61, a: 1/61, c: 1/62
    assert rrf([["a", "b"], ["b", "c"]]) == {
        "a": pytest.approx(1 / 61),
        "b": pytest.approx(1 / 62 + 1 / 61),
        "c": pytest.approx(1 / 62),
    }


def test_an_empty_list_adds_nothing():
    assert rrf([["a", "b"], []]) == rrf([["a", "b"]])
    assert rrf([]) == {}


@given(st.lists(st.permutations("abcdef").map(lambda p: p[:4]), min_size=2, max_size=5), st.randoms())
def test_rrf_does_not_depend_on_the_order_of_the_lists(lists, random):
    """Floating sums of three terms or more would: equal sums must tie to the last bit."""
    shuffled = list(lists)
    random.shuffle(shuffled)
    assert rrf(lists) == rrf(shuffled)


def test_mmr_by_hand():
    relevance = [0.9, 0.8, 0.5]
    similarity = np.array([[1.0, 0.95, 0.1], [0.95, 1.0, 0.2], [0.1, 0.2, 1.0]])
    # first 0: 0.5 * 0.9 = 0.45. Then 1: 0.4 - 0.475 = -0.075; 2: 0.25 - 0.05 = 0.2, taken.
    # Last 1: 0.4 - 0.5 * max(0.95, 0.2) = -0.075
    assert mmr(relevance, similarity, 0.5, 3) == [
        (0, pytest.approx(0.45)),
        (2, pytest.approx(0.2)),
        (1, pytest.approx(-0.075)),
    ]


def test_mmr_with_lambda_one_is_relevance_and_ties_go_to_the_first():
    order = [index for index, _ in mmr([0.5, 0.9, 0.9, 0.1], np.ones((4, 4)), 1.0, 3)]
    assert order == [1, 2, 0]


@given(st.integers(0, 6), st.integers(1, 8))
def test_mmr_takes_each_once(n, k):
    order = [index for index, _ in mmr([0.5] * n, np.eye(n), 0.5, k)]
    assert order == list(range(min(n, k)))
