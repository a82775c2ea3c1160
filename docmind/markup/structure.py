"""The blocks of a cleaned text, by character. It changes no text, and takes no tag for HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, pairwise

from markdown_it.token import Token

from docmind.markup.cleaning import LONG_PARAGRAPH
from docmind.markup.parser import block_tokens, inline_tokens, lines_of
from docmind.types import Block, BlockKind, Span

_LEAVES: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "hr": "rule",
}
_CONTAINERS: dict[str, BlockKind] = {"list_item_open": "list_item", "blockquote_open": "quote"}
_MARKS = {
    "list_item_open": re.compile(r"[ \t]*(?:[-+*]|\d{1,9}[.)])"),
    "blockquote_open": re.compile(r"[ \t]*>"),
}
_BORDER = re.compile(r"(?<!\\)\|")


def blocks(doc_id: str, text: str) -> tuple[Block, ...]:
    """The blocks of `text`: rising, disjoint, and together all of it but blank lines.

    Lists and quotes are given by their parts: a paragraph or heading in one is a `list_item` or a `quote`, a fence in one
    `code`. A heading without words has no title. What markdown-it leaves out (containers more than 20 deep, empty items)
    is given as paragraphs.
    """
    page = _Lines(doc_id, text)
    left = {i for i, line in enumerate(page.lines) if line.strip()}
    tokens = block_tokens(text, html=False)[0]
    found = []
    for i, around in _leaves(tokens):
        first, last = lines_of(tokens[i])
        inside = [n for n in range(first, last) if n in left]
        if not inside:  # white space that Markdown takes for text, such as a non-breaking space
            continue
        left.difference_update(inside)
        found.append(_block(page, page.span(first, inside[-1] + 1), tokens, i, around))
    for _, run in groupby(enumerate(sorted(left)), lambda pair: pair[1] - pair[0]):
        numbers = [n for _, n in run]
        found.append(Block("paragraph", page.span(numbers[0], numbers[-1] + 1)))
    return tuple(sorted(found, key=lambda block: block.span.start))


class _Lines:
    """A text by its lines, which are numbered from 0."""

    def __init__(self, doc_id: str, text: str) -> None:
        self.doc_id = doc_id
        self.text = text
        self.lines = text.split("\n")
        self.starts = list(accumulate((len(line) + 1 for line in self.lines), initial=0))

    def span(self, first: int, last: int) -> Span:
        """The lines `first` to `last`, half-open, without the last line break."""
        return Span(self.doc_id, self.starts[first], self.starts[last] - 1)


def _leaves(tokens: Sequence[Token]) -> Iterator[tuple[int, tuple[Token, ...]]]:
    """Where each block that holds no other opens among `tokens`, and the items and quotes around it, the outermost first."""
    around: list[Token] = []
    for i, token in enumerate(tokens):
        if token.type in _CONTAINERS:
            around.append(token)
        elif token.type.replace("_close", "_open") in _CONTAINERS:
            around.pop()
        elif token.type in _LEAVES:
            yield i, tuple(around)


def _block(page: _Lines, span: Span, tokens: Sequence[Token], i: int, around: Sequence[Token]) -> Block:
    kind = _LEAVES[tokens[i].type]
    if around and kind in ("heading", "paragraph"):
        return Block(_CONTAINERS[around[-1].type], span)
    if kind == "heading":
        return _heading(page, span, tokens[i], tokens[i + 1].content)
    if kind == "table":
        end = next(j for j in range(i, len(tokens)) if tokens[j].type == "table_close")
        return _table(page, span, [lines_of(token)[0] for token in tokens[i:end] if token.type == "tr_open"], around)
    return Block(kind, span)


def _heading(page: _Lines, span: Span, token: Token, content: str) -> Block:
    level = int(token.tag[1])
    title = _title(content)
    if not title:
        return Block("heading", span, level)
    marks = len(token.markup) if token.markup[0] == "#" else 0
    start = page.text.index(content, span.start + marks)
    return Block("heading", span, level, title, Span(page.doc_id, start, start + len(content)))


def _title(content: str) -> str:
    """The words of a heading, without emphasis, backticks and escapes."""
    if len(content) > LONG_PARAGRAPH:
        return " ".join(content.split())
    words = []
    for token in inline_tokens(content, {}):
        if token.type in ("softbreak", "hardbreak"):
            words.append(" ")
        else:
            words.append(token.content.strip("`") if token.type == "code_inline" else token.content)
    return " ".join("".join(words).split())


def _table(page: _Lines, span: Span, rows: Sequence[int], around: Sequence[Token]) -> Block:
    """`rows` are the lines of its rows, the head first."""
    head, *below = rows
    return Block(
        "table",
        span,
        header=page.span(head, head + 2),
        rows=tuple(page.span(row, row + 1) for row in below),
        cells=tuple(tuple(_cells(page, row, around)) for row in rows),
    )


def _cells(page: _Lines, row: int, around: Sequence[Token]) -> Iterator[Span | None]:
    """What the cells of a line hold. As many as are written there, which may be fewer or more than the head has."""
    line = page.lines[row]
    at = 0
    for container in around:
        first_line = lines_of(container)[0] == row
        if (container.type == "blockquote_open" or first_line) and (mark := _MARKS[container.type].match(line, at)):
            at = mark.end()
    content = line[at:].strip()
    start = page.starts[row] + line.index(content, at)
    borders = [-1, *(border.start() for border in _BORDER.finditer(content)), len(content)]
    ranges = [(a + 1, b) for a, b in pairwise(borders)]
    if ranges[0] == (0, 0):  # a border opens the line
        ranges = ranges[1:]
    if ranges and ranges[-1] == (len(content), len(content)):
        ranges = ranges[:-1]
    for a, b in ranges:
        words = content[a:b].strip()
        begin = start + content.index(words, a)
        yield Span(page.doc_id, begin, begin + len(words)) if words else None
