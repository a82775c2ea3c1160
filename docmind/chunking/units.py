"""The largest units of a text that fit a chunk: blocks, else rows, lines or sentences, else words. It packs no chunks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from docmind.chunking.cap import LINE, PARAGRAPH, SENTENCE, WORD, token_starts
from docmind.protocols import Tokenizer
from docmind.types import Block, ChunkKind, Span

Range = tuple[int, int]

PROSE = (PARAGRAPH, SENTENCE, WORD)
CODE = (PARAGRAPH, LINE, WORD)
"""Between what to divide a block that is too large, in this order. A line of prose may end anywhere."""


class Ruler:
    """Counts the tokens of any range of a text that is tokenised once. Exact for ranges that begin and end at words."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self.text = text
        self._starts = token_starts(text, tokenizer)

    def count(self, start: int, end: int) -> int:
        """The tokens that start from `start` up to `end`."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)


@dataclass(frozen=True, slots=True)
class Unit:
    """What a chunk border does not cut. `header` is the table header that it lacks, where it is a later row."""

    start: int
    end: int
    kind: ChunkKind = "text"
    header: Span | None = None


def units(start: int, end: int, blocks: Sequence[Block], ruler: Ruler, room: int) -> Iterator[Unit]:
    """The units of `start:end`, which leave no gap. `blocks` are those that stand there, rising.

    A unit has at most `room` tokens, unless it is a single row, line of a table's head, or word. A heading goes with
    what follows it.
    """
    stops = [*(block.span.start for block in blocks[1:]), end]
    for block, stop in zip(blocks, stops, strict=True):
        if block.kind == "heading" and stop < end:
            continue
        kind: ChunkKind = block.kind if block.kind in ("table", "code") else "text"
        if ruler.count(start, stop) <= room:
            yield Unit(start, stop, kind)
        elif block.kind == "table":
            yield from _table(block, start, stop, ruler, room)
        else:
            ladder = CODE if block.kind == "code" else PROSE
            yield from (Unit(*part, kind) for part in _divide(start, stop, ladder, ruler, room))
        start = stop


def _table(table: Block, start: int, end: int, ruler: Ruler, room: int) -> Iterator[Unit]:
    """The rows of `table`, the first with its header if both fit."""
    borders = [*(row.start for row in table.rows), end]
    if len(borders) > 1 and ruler.count(start, borders[1]) <= room:
        yield Unit(start, borders[1], "table")
        borders = borders[1:]
    else:
        yield from (Unit(*line, "table") for line in _divide(start, borders[0], (LINE,), ruler, room))
    yield from (Unit(*row, "table", table.header) for row in pairwise(borders))


def _divide(start: int, end: int, ladder: Sequence[re.Pattern[str]], ruler: Ruler, room: int) -> Iterator[Range]:
    """`start:end` where it fits, else its parts between matches of the first pattern, each by the rest of `ladder`."""
    if not ladder or ruler.count(start, end) <= room:
        yield start, end
        return
    inner = (match.end() for match in ladder[0].finditer(ruler.text, start, end))
    for part in pairwise([start, *(cut for cut in inner if start < cut < end), end]):
        yield from _divide(*part, ladder[1:], ruler, room)
