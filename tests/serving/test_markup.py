"""Texts of strangers as HTML: whatever they hold, only our own tags are in it, and every word of theirs is there."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind import serving
from docmind.corpus.markdown import document
from docmind.serving import markup
from docmind.serving.replies import Passage, Reply
from docmind.types import Answer, Document, Ranking, Span

OURS = re.compile(r"</?(?:mark|i|i class=\"md\")>")

NASTY = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "</div></mark><iframe srcdoc='x'>",
    "[x](javascript:alert(1))",
    "![x](http://example.org/x.png)",
    "$\\LaTeX$",
    ":material/home: :red[x]",
    '" onmouseover="alert(1)',
    "&lt;b&gt; &#60;b&#62;",
    "<!-- -->",
    "**bold** # heading",
]


def words(html: str) -> str:
    """What a reader sees of it."""
    return unescape(OURS.sub("", html))


@pytest.mark.parametrize("text", NASTY)
def test_nothing_of_it_is_a_tag(text):
    html = markup.shown(text)
    assert "<" not in OURS.sub("", html)
    assert '"' not in OURS.sub("", html)
    assert words(html) == text


@given(st.text(), st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9))))
def test_marks_never_open_a_tag_or_lose_a_character(text, marks):
    text = f"a{text}z"
    spans = [Span("a", start, start + length) for start, length in marks]
    html = markup.marked(text, Span("a", 0, len(text)), spans)
    assert "<" not in OURS.sub("", html)
    assert html.count("<mark>") == html.count("</mark>")
    seen = words(html)
    assert len(seen) == len(text)
    assert all(a in (b, "\N{REPLACEMENT CHARACTER}") for a, b in zip(seen, text, strict=True))


def test_what_is_marked_is_what_the_spans_say():
    text = "You have 25 days a year"
    html = markup.marked(text, Span("a", 4, 23), [Span("a", 0, 6), Span("a", 9, 16), Span("a", 12, 40)])
    assert html == "<mark>ha</mark>ve <mark>25 days a year</mark>"


def passage(**given) -> Passage:
    text = "x" * 5_000 + "\nBefore.\nThe passage.\nAfter."
    at = text.index("The")
    span = Span("a.md", at, at + len("The passage."))
    fields = {"number": 2, "document": Document("a.md", "<b>T</b>", text), "heading": ("One", "<i>Two</i>"), "pages": (3, 5),
              "header": "| <u> |", "spans": (span,), "marks": (Span("a.md", at + 4, at + 11),)}  # fmt: skip
    return Passage(**{**fields, **given})


def test_a_passage_tells_where_it_stands():
    html = markup.passage(passage(), "ask-0")
    assert 'id="ask-0-2"' in html
    seen = re.sub(r"<[^>]+>", "", html)
    assert unescape(seen) == "[2] <b>T</b> › One › <i>Two</i> pages 3, 5 a.md| <u> |The passage."
    assert "page 3<" in markup.place(passage(pages=(3,)))
    assert "page" not in markup.place(passage(pages=())).replace('class="page"', "")


@pytest.mark.parametrize(
    ("doc_id", "title", "told"),
    [
        ("documents/boat.pdf", "about:blank page 1", True),
        ("leave-uk.md", "Leave", True),
        ("travel/sick_leave.md", "Sick leave", True),  # one word to a search, two to a reader: told rather than not
        ("hr/leave-uk.md", "Leave in the UK", False),
        ("notes.txt", "notes", False),
    ],
)
def test_a_files_name_is_told_where_it_has_a_word_that_the_title_has_not(doc_id, title, told):
    html = markup.place(passage(document=Document(doc_id, title, "text")))
    assert html.endswith(f'<span class="name">{doc_id.rpartition("/")[2]}</span>') == told


def test_a_passage_shows_a_table_without_its_rule_and_marks_the_same_words():
    table = "| Day | Pay |\n|:----|---:|\n| Sat | 30 |\n| --- | - |"
    at = table.index("Pay")
    marks = (Span("a.md", at, at + 3), Span("a.md", table.index("Sat"), table.index("Sat") + 3))
    whole = (Span("a.md", 0, len(table)),)
    page = document("a.md", table)
    html = markup.passage(passage(document=page, spans=whole, marks=marks, header="| Day |"), "n")
    assert '<div class="header">| Day |</div>' in html
    # the last line is a row of the table, though it is of dashes
    assert "| Day | <mark>Pay</mark> |\n| <mark>Sat</mark> | 30 |\n| --- | - |</div>" in html


@pytest.mark.parametrize(
    ("start", "end", "told"), [(4, 15, "y | Pay |\n"), (14, 26, ""), (20, 33, "| Sat"), (0, 11, "| Day | Pay")]
)
def test_a_passage_that_begins_or_ends_at_the_rule_of_a_table_shows_the_rest(start, end, told):
    # 0 to 13 the head and 13 its line break, 14 to 26 the rule and 27 on the row
    page = document("a.md", "| Day | Pay |\n|:----|----:|\n| Sat | 30 |")
    html = markup.passage(passage(document=page, spans=(Span("a.md", start, end),), marks=(), header=""), "n")
    assert f'<div class="text" dir="auto">{told}</div>' in html


@pytest.mark.parametrize("line", ["---", "| - a |", "-|-", "| -- | 2 |", "||", "| |", "|---|"])
def test_what_is_no_rule_of_a_table_stays(line):
    page = document("a.md", f"a\n\n{line}\nb")
    html = markup.passage(passage(document=page, spans=(Span("a.md", 0, len(page.text)),), marks=()), "n")
    assert f"a\n\n{line}\nb" in html


def test_the_whole_page_is_there_and_opens_at_the_passage():
    found = passage()
    html = markup.whole_page(found)
    assert '<span class="lit">The <mark>passage</mark>.</span>' in html
    folded, _, opened = html.partition("</details>")
    assert "xxx" in folded
    assert "xxx" not in opened
    seen = unescape(re.sub(r"<summary>.*?</summary>|<[^>]+>", "", html))
    assert seen == found.document.text


def test_a_giant_page_is_cut_and_says_so():
    text = "a" * 300_000
    found = passage(document=Document("a.md", "T", text), spans=(Span("a.md", 100, 110),), marks=())
    html = markup.whole_page(found)
    assert "Cut after 200,000 characters" in html
    assert len(html) < 210_000


def reply(text: str, answerer: str = "openai/x") -> Reply:
    return Reply(Answer(text, (), False, Ranking(()), answerer, timings={"answer": 0.001}), (passage(),), ())


def test_citations_lead_to_the_passages_that_are_there_and_to_nothing_else():
    html = markup.answer(reply("Yes [2], [1, 2] and [9]. <a href='#ask-0-2'>[2]</a>"), "ask-0")
    assert html.count('<a href="#ask-0-2">[2]</a>') == 3
    assert html.count("<a ") == 3
    assert "[1]" in html
    assert "[9]" in html
    other = markup.answer(reply(f"Yes 【2】, [ 2 ], [1-2] and [{'9' * 5000}]."), "ask-0")
    assert other.count('<a href="#ask-0-2">[2]</a>') == other.count("<a ") == 3


def test_a_quoted_sentence_is_one_line_and_a_models_lines_stay():
    assert "a b\n\nc" in markup.answer(reply("a\nb\n\nc", "extractive"), "n")
    assert "a\nb\n\nc" in markup.answer(reply("a\nb\n\nc"), "n")


def test_a_heat_of_gold_takes_turns():
    assert markup.turns(["<a>", "b", "c"]) == "&lt;a&gt;<mark>b</mark>c"


def test_a_stage_has_one_colour_whatever_stands_before_it():
    colours = [markup._colour(name) for name in markup.STAGES]
    assert colours == list(range(6))
    css = Path(serving.__file__).with_name("page.css").read_text()
    assert all(f".s{colour} {{" in css for colour in (*colours, markup._colour("a stage of one's own")))
