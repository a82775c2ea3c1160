"""Headings and blocks by character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.markup import blocks, clean, headings

LINES = ["\n", "\n\n", "## t\n", "```\n", "~~~\n", "---\n", "===\n", "| a | b |\n", "|---|---|\n", "[r]: x\n"]
MARKS = ["a", "b ", "# ", "- ", "1. ", "> ", "    ", "\t", "`", "**", "|", "<div>", "<!--", "\u00a0", "#"]
PAGES = st.lists(st.sampled_from([*LINES, *MARKS]), max_size=20).map("".join)


def titles(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in headings(text)]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("````\n```\n# not a heading\n```\n# nor this\n````\n# Real", [(1, "Real")]),
        ("# A\n~~~\n~~~sh\n# x\n~~~\n# B\nb", [(1, "A"), (1, "B")]),
        ("1. Run:\n\n    ```sh\n    # install\n    ```\n    - then log in", []),
        ("```\n# to the end\n\n# of the file", []),
        ("    # indented code", []),
        ("> # quoted\n\n- # in a list", []),
        ("#\n\n##  \n\n### Three", [(3, "Three")]),
        ("Under\nlined\n===", [(1, "Under lined")]),
        ("<div>\n# Not hidden by a tag\n</div>", [(1, "Not hidden by a tag")]),
    ],
)
def test_only_true_headings_are_found(page: str, expected: list[tuple[int, str]]) -> None:
    assert titles(page) == expected


def test_a_heading_tells_its_title_and_its_lines() -> None:
    # 0 "x", 2 "##  **Sick** `pay`", 21 "y": the title starts after "##  " at 6
    text = "x\n##  **Sick** `pay`\ny"
    (heading,) = headings(text)
    assert heading.title == "Sick pay"
    assert text[heading.start : heading.end] == "**Sick** `pay`"
    assert (heading.start, heading.line_start, heading.line_end) == (6, 2, 20)


def test_blocks_have_kinds_and_whole_lines() -> None:
    text = (
        "# H\nPara\nmore\n\n- one\n  two\n- three\n\n> said\n\n```\ncode\n\n```\n\n---\n\n1. x\n\n   ```\n   y\n   ```"
    )
    assert [(block.kind, text[block.start : block.end]) for block in blocks(text)] == [
        ("heading", "# H"),
        ("paragraph", "Para\nmore"),
        ("list_item", "- one\n  two"),
        ("list_item", "- three"),
        ("quote", "> said"),
        ("code", "```\ncode\n\n```"),
        ("rule", "---"),
        ("list_item", "1. x"),
        ("code", "   ```\n   y\n   ```"),
    ]


def test_a_table_tells_its_header_and_its_rows() -> None:
    text = "Days:\n\n| Code | Days |\n|---|---|\n| A\\|B | 25 |\n| C | 1,480 |\n\nEnd"
    table = blocks(text)[1]
    assert table.header is not None
    assert text[slice(*table.header)] == "| Code | Days |\n|---|---|"
    assert [text[slice(*row)] for row in table.rows] == ["| A\\|B | 25 |", "| C | 1,480 |"]
    assert (table.kind, table.start, table.end) == ("table", table.header[0], table.rows[-1][1])


def test_containers_too_deep_for_the_parser_are_paragraphs() -> None:
    text = "> " * 40 + "deep"
    assert [text[block.start : block.end] for block in blocks(text)] == [text]


@given(PAGES)
@pytest.mark.parametrize("cleaned", [True, False])
def test_blocks_rise_and_cover_all_but_blank_lines(cleaned: bool, page: str) -> None:
    text = clean(page).text if cleaned else page
    done = 0
    for block in blocks(text):
        assert done <= block.start < block.end
        assert not text[done : block.start].strip()
        rows = [*([block.header] if block.header else []), *block.rows]
        assert all(block.start <= start < end <= block.end for start, end in rows)
        done = block.end
    assert not text[done:].strip()


@given(PAGES)
def test_titles_stand_inside_their_lines(page: str) -> None:
    text = clean(page).text
    for heading in headings(text):
        assert heading.line_start <= heading.start < heading.end <= heading.line_end
        assert heading.title
