"""Fusion and diversity, by hand and by property."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.retrieval.fusion import minmax, mmr, rrf


def test_rrf_by_hand():
    # b: 1/62 + 1/61, a: 1/61, c: 1/62
    assert rrf([["a", "b"], ["b", "c"]], [1, 1]) == {
        "a": pytest.approx(1 / 61),
        "b": pytest.approx(1 / 62 + 1 / 61),
        "c": pytest.approx(1 / 62),
    }


def test_rrf_with_weights_by_hand():
    # weights 2 and 0.5, constant 10. b: 2/12 + 0.5/11, a: 2/11, c: 0.5/12
    assert rrf([["a", "b"], ["b", "c"]], [2, 0.5], 10) == {
        "a": pytest.approx(2 / 11),
        "b": pytest.approx(2 / 12 + 0.5 / 11),
        "c": pytest.approx(0.5 / 12),
    }


def test_weights_of_one_give_the_unweighted_sums_to_the_last_bit():
    lists = [list(range(100)), list(range(50, 150))]
    plain = {item: sum(1 / (60 + each.index(item) + 1) for each in lists if item in each) for item in range(150)}
    assert rrf(lists, [1.0, 1.0]) == plain


def test_an_empty_list_adds_nothing():
    assert rrf([["a", "b"], []], [1, 1]) == rrf([["a", "b"]], [1])
    assert rrf([], []) == minmax([], []) == minmax([[]], [1]) == {}


def test_a_list_without_a_weight_is_a_fault():
    for fused in (lambda: rrf([["a"], ["b"]], [1]), lambda: minmax([[("a", 1.0)]], [1, 1])):
        with pytest.raises(ValueError, match="zip"):
            fused()


@given(
    st.lists(st.permutations("abcdef").map(lambda p: p[:4]), min_size=2, max_size=5).flatmap(
        lambda lists: st.tuples(
            st.just(lists), st.lists(st.floats(0.001, 1000), min_size=len(lists), max_size=len(lists))
        )
    ),
    st.randoms(),
)
def test_fusion_does_not_depend_on_the_order_of_the_lists(both, random):
    """Floating sums of three terms or more would: equal sums must tie to the last bit."""
    pairs = list(zip(*both, strict=True))
    shuffled = list(pairs)
    random.shuffle(shuffled)

    def fused(pairs):
        lists, weights = zip(*pairs, strict=True)
        scored = [[(item, ord(item) / 7) for item in each] for each in lists]
        return rrf(lists, weights), minmax(scored, weights)

    assert fused(pairs) == fused(shuffled)


def test_minmax_by_hand():
    # first: 9 → 1, 5 → (5 - 1) / 8 = 0.5, 1 → 0; second: 0.3 → 1, 0.1 → 0. Weights 3 and 1, of 4.
    assert minmax([[("a", 9), ("b", 5), ("c", 1)], [("b", 0.3), ("d", 0.1)]], [3, 1]) == {
        "a": pytest.approx(3 / 4),
        "b": pytest.approx((3 * 0.5 + 1) / 4),
        "c": 0,
        "d": 0,
    }


def test_minmax_of_equal_scores_is_one_of_each():
    assert minmax([[("a", 2), ("b", 2)], [("c", -7)]], [1, 1]) == {"a": 0.5, "b": 0.5, "c": 0.5}


@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), st.floats(-1e6, 1e6), max_size=6), min_size=1, max_size=4))
def test_minmax_lies_between_0_and_1(lists):
    found = minmax([list(each.items()) for each in lists], [1.5] * len(lists))
    assert all(0 <= score <= 1 for score in found.values())
    assert found.keys() == {item for each in lists for item in each}


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
