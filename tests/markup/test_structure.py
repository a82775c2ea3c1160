"""Blocks by character: kinds, headings, cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.markup import blocks, clean
from docmind.types import Block

LINES = ["\n", "\n\n", "## t\n", "```\n", "~~~\n", "---\n", "===\n", "| a | b |\n", "|---|---|\n", "[r]: x\n"]
MARKS = ["a", "b ", "# ", "- ", "1. ", "> ", "    ", "\t", "`", "**", "|", "\\|", "<div>", "<!--", "\u00a0", "#"]
PAGES = st.lists(st.sampled_from([*LINES, *MARKS]), max_size=20).map("".join)


def headings(text: str) -> list[Block]:
    return [block for block in blocks("d", text) if block.kind == "heading" and block.title]


def shown(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.span.start : block.span.end]) for block in blocks("d", text)]


def cells(text: str) -> list[list[str | None]]:
    [table] = [block for block in blocks("d", text) if block.kind == "table"]
    return [[cell and text[cell.start : cell.end] for cell in row] for row in table.cells]


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
    assert [(heading.level, heading.title) for heading in headings(page)] == expected


def test_a_heading_tells_its_title_its_words_and_its_lines() -> None:
    # 0 "x", 2 "##  **Sick** `pay`", 21 "y": the words start after "##  " at 6
    text = "x\n##  **Sick** `pay`\ny"
    (heading,) = headings(text)
    assert heading.title == "Sick pay"
    assert heading.words is not None
    assert text[heading.words.start : heading.words.end] == "**Sick** `pay`"
    assert (heading.words.start, heading.span.start, heading.span.end) == (6, 2, 20)


def test_underlined_headings_are_marked_ones_once_cleaned() -> None:
    text = clean("Leave\n=====\nTake 25 days.\n\nSick pay\n--------").text
    assert shown(text) == [("heading", "# Leave"), ("paragraph", "Take 25 days."), ("heading", "## Sick pay")]


def test_a_heading_in_a_list_or_a_quote_is_a_part_of_that_and_one_without_words_has_no_title() -> None:
    text = "> # quoted\n\n- # listed\n\n##\n\n### `"
    assert shown(text) == [
        ("quote", "> # quoted"),
        ("list_item", "- # listed"),
        ("heading", "##"),
        ("heading", "### `"),
    ]
    *_, blank, tick = blocks("d", text)
    assert (blank.level, blank.title, blank.words) == (2, "", None)
    assert (tick.level, tick.title) == (3, "`")


def test_blocks_have_kinds_and_whole_lines() -> None:
    text = (
        "# H\nPara\nmore\n\n- one\n  two\n- three\n\n> said\n\n```\ncode\n\n```\n\n---\n\n1. x\n\n   ```\n   y\n   ```"
    )
    assert shown(text) == [
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


def test_lists_in_lists_and_their_fences_are_blocks_of_their_own() -> None:
    text = "- one\n  - two\n\n    ```sh\n    # run\n    ```\n\n    more\n- > said\n\n  last"
    assert shown(text) == [
        ("list_item", "- one"),
        ("list_item", "  - two"),
        ("code", "    ```sh\n    # run\n    ```"),
        ("list_item", "    more"),
        ("quote", "- > said"),
        ("list_item", "  last"),
    ]


def test_a_table_needs_no_blank_line_before_it() -> None:
    text = "Days:\n| Code | Days |\n|---|---|\n| A | 25 |\nThe end"
    assert [kind for kind, _ in shown(text)] == ["paragraph", "table"]
    assert cells(text) == [["Code", "Days"], ["A", "25"], ["The end"]]


def test_a_table_tells_its_header_its_rows_and_its_cells() -> None:
    text = "Days:\n\n| Code | Days |\n|---|---|\n|  A\\|B | 25 |\n| C | 1,480 |\n\nEnd"
    table = blocks("d", text)[1]
    assert table.header is not None
    assert text[table.header.start : table.header.end] == "| Code | Days |\n|---|---|"
    assert [text[row.start : row.end] for row in table.rows] == ["|  A\\|B | 25 |", "| C | 1,480 |"]
    assert (table.kind, table.span.start, table.span.end) == ("table", table.header.start, table.rows[-1].end)
    assert cells(text) == [["Code", "Days"], ["A\\|B", "25"], ["C", "1,480"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b\n-|-\nc | d", [["a", "b"], ["c", "d"]]),
        ("|a|b|\n|-|-|\n|c|d", [["a", "b"], ["c", "d"]]),
        ("| a | |\n|---|---|\n| | d |", [["a", None], [None, "d"]]),
        ("| a | b |\n|---|---|\n| c |\n| d | e | f |", [["a", "b"], ["c"], ["d", "e", "f"]]),
        ("| a | b |\n|---|---|\n| \\| | c\\| |\n| x \\|", [["a", "b"], ["\\|", "c\\|"], ["x \\|"]]),
        ("| `a | b` |\n|---|---|\n| c | d |", [["`a", "b`"], ["c", "d"]]),
        ("> | a | b |\n> |---|---|\n>| > c | - |", [["a", "b"], ["> c", "-"]]),
        ("1. > - | a |\n   >   |---|\n   >   | > x |", [["a"], ["> x"]]),
        ("- | a | b |\n  |---|---|\n  - | d |", [["a", "b"]]),  # an item of its own, not a row
        ("| a |\n|---|\n||", [["a"], [None]]),
    ],
)
def test_cells_hold_what_stands_between_the_borders(text: str, expected: list[list[str | None]]) -> None:
    assert cells(text) == expected


def test_containers_too_deep_for_the_parser_are_paragraphs() -> None:
    text = "> " * 40 + "deep"
    assert shown(text) == [("paragraph", text)]


@pytest.mark.parametrize(
    "line", ["word " * 2_000_000, "# " + "[x](" * 2_000_000, "| a |\n|---|\n" + "| b " * 2_000_000]
)
def test_a_line_of_ten_megabytes_is_one_block(line: str) -> None:
    assert len(blocks("d", line)) == 1


@given(PAGES)
@pytest.mark.parametrize("cleaned", [True, False])
def test_blocks_rise_and_cover_all_but_blank_lines(cleaned: bool, page: str) -> None:
    text = clean(page).text if cleaned else page
    done = 0
    for block in blocks("d", text):
        assert done <= block.span.start < block.span.end
        assert not text[done : block.span.start].strip()
        rows = [*([block.header] if block.header else []), *block.rows]
        assert all(block.span.start <= row.start < row.end <= block.span.end for row in rows)
        assert len(block.cells) == len(rows)
        for row, found in zip(rows, block.cells, strict=True):
            assert all(row.start <= cell.start < cell.end <= row.end for cell in found if cell)
        done = block.span.end
    assert not text[done:].strip()


@given(PAGES)
def test_titles_stand_inside_their_lines(page: str) -> None:
    for heading in headings(clean(page).text):
        assert heading.words is not None
        assert heading.span.start <= heading.words.start < heading.words.end <= heading.span.end
