"""Names: unknown ones are explained, repeated ones refused."""

import pytest

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
