"""Small hostile texts take no long time: whatever reads characters grows with their number, not with its square."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from growth import BOUND, growth

from docmind.corpus import markdown, pdf, plain
from docmind.corpus.paragraphs import paragraphs
from docmind.errors import AnswerKeyError
from docmind.evaluation.key.dataset import load_questions
from docmind.evaluation.key.evidence import Pages
from docmind.foreign.placing import Placer
from docmind.foreign.reply import Passage
from docmind.generation.sentences import quotations
from docmind.llm.concealing import Concealing
from docmind.markup import blocks, clean
from docmind.text import find_all, fold, nearest, nfc, words
from docmind.types import Document, Span

pytestmark = pytest.mark.slow

KEY = "sk-Live/1234+abcd_efgh"

Make = Callable[[int], str]


def repeated(unit: str, before: str = "", after: str = "") -> Make:
    return lambda n: before + unit * (max(1, n - len(before) - len(after)) // len(unit)) + after


def nested(opening: str, closing: str, inner: str = "x") -> Make:
    return lambda n: (
        opening * (n // (len(opening) + len(closing))) + inner + closing * (n // (len(opening) + len(closing)))
    )


UNITS = r"""
    [ [a]( [a](< [a](b" ![ ![[a [[a| [[a]] [[a]]( ](  *a_ a**b**c *[a]: <b <b> <!-- <!--a--> <div> <pre> <td> <table>
    <tr><td> <sup> <a b={ <a b={{ <A> </A> <A/> <A b='c'> <ac:a> <http:// <? <![CDATA[ <!a {{ }} {{<a {{<a>}} {{<a"b {{%a%}}
    {{site.a}} {{site.a| {%a {%a%} {%if%} {%raw%} {%a'b'%} {# {#a} {.a} {:a {a="b {a="b"} ==a ==a== ~a ~~a ^a ^^a ^[a
    %%a %% ++a $a $$a \(a \[a{ \* \ {--a {~~a~> {>>a {==a {kbd}`a {kbd}`a` ` `a` ``` &a &amp; &# # #{ - * _ + = ~ : |
    |a |-| > 1. !!! ??? ::: /// ' " ( ) ! @ ^ a.b/c \u00a0 \u0301\u0323 e\u0301 \u00ad \u200b \ufb01 \u201c
""".split()  # noqa: SIM905
UNITS = [
    unit.encode("ascii").decode("unicode_escape") if "u0" in unit or "u2" in unit or "uf" in unit else unit
    for unit in UNITS
]
LINES = r"""
    - a|> a|1. a|* - a|# a|# a {|a;===|a: b|[a]: b|[a]: {{|:::a|:::|::: a;b;:::|/// a|!!! a;    b|=== "a";    b|[^a]:;    b
    : a;;    b|```|~~~|```{note}|:::{note}|%%|--8<--|<<< a|(a)=|+++|> [!a]|<table>;|</table>;|    a|{.a}|---||
"""
LINES = [line.replace(";", "\n") for row in LINES.strip("\n").split("\n") for line in row[4:].split("|")]
LINES += ["| a |\n|---|", "|a|b|"]
PAGES: dict[str, Make] = {
    **{f"{unit}": repeated(unit) for unit in UNITS},
    **{f"{unit} apart": repeated(unit + " ") for unit in UNITS},
    **{f"lines of {line!r}": repeated(line + "\n") for line in LINES},
}
NAMED: dict[str, Make] = {
    "odd blanks before a letter": repeated("\u00a0", after="x"),
    "blanks before a letter": repeated(" ", after="x"),
    "a long name in a shortcode": repeated("a", "{{< ", " >}}"),
    "a shortcode of quotes": repeated('"', "{{< a ", " >}}"),
    "a shortcode of slashes and a blank": repeated("/", '{{< a "', ' b" >}}'),
    "a shortcode of keys": repeated("a=", "{{< a ", " >}}"),
    "shortcodes in an address": repeated("{{ a }}", "[a](", ")"),
    "a letter of many marks": repeated("\u0301\u0323", "a"),
    "an attribute list": repeated(".a ", "# a {", "}"),
    "an attribute list without end": repeated(".a ", "# a {"),
    "attributes of a tag": repeated(" a", "<a", ">"),
    "attributes of a tag without end": repeated(" a='b'", "<a"),
    "cells that span": repeated("<tr><td rowspan=99 colspan=99>a", "<table>"),
    "a cell that spans": lambda n: "<table><tr><td rowspan=9999>" + "a" * (n // 2) + "<tr><td>b" * (n // 18),
    "tags in each other": nested("<div>", "</div>"),
    "tables in each other": nested("<table>\n\n", "</table>\n\n"),
    "quotes in each other": nested("> ", ""),
    "boxes in each other": nested(":::abcdefghijkl\n", ":::::::::::::::\n"),
    "emphasis in each other": nested("*a ", " a*"),
    "brackets in each other": nested("[", "](a)"),
    "braces in each other": nested("{", "}"),
}


PLAIN = {
    family: NAMED[family]
    for family in ("odd blanks before a letter", "blanks before a letter", "a letter of many marks")
}


def assert_linear(work: Callable[[str], object], make: Make, most: int = 2**17) -> None:
    assert growth(work, make, most) < BOUND


@pytest.mark.parametrize("family", NAMED)
def test_cleaning_a_long_page(family: str) -> None:
    assert_linear(clean, NAMED[family])


@pytest.mark.parametrize("family", PAGES)
def test_cleaning_a_page(family: str) -> None:
    assert_linear(clean, PAGES[family], 2**15)


@pytest.mark.parametrize("family", [family for family in PAGES if not family.endswith(" apart")])
def test_the_blocks_of_a_page(family: str) -> None:
    assert_linear(lambda text: blocks("d", text), PAGES[family], 2**15)


@pytest.mark.parametrize("family", [family for family in PAGES if not family.endswith(" apart")])
def test_folding_a_page(family: str) -> None:
    assert_linear(fold, PAGES[family], 2**15)


@pytest.mark.parametrize("family", PLAIN)
@pytest.mark.parametrize(
    "work", [fold, words, nfc, lambda text: nearest(text, text), lambda text: paragraphs("d", text), pdf._plain],
    ids=["fold", "words", "nfc", "nearest", "paragraphs", "pdf"],
)  # fmt: skip
def test_plain_text(work: Callable[[str], object], family: str) -> None:
    assert_linear(work, PLAIN[family])


@pytest.mark.parametrize("unit", ["a", "ab ", "a b ", "aab", "a. ", "\u00a0", "a\u0301\u0323", "*", "a*b "])
@pytest.mark.parametrize("part", [2, 3, 10])
def test_evidence_that_repeats_itself(unit: str, part: int) -> None:
    assert_linear(lambda text: find_all(text, text[: len(text) // part]), repeated(unit))
    assert_linear(lambda text: find_all(text, text[: len(text) // part] + "a"), repeated(unit))


@pytest.mark.parametrize(
    "unit",
    ["a ", "a b ", "a a b ", "a b a b c ", "a. ", "a\u0301\u0323 ", "ab\u00ad", "的", "1. a\n", "- ", "<b>a ", "[a]("],
)
@pytest.mark.parametrize("part", [1, 3])
def test_a_passage_that_repeats_itself(unit: str, part: int) -> None:
    def place(text: str, behind: str = "") -> None:
        Placer([Document("d", "d", text)]).place(Passage(text[: len(text) // part] + behind))

    assert_linear(place, repeated(unit), 2**15)
    assert_linear(lambda text: place(text, " c d"), repeated(unit), 2**15)


@pytest.mark.parametrize(
    "passage", ["kept by the people team here", "a title of it\n\nkept by the people team here", "kept"]
)
def test_a_passage_that_many_pages_hold(passage: str) -> None:
    def place(text: str) -> None:
        Placer(Document(f"{i}.md", "a title of it", line) for i, line in enumerate(text.splitlines())).place(
            Passage(passage)
        )

    assert_linear(place, repeated("This page is kept by the people team here.\n"))
    assert_linear(
        lambda text: Placer(Document(f"{i}", "", line) for i, line in enumerate(text.splitlines())).place(
            Passage(text)
        ),
        repeated("This page is kept by the people team here.\n"),
    )


def attempt(work: Callable[[], object], *errors: type[Exception]) -> None:
    """Whether it is accepted or refused is not asked here."""
    with suppress(*errors):
        work()


@pytest.mark.parametrize("unit", ["\u00a0", "ab ", "\u0301\u0323", "{{< a ", "[", "<a b={"])
def test_evidence_of_an_answer_key(unit: str) -> None:
    page = markdown.document("page.md", "Take 25 days.")
    assert_linear(
        lambda text: attempt(lambda: Pages([page]).find("page.md", text + "x"), AnswerKeyError), repeated(unit)
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "{" + ",".join(['"id": 1'] * (n // 8)) + "}",
        lambda n: "{" + ",".join(f'"k{i}": 1' for i in range(n // 10)) + "}",
        lambda n: json.dumps({"id": "q", "question": "x", "source": "a" * n, "evidence": "b"}),
        lambda n: json.dumps({"id": "q", "question": "x", "source": None, "evidence": None, "a" * n: 1}),
        lambda n: json.dumps({"id": "q", "question": "x", "source": None, "evidence": None, "doc_ids": ["a"] * (n // 5)}),
    ],
    ids=["equal keys", "keys", "a long source", "a long key", "many pages"],
)  # fmt: skip
def test_a_line_of_an_answer_key(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    page = markdown.document("page.md", "Take 25 days.")

    def read(text: str) -> None:
        path.write_text(text)
        attempt(lambda: load_questions(path, [page]), AnswerKeyError)

    assert_linear(read, make)


@pytest.mark.parametrize(
    "unit", ["Dr. A ", "no. 5 ", "- Dr. A ", "> Dr. A\n", "| Dr. A ", "|a|b|\n|-|-|\n", "1. A ", "u.s. A ", ".\n> "]
)
def test_what_can_be_quoted_of_a_page(unit: str) -> None:
    def quote(text: str) -> None:
        page = markdown.document("d", text)
        assert list(quotations(page, Span("d", 0, len(text))))

    assert_linear(quote, repeated(unit, after="a"), 2**15)


@pytest.mark.parametrize("unit", ["\\", "\\u", "%", "&", "&#", "sk-", KEY, KEY[:-1], " ", "\u200b"])
def test_words_of_a_server_in_which_a_key_is_looked_for(unit: str) -> None:
    def show(text: str) -> None:
        showing = Concealing(lambda _: None, [KEY])
        showing.write(text)
        showing.end()

    assert_linear(show, repeated(unit, after="x"), 2**16)


@pytest.mark.parametrize("unit", ["\u00a0", "\u0301\u0323", "a\n", " "])
def test_a_text_file(unit: str, tmp_path: Path) -> None:
    path = tmp_path / "page.txt"

    def read(text: str) -> None:
        path.write_text(text, encoding="utf-8")
        plain.read(path, "page.txt")

    assert_linear(read, repeated(unit, after="x"))
