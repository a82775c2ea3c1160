"""Splits a passage into what can be quoted: sentences, table rows, lines of code; and says it in words. It judges none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from docmind.types import Block, Document, Span, blocks_in

_CLOSING = r"[\"'”’»)\]*_]*"
_BREAK = re.compile(
    rf"""(?<=[.!?]) (?P<closing> {_CLOSING} ) (?: \s*\n[ \t]*>[>\s]* | \s+ ) (?= [\"'“‘«(\[*_]* [^\W_a-z] )""",
    re.VERBOSE,
)
"""A sentence ends, the next begins: between them is white space, and in a quote the mark of a line."""
_ABBREVIATION = re.compile(
    r"\b(?:(?:[a-z]\.)+[a-z]|etc|cf|vs|no|nos|approx|incl|dr|mr|mrs|ms|prof|st|art|para|p|pp)\.$", re.IGNORECASE
)
_LONGEST = 20
"""Characters before the end of a sentence among which an abbreviation is looked for."""
_NUMBER = re.compile(r"\s*\d{1,3}[.)]")

_QUOTED = re.compile(r"[ \t]*(?:>[ \t]*)*")
_MARKS = re.compile(r"[ \t]*(?:(?:>[ \t]*|(?:[-*+]|\d{1,3}[.)])\s+)+(?:\[[ xX]\]\s+)?)?")
_TITLE = re.compile(r"#{1,6}\s")
_NEXT_LINE = re.compile(r"\n[ \t]*(?:>[ \t]?)+")
_FENCE = re.compile(r"[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*)*(?:`{3}|~{3})")


@dataclass(frozen=True, slots=True)
class Quotation:
    """`span` of a document, and how it is read out."""

    span: Span
    said: str


def quotations(document: Document, span: Span) -> Iterator[Quotation]:
    """What can be quoted of `span`, rising: the sentences of paragraphs, items and quotes without leading marks, the rows of
    tables, the lines of code.

    A heading is none, nor is the head of a table, nor what holds no letter and no digit: they answer nothing. A block that
    begins or ends outside of `span` is cut there.
    """
    for block in blocks_in(document, span.start, span.end):
        start, end = max(block.span.start, span.start), min(block.span.end, span.end)
        if block.kind == "table":
            found = _rows(document, block, start, end)
        elif block.kind == "code":
            found = _lines(document, block, start, end)
        elif block.kind in ("heading", "rule"):
            continue
        else:
            found = _prose(document, block, start, end)
        yield from (one for one in found if any(map(str.isalnum, document.text[one.span.start : one.span.end])))


def _quotation(document: Document, start: int, end: int) -> Iterator[Quotation]:
    """The characters `start` to `end` without white space around them, as they stand there."""
    words = document.text[start:end]
    start += len(words) - len(words.lstrip())
    if words := words.strip():
        yield Quotation(Span(document.id, start, start + len(words)), words)


def _prose(document: Document, block: Block, start: int, end: int) -> Iterator[Quotation]:
    """The sentences. The marks of an item or a quote are left out; in a paragraph, what looks like one is none."""
    if block.kind == "paragraph":
        for sentence in _sentences(document.text, start, end):
            yield from _quotation(document, *sentence)
        return
    marks = (_MARKS if start == block.span.start else _QUOTED).match(document.text, start, end)
    start = marks.end() if marks else start
    if start == end or _TITLE.match(document.text, start, end):  # a heading in a list or a quote
        return
    for sentence in _sentences(document.text, start, end):
        for found in _quotation(document, *sentence):
            yield Quotation(found.span, _NEXT_LINE.sub("\n", found.said))


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The number of a list, such as "1.", ends no sentence."""
    for match in _BREAK.finditer(text, start, end):
        stop = match.end("closing")
        if not _ABBREVIATION.search(text, max(start, stop - _LONGEST), stop) and not _NUMBER.fullmatch(
            text, start, stop
        ):
            yield start, stop
            start = match.end()
    yield start, end


def _rows(document: Document, table: Block, start: int, end: int) -> Iterator[Quotation]:
    """The rows below the head. Each cell is read out with the head of its column: "Country: Spain; Days: 22". Of a row with
    more or fewer cells than the head it cannot be known which is which: they are read out alone."""
    text = document.text
    heads, *below = table.cells
    for row, cells in zip(table.rows, below, strict=True):
        first, last = max(start, row.start), min(end, row.end)
        if first >= last:
            continue
        columns = heads if len(heads) == len(cells) else (None,) * len(cells)
        said = "; ".join(
            f"{_cell(text, head.start, head.end)}: {words}" if head else words
            for head, cell in zip(columns, cells, strict=True)
            if cell and (words := _cell(text, max(first, cell.start), min(last, cell.end)))
        )
        marks = _QUOTED.match(text, first, last) if first == row.start else None
        for found in _quotation(document, marks.end() if marks else first, last):
            yield Quotation(found.span, said)


def _cell(text: str, start: int, end: int) -> str:
    return text[start:end].strip().replace("\\|", "|")


def _lines(document: Document, code: Block, start: int, end: int) -> Iterator[Quotation]:
    """The lines of code but the fence."""
    if start == code.span.start and _FENCE.match(document.text, start, end):
        start = document.text.find("\n", start, end)
        if start < 0:
            return
    for line in re.finditer(r".+", document.text[start:end]):
        yield from _quotation(document, start + line.start(), start + line.end())
