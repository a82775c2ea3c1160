"""What strategies.yaml says of a foreign retriever: typed, or told with its key."""

from __future__ import annotations

import pytest

from docmind.errors import UsageError
from docmind.foreign import SOURCES
from docmind.foreign.declared import KINDS, parse


def test_every_kind_has_a_source_and_every_source_a_kind():
    assert tuple(SOURCES) == KINDS


def test_what_is_not_said_is_usual():
    found = parse("mine", {"url": "http://localhost:8000/search"})
    assert (found.kind, found.place) == ("url", "http://localhost:8000/search")
    assert (found.timeout, found.workers, found.depth, found.max_unplaced, found.version) == (30.0, 1, None, 0.1, "")
    assert str(parse("x", {"command": ["python", "s.py"]})) == "command: python s.py"


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "strategies.mine: none of no key was found; expected: exactly one of python, url, command, file, trec"),
        ({"ulr": "http://x"}, "none of ulr was found"),
        ({"url": "http://x", "file": "a"}, "url, file was found; expected: exactly one of"),
        (
            {"url": "localhost:80"},
            "strategies.mine.url: 'localhost:80' was found; expected: an address that begins with http",
        ),
        ({"url": "http://x", "workres": 2}, "strategies.mine.workres: unknown key 'workres'. Did you mean 'workers'?"),
        (
            {"url": "http://x", "workers": 0},
            "strategies.mine.workers: 0 was found; expected: greater than or equal to 1",
        ),
        ({"url": "http://x", "workers": "two"}, "expected: a number in plain digits"),
        ({"url": "http://x", "timeout": 0}, "strategies.mine.timeout: 0 was found"),
        ({"url": "http://x", "max_unplaced": 2}, "strategies.mine.max_unplaced: 2 was found"),
        ({"url": "http://x", "fields": {"txt": "a"}}, "strategies.mine.fields.txt: unknown key 'txt'."),
        ({"url": "http://x", "method": "PUT"}, "strategies.mine.method: 'PUT' was found; expected: 'POST' or 'GET'"),
        ({"url": "http://x", "headers": {"A": ["secret"]}}, "strategies.mine.headers.A: a value was found"),
        ({"python": "a:b", "headers": {}}, "strategies.mine.headers: is of url alone"),
        ({"command": "python x.py"}, "strategies.mine.command: 'python x.py' was found; expected: a valid list"),
        ({"command": []}, "strategies.mine.command: [] was found"),
        ({"file": ["a"]}, "strategies.mine.file: ['a'] was found"),
    ],
)
def test_a_fault_is_told_with_its_key_the_value_and_what_was_expected(fields, told):
    with pytest.raises(UsageError) as error:
        parse("mine", fields)
    assert told in str(error.value)
    assert "secret" not in str(error.value)
