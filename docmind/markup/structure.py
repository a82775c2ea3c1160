"""Headings and blocks of a cleaned text, by character. It changes no text, and takes no tag for HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import Literal

from markdown_it.token import Token

from docmind.markup.parser import block_tokens, inline_tokens, lines_of

BlockKind = Literal["heading", "paragraph", "list_item", "quote", "table", "code", "rule"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside lists and quotes. `level` is 1 to 6; `title` has its words, which stand at `start:end`.

    `line_start:line_end` are its whole lines, without the last line break.
    """

    level: int
    title: str
    start: int
    end: int
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines that belong together, `start:end` without the last line break.

    Of a table, `header` covers the header row and the delimiter row, and `rows` each row after them.
    """

    kind: BlockKind
    start: int
    end: int
    header: tuple[int, int] | None = None
    rows: tuple[tuple[int, int], ...] = ()


_LEAVES: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "hr": "rule",
}
_CONTAINERS: dict[str, BlockKind] = {"list_item_open": "list_item", "blockquote_open": "quote"}


def headings(text: str) -> list[Heading]:
    """The headings of `text` in order. Those in lists and quotes, and those without a title, are not among them."""
    starts = _line_starts(text)
    found = []
    for token, inner in pairwise(block_tokens(text, html=False)[0]):
        if token.type == "heading_open" and token.level == 0:
            title = _title(inner.content)
            if not title:
                continue
            first, last = lines_of(token)
            marks = len(token.markup) if token.markup[0] == "#" else 0
            start = text.index(inner.content, starts[first] + marks)
            end = start + len(inner.content)
            found.append(Heading(int(token.tag[1]), title, start, end, starts[first], starts[last] - 1))
    return found


def _title(content: str) -> str:
    """The words of a heading, without emphasis, backticks and escapes."""
    words = []
    for token in inline_tokens(content, {}):
        if token.type in ("softbreak", "hardbreak"):
            words.append(" ")
        else:
            words.append(token.content.strip("`") if token.type == "code_inline" else token.content)
    return " ".join("".join(words).split())


def blocks(text: str) -> list[Block]:
    """The blocks of `text`: rising, disjoint, and together all of it but blank lines.

    Lists and quotes are given by their parts: a paragraph in one is a `list_item` or a `quote`, a fence in one `code`.
    What markdown-it leaves out (containers more than 20 deep, empty items) is given as paragraphs.
    """
    starts = _line_starts(text)
    left = {i for i, line in enumerate(text.split("\n")) if line.strip()}
    found = []
    for kind, first, last, rows in _leaves(block_tokens(text, html=False)[0]):
        inside = [i for i in range(first, last) if i in left]
        if not inside:  # white space that Markdown takes for text, such as a non-breaking space
            continue
        left.difference_update(inside)
        header = (starts[first], starts[first + 2] - 1) if kind == "table" else None
        spans = tuple((starts[row], starts[row + 1] - 1) for row in rows)
        found.append(Block(kind, starts[first], starts[inside[-1] + 1] - 1, header, spans))
    for _, run in groupby(enumerate(sorted(left)), lambda pair: pair[1] - pair[0]):
        numbers = [i for _, i in run]
        found.append(Block("paragraph", starts[numbers[0]], starts[numbers[-1] + 1] - 1))
    return sorted(found, key=lambda block: block.start)


def _leaves(tokens: list[Token]) -> Iterator[tuple[BlockKind, int, int, list[int]]]:
    """Each block that holds no other: its kind, its lines, and of a table the lines of the rows below the header."""
    around: list[BlockKind] = []
    for i, token in enumerate(tokens):
        if token.type in _CONTAINERS:
            around.append(_CONTAINERS[token.type])
        elif token.type.replace("_close", "_open") in _CONTAINERS:
            around.pop()
        elif token.type in _LEAVES:
            kind = _LEAVES[token.type]
            if around and kind in ("heading", "paragraph"):
                kind = around[-1]
            rows = []
            if kind == "table":
                end = next(j for j in range(i, len(tokens)) if tokens[j].type == "table_close")
                rows = [lines_of(row)[0] for row in tokens[i:end] if row.type == "tr_open"][1:]
            yield kind, *lines_of(token), rows


def _line_starts(text: str) -> list[int]:
    """Where each line starts, and where one after the last would."""
    return list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))
