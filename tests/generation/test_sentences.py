"""What can be quoted of a passage: whole sentences, items and rows, and nothing of it lost."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.corpus.markdown import document
from docmind.generation.sentences import quotations
from docmind.types import Document, Span


def all_of(page, start=0, end=None):
    """What can be quoted of a document, or of a part of it."""
    end = len(page.text) if end is None else end
    return list(quotations(page, Span(page.id, start, end))) if start < end else []


def quotes(text):
    """The characters that are quoted of a Markdown text."""
    return [text[q.span.start : q.span.end] for q in all_of(document("a.md", text))]


def said(text):
    return [q.said for q in all_of(document("a.md", text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You have 25 days. Book early! Is that all? Yes.", ["You have 25 days.", "Book early!", "Is that all?", "Yes."]),
        ("One line\nand the next belong together. Done.", ["One line\nand the next belong together.", "Done."]),
        ("Two paragraphs\n\nwithout a stop", ["Two paragraphs", "without a stop"]),
        ("It costs 3.50 euros. 25 days are paid.", ["It costs 3.50 euros.", "25 days are paid."]),
        ("see docmind.toml for more. then read on", ["see docmind.toml for more. then read on"]),
        ("Wait... Then go.", ["Wait...", "Then go."]),
        ("Zuerst das. Über den Rest später.", ["Zuerst das.", "Über den Rest später."]),
        ("no stop at all", ["no stop at all"]),
        ("  \n Blanks around. \t\n", ["Blanks around."]),
        ("", []),
        (" \n\t ", []),
        ("… !!! “” ✓ ---", []),
    ],
)  # fmt: skip
def test_sentences_of_plain_text(text, expected):
    assert quotes(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Bring proof, e.g. A receipt.",
        "Public holidays, i.e. Christmas.",
        "Ask Dr. Jansen first.",
        "It takes approx. 25 days.",
        "See art. 7 of the law.",
        "Fill in form no. 12 today.",
        "Staff in the U.S. Have other rules.",
        "Open from 9 a.m. Monday to Friday.",
        "Pens, paper etc. Are free.",
    ],
)
def test_an_abbreviation_ends_no_sentence(text):
    assert quotes(text) == [text]
    assert quotes(f"{text} Then stop.") == [text, "Then stop."]


@pytest.mark.parametrize("text", ["Mind the top. Then stop.", "Is it first. Then stop.", "A big cast. All dance."])
def test_a_word_that_only_ends_like_an_abbreviation_does_end_one(text):
    assert len(quotes(text)) == 2


def test_a_doubtful_end_is_none_since_a_quotation_is_rather_too_long_than_cut():
    assert quotes("He said no. Then he left.") == ["He said no. Then he left."]


def test_items_of_lists_without_their_marks():
    text = "You need:\n- a form\n* a *stamp*\n+ Time. And patience.\n  - one below\n\n1. Ask HR. Wait.\n2) Sign.\n123. Leave."
    assert quotes(text) == [
        "You need:", "a form", "a *stamp*", "Time.", "And patience.", "one below", "Ask HR.", "Wait.", "Sign.", "Leave.",
    ]  # fmt: skip


def test_check_boxes_and_quotations_lose_their_marks_too():
    assert quotes("- [ ] To do\n- [x] Done\n\n> Quoted. Twice.") == ["To do", "Done", "Quoted.", "Twice."]


def test_a_quote_is_read_out_without_the_marks_of_its_lines():
    assert said("> It goes\n> on here. Then\n>\n> > stops. Now\n> > - one\n> >   two") == [
        "It goes\non here.", "Then", "stops.", "Now", "one\n  two"
    ]  # fmt: skip
    assert said("> One ends.\n> Two begins.") == ["One ends.", "Two begins."]


def test_a_line_that_only_looks_like_an_item_stays_in_its_sentence():
    assert quotes("On the 25th or the\n26. of June.") == ["On the 25th or the\n26. of June."]


@pytest.mark.parametrize(
    "text",
    [
        "## Carrying over\n\nFive days.",
        "# Carrying over\nFive days.",
        "Five days.\n# Over",
        "Over\n===\nFive days.",
        "- # Over\n- Five days.",
        "> ## Over\n> Five days.",
    ],
)
def test_a_heading_is_no_sentence(text):
    assert quotes(text) == ["Five days."]


def test_a_number_sign_in_a_line_makes_no_heading():
    assert quotes("#5 is open.\nSee # 5.") == ["#5 is open.", "See # 5."]


def test_a_year_at_the_start_of_a_line_is_no_mark_of_a_list():
    assert quotes("2024. A good year.\n2025. A better one.") == ["2024.", "A good year.", "2025.", "A better one."]


def test_rows_of_a_table_stand_alone_and_its_head_and_rule_are_none():
    text = "| Country | Days |\n| :-- | --: |\n| Spain | 23 |  \n| Italy | 26 |\n\nAfter it."
    assert quotes(text) == ["| Spain | 23 |", "| Italy | 26 |", "After it."]


def test_a_row_of_dashes_below_another_makes_no_head_of_it():
    assert quotes("| A | B |\n|---|---|\n| x | 2 |\n| -- | - |\n| y | 7 |") == ["| x | 2 |", "| y | 7 |"]


def test_no_sentence_ends_within_a_row():
    text = "Before. So.\n| A |\n|---|\n| One. Two. |\n\nAfter. That."
    assert quotes(text) == ["Before.", "So.", "| One. Two. |", "After.", "That."]


def test_code_is_quoted_by_line_as_it_stands_and_its_fence_is_not():
    assert quotes("Run:\n\n```sh\ncd docs\n  - make it. Now.\n\n---\n```\n\nDone.") == [
        "Run:", "cd docs", "- make it. Now.", "Done."
    ]  # fmt: skip
    assert quotes("1. Run\n\n   ~~~sh\n   make\n   ~~~\n\n> ```py\n> x\n> ```") == ["Run", "make", "> x"]
    assert quotes("    ls -l\n    cd docs") == ["ls -l", "cd docs"]
    assert quotes("```only a fence") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Bold.** Next one.", ["**Bold.**", "Next one."]),
        ("It is **25 days.** _Always._ **More** later.", ["It is **25 days.**", "_Always._", "**More** later."]),
        ("He said “Never.” Then he left.", ["He said “Never.”", "Then he left."]),
        ('"Yes." "No."', ['"Yes."', '"No."']),
        ("(In full.) Not in part.", ["(In full.)", "Not in part."]),
        ("See [the page.](x.md) [Another](y.md) page.", ["See [the page.](x.md) [Another](y.md) page."]),
        ("It ends here. «Voilà» he said.", ["It ends here.", "«Voilà» he said."]),
    ],
)
def test_marks_and_quotes_stay_with_their_sentence(text, expected):
    assert quotes(text) == expected


PIECES = ["a", "Bc", "é", "²", "7", "12.", "3) ", "2024. ", "e.g. ", "x.", "Y! ", "Z? ", "[x] ", "[1]", "**", "_", "“", "”",
          "(", ")", "|", "---", "- ", "* ", "+ ", "# ", "> ", "```", "| a |\n|---|\n",
          " ", "\t", "\n", "\n\n", "\u2028", "…", "\x1f"]  # fmt: skip
ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\r\0")  # a cleaned text holds none of these
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(ANY, max_size=3), max_size=25).map("".join)
LEFT_OUT = re.compile(r"(?:[\W_]|(?<!\w)\d{1,3}[.)](?=\s)|(?<=\[)[xX](?=\]\s)|(?<!\S)#{1,6}\s.*)*")
"""What may stand between quotes in an item or a quote: no letter and no digit but those of marks and of a heading."""


def left_out(page, block, at, end):
    """Whether the characters `at` to `end`, of that block, are rightly no part of a quotation."""
    if block.kind == "heading":
        return True
    if block.kind == "table" and block.header:
        at = max(at, block.header.end)
    if block.kind == "code":
        at = max(at, page.text.find("\n", block.span.start, block.span.end) if block.span.start == at else at)
        return page.text[block.span.start :].lstrip(" \t>-*+0123456789.)").startswith(("```", "~~~"))
    return at >= end or bool(LEFT_OUT.fullmatch(page.text, at, end))


@given(TEXTS)
def test_quotations_rise_do_not_overlap_and_lose_no_letter_and_no_digit(text):
    page = document("a.md", text)
    found = all_of(page)
    edges = [0, *(edge for q in found for edge in (q.span.start, q.span.end)), len(text)]
    assert edges == sorted(edges)
    for q in found:
        assert text[q.span.start : q.span.end] == text[q.span.start : q.span.end].strip()
        assert any(map(str.isalnum, q.said))
        assert not Counter(filter(str.isalnum, text[q.span.start : q.span.end])) - Counter(filter(str.isalnum, q.said))
    for end, start in zip(edges[::2], edges[1::2], strict=True):
        for block in page.blocks:
            a, b = max(end, block.span.start), min(start, block.span.end)
            assert a >= b or all(not c.isalnum() for c in text[a:b]) or left_out(page, block, a, b)


@given(TEXTS, st.integers(0, 60), st.integers(0, 60))
def test_of_any_part_nothing_outside_it_is_quoted(text, start, length):
    end = min(len(text), start + length)
    for q in all_of(document("a.md", text), start, end):
        assert start <= q.span.start < q.span.end <= end


@given(st.text("ab.# \n|-*>`", max_size=60))
def test_of_a_plain_text_every_letter_is_quoted_and_no_mark_means_anything(text):
    found = all_of(Document("a.txt", "", text))
    assert Counter(filter(str.isalnum, text)) == Counter(filter(str.isalnum, "".join(q.said for q in found)))
    assert all(q.said == text[q.span.start : q.span.end] for q in found)


def test_a_long_passage_takes_no_long_time():
    blank = " \n" * 50_000
    assert quotes(f"Start.{blank}End.") == ["Start.", "End."]
    assert len(quotes("A sentence, e.g. This. " * 5_000)) == 5_000
    plain = Document("a.txt", "", f"Start.{' ' * 100_000}{chr(10) * 100_000}> End. " + "- 1. " * 50_000)
    assert next(q.said for q in all_of(plain)) == "Start."


TABLE = """Leave by country:

| Country | Days | Note |
|:--------|-----:|------|
| Spain   | 22   | a \\| b |
| **Italy** | 20 |      |
| Malta | 24 |

Then prose | with a bar.
"""


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("Spain", "Country: Spain; Days: 22; Note: a | b"),
        ("Italy", "Country: **Italy**; Days: 20"),  # an empty cell says nothing
        ("Malta", "Malta; 24"),  # a cell less than the head: which is missing cannot be known
        ("prose", "Then prose | with a bar."),
        ("Leave", "Leave by country:"),
    ],
)
def test_a_row_is_quoted_with_the_heads_of_its_columns(wanted, expected):
    assert [one for one in said(TABLE) if wanted in one] == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("| Spain | 22 |\n| Italy | 20 |", "| Spain | 22 |\n| Italy | 20 |"),  # no table without a rule
        ("| A | B |\n|---|---|\n| x | y |\n\n| Italy | 20 |", "| Italy | 20 |"),
        ("| | Days |\n|---|---|\n| Italy | 20 |", "Italy; Days: 20"),
        ("|Country|Days|\n|-|-|\n|Italy|20", "Country: Italy; Days: 20"),
        ("Country | Days\n-|-\nItaly|20", "Country: Italy; Days: 20"),
        ("> | Country | Days |\n> |-|-|\n> | Italy | 20 |", "Country: Italy; Days: 20"),
        ("| A | B |\n|---|---|\n| x | 2 |\n| -- | - |\n| Italy | 7 |", "A: Italy; B: 7"),  # dashes are a row's too
        ("| A | B |\n|---|---|\n| It is so. But not here. | 2 |", "A: It is so. But not here.; B: 2"),
    ],
)
def test_rows_are_those_of_the_documents_tables(text, expected):
    assert said(text)[-1] == expected


def test_a_passage_that_begins_within_a_table_knows_its_head():
    page = document("a.md", TABLE)
    start = TABLE.index("| **Italy")
    assert next(q.said for q in all_of(page, start)) == "Country: **Italy**; Days: 20"
    inside = TABLE.index("22")
    [cut, *_] = all_of(page, inside)
    assert (cut.said, cut.span.start) == ("Days: 22; Note: a | b", inside)
    assert all_of(page, TABLE.index("Country"), TABLE.index("| Spain")) == []


def test_a_passage_that_begins_within_a_block_quotes_what_of_it_is_there():
    text = "- One thing. Another\n  thing. Last.\n\n> Said\n> by 3. Them all."
    page = document("a.md", text)
    assert [q.said for q in all_of(page, text.index("Another"))] == [
        "Another\n  thing.",
        "Last.",
        "Said\nby 3.",
        "Them all.",
    ]
    assert [q.said for q in all_of(page, text.index("> by"))] == ["by 3.", "Them all."]
