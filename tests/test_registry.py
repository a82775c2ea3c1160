"""Names: unknown ones are explained, repeated ones refused."""

import pytest

from docmind.config import MATRIX, Strategy, strategy
from docmind.errors import UsageError
from docmind.registry import Registry

FRUIT = Registry("fruit", [("apple", 1), ("pear", 2)])


def test_entries_keep_their_order():
    assert dict(FRUIT) == {"apple": 1, "pear": 2}
    assert list(FRUIT) == ["apple", "pear"]


def test_an_unknown_name_tells_the_nearest_and_all_there_are():
    with pytest.raises(UsageError, match=r"unknown fruit 'aple'. Did you mean 'apple'\? There are: apple, pear\."):
        FRUIT["aple"]
    with pytest.raises(UsageError, match=r"unknown fruit 'x'. There are: apple, pear\."):
        FRUIT["x"]


def test_a_name_is_registered_once():
    with pytest.raises(ValueError, match="two fruits are registered as 'apple'"):
        Registry("fruit", [("apple", 1), ("apple", 2)])


def test_the_matrix_has_ten_strategies():
    assert [s.name for s in MATRIX] == [
        "s0_original",
        *(f"{c}+{m}" for c in ("fixed_500", "semantic", "headers") for m in ("vector", "hybrid", "rerank")),
    ]


def test_any_chunker_and_mode_can_be_named():
    assert strategy("s0_original") == Strategy("s0_original", "recursive_1000", "mmr")
    assert strategy("headers+bm25") == Strategy("headers+bm25", "headers", "bm25")


@pytest.mark.parametrize("name", ["", "headers", "+bm25", "headers+", "a+b+c"])
def test_a_name_of_neither_form_is_explained(name):
    with pytest.raises(UsageError, match=r"CHUNKER\+MODE"):
        strategy(name)
