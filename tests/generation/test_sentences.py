"""What can be quoted of a passage: whole sentences, items and rows, and nothing of it lost."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.generation.sentences import quotation, sentences


def quotes(text):
    return [text[start:end] for start, end in sentences(text)]


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
    assert quotes("- [ ] To do\n- [x] Done\n> Quoted. Twice.") == ["To do", "Done", "Quoted.", "Twice."]


@pytest.mark.parametrize(
    "text", ["## Carrying over\n\nFive days.", "# Carrying over\nFive days.", "Five days.\n# Over"]
)
def test_a_heading_is_no_sentence(text):
    assert quotes(text) == ["Five days."]


def test_a_number_sign_in_a_line_makes_no_heading():
    assert quotes("#5 is open.\nSee # 5.") == ["#5 is open.", "See # 5."]


def test_a_year_at_the_start_of_a_line_is_no_mark_of_a_list():
    assert quotes("2024. A good year.\n2025. A better one.") == ["2024.", "A good year.", "2025.", "A better one."]


def test_rows_of_a_table_stand_alone_and_its_head_and_rule_are_none():
    text = "| Country | Days |\n| :-- | --: |\n| Spain | 23 |  \n| Italy | 26 |\nAfter it."
    assert quotes(text) == ["| Spain | 23 |", "| Italy | 26 |", "After it."]


def test_a_row_of_dashes_below_another_makes_no_head_of_it():
    assert quotes("| A | B |\n|---|---|\n| x | 2 |\n| -- | - |\n| y | 7 |") == ["| x | 2 |", "| y | 7 |"]


def test_no_sentence_ends_within_a_row():
    text = "Before. So.\n| A |\n|---|\n| One. Two. |\nAfter. That."
    assert quotes(text) == ["Before.", "So.", "| One. Two. |", "After.", "That."]


def test_code_keeps_its_lines():
    assert quotes("Run:\n\n```\ncd docs\nmake html\n```\n\nDone.") == ["Run:", "```\ncd docs\nmake html\n```", "Done."]


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
          "(", ")", "|", "---", "- ", "* ", "+ ", "# ", "> ", "```",
          " ", "\t", "\n", "\n\n", "\r", "\u2028", "…", "\x1f"]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=25).map("".join)
LEFT_OUT = re.compile(
    r"(?:[\W_]|(?<!\w)\d{1,3}[.)](?=\s)|(?<=\[)[xX](?=\]\s)|#{1,6}[ \t]+.*|\|.*(?=\n[ \t]*\|[ \t:|-]*-[ \t:|-]*$))*",
    re.MULTILINE,
)
"""What may stand between quotes: no letter and no digit but those of a list's mark, a heading or a table's head."""


@given(TEXTS)
def test_ranges_rise_do_not_overlap_and_lose_no_letter_and_no_digit(text):
    ranges = sentences(text)
    edges = [0, *(edge for pair in ranges for edge in pair), len(text)]
    assert edges == sorted(edges)
    for start, end in ranges:
        assert text[start:end] == text[start:end].strip()
        assert any(map(str.isalnum, text[start:end]))
    for end, start in zip(edges[::2], edges[1::2], strict=True):
        assert all(not c.isalnum() for c in text[end:start]) or LEFT_OUT.fullmatch(text, end, start)


def test_a_long_passage_takes_no_long_time():
    blank = " \n" * 50_000
    assert quotes(f"Start.{blank}End.") == ["Start.", "End."]
    assert len(sentences("A sentence, e.g. This. " * 5_000)) == 5_000


TABLE = """Leave by country:

| Country | Days | Note |
|:--------|-----:|------|
| Spain   | 22   | a \\| b |
| **Italy** | 20 |      |
| Malta | 24 |

Then prose | with a bar.
"""


def quoted(text, wanted):
    [found] = [quotation(text, start, end) for start, end in sentences(text) if wanted in text[start:end]]
    return found


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
    assert quoted(TABLE, wanted) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("| Spain | 22 |", "Spain; 22"),
        ("| Spain | 22 |\n| Italy | 20 |", "Italy; 20"),
        ("|---|---|\n| Italy | 20 |", "Italy; 20"),
        ("| A | B |\n|---|---|\n| x | y |\n\n| Italy | 20 |", "Italy; 20"),  # another table
        ("| | Days |\n|---|---|\n| Italy | 20 |", "Italy; Days: 20"),
        ("|Country|Days|\n|-|-|\n|Italy|20", "Country: Italy; Days: 20"),
        ("| A | B |\n|---|---|\n| x | 2 |\n| -- | - |\n| Italy | 7 |", "A: Italy; B: 7"),  # dashes are a row's too
        ("| A | B |\n|---|---|\n| It is so. But not here. | 2 |", "A: It is so. But not here.; B: 2"),
        ("|---|---|\n| Italy. Malta! Spain? | 20 |", "Italy. Malta! Spain?; 20"),
    ],
)
def test_a_row_without_a_head_is_quoted_as_it_is(text, expected):
    start, end = sentences(text)[-1]
    assert quotation(text, start, end) == expected


@given(st.text("a|\\- \n", max_size=60))
def test_any_piece_can_be_quoted(text):
    for start, end in sentences(text):
        said = quotation(text, start, end)
        assert not Counter(filter(str.isalnum, text[start:end])) - Counter(filter(str.isalnum, said))
