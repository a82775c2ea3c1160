"""YAML is text as it is written, or one error with a line; whatever it is, it is read in no more than a moment."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docmind.yamlfile import LONGEST, NotYamlError, values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: 1.10\nb: no\nc: 012\nd: 17:30", {"a": "1.10", "b": "no", "c": "012", "d": "17:30"}),
        ("a:\nb: ~\nc: null\nd: 'null'\ne: Null", {"a": None, "b": None, "c": None, "d": "null", "e": "Null"}),
        ("1: x\nno: y\n~: z", {"1": "x", "no": "y", "~": "z"}),
        ("a: !!timestamp foo\nb: !!python/object/apply:os.getcwd []\nc: !x {d: 1}", {"a": "foo", "b": [], "c": {"d": "1"}}),
        ("a: &x [1]\nb: *x", {"a": ["1"], "b": ["1"]}),
        ("a: {<<: {x: 1, y: 2}, y: 3}", {"a": {"x": "1", "y": "3"}}),
        ("a: {<<: [{x: 1}, {x: 2, y: 3}]}", {"a": {"x": "1", "y": "3"}}),
        ("", None),
        ("# a comment", None),
    ],
)  # fmt: skip
def test_every_value_is_the_text_that_is_written(text, found):
    assert values(text) == found


@pytest.mark.parametrize(
    ("written", "found"),
    [("3", 3), ("0.50", 0.5), ("-1", -1), ("'3'", "3"), ("03", "03"), ("3e1", "3e1"), ("[3]", ["3"]), ("", None)],
)
def test_only_a_key_of_numbers_has_a_number_and_only_a_plain_one(written, found):
    assert values(f"n: {written}\ntext: 3", {"n"}) == {"n": found, "text": "3"}


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: 1\nb: c: d", 2, "mapping values are not allowed here"),
        ("a: 1\nb: {c: 1,\n c: 2}", 3, "the key 'c' stands twice"),
        ("? [a]\n: b", 1, "a key that is no text was found"),
        ("a: 1\nb: *c", 2, "found undefined alias 'c'"),
        ("a: &a {b: *a}", 1, "found unconstructable recursive node"),
        ("a: {<<: 1}", 1, "<< wants a mapping"),
        ("a: " + "[" * 40_000, 1, "nested too deeply"),
        ("a: \x00", 1, "special characters are not allowed"),
        (r'a: "\UFFFFFFFF"', 1, "out of range"),
        (r'a: "\U7FFFFFFF"', 1, "out of range"),
        ("%YAML " + "9" * 5000 + ".1\n---\na: 1", 1, "out of range"),
        ("x" * (LONGEST + 1), 1, "it has 100,001 characters; 100,000 are read"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_yaml_is_one_error_with_its_line(text, line, reason):
    with pytest.raises(NotYamlError) as raised:
        values(text)
    assert reason in str(raised.value)
    assert raised.value.line == line


LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{c}: &{c} [{','.join([f'*{chr(ord(c) - 1)}'] * 9)}]\n" for c in "bcdefghi"
)
"""A few lines that stand for 9⁹ values."""


@pytest.mark.parametrize("text", [LAUGHS, "a: &a " + "x" * 50_000 + "\nb: [*a, *a]"], ids=["values", "one long value"])
def test_aliases_are_followed_until_they_stand_for_too_much(text):
    started = time.perf_counter()
    with pytest.raises(NotYamlError, match=r"aliases \(\*name\) stand for more than 100,000 characters"):
        values(text)
    assert time.perf_counter() - started < 5


PIECES = st.sampled_from(
    ["a", "b: ", "- ", "? ", "[", "]", "{", "}", ",", "&x ", "*x", "!!int ", "!", "<<: ", "|", ">", "'", '"', "\\", "\n", "  ",
     "\t", "%YAML 1.1", "---", "...", "#", "0x", "1:1", "\ud800", "é", "\\u", "\\U", "F" * 8, "~", "@", "`"]
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_whatever_stands_there_is_values_or_that_error(text):
    try:
        found = values(text, {"b"})
    except NotYamlError:
        return
    left = [found]
    while left:
        value = left.pop()
        assert value is None or type(value) in (str, int, float, dict, list)
        left.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
