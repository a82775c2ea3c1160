"""The tables of HTML as pipe tables, cell by cell. It knows no tags but those of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping

from docmind.markup.gaps import filled

_BLANKS = re.compile(r"\s+")


class Tables:
    """Takes the tags of tables and what stands in their rows, and gives lines of Markdown.

    A cell that spans columns is followed by empty ones, and one that spans rows is repeated in each, since a row may be read
    without those above it; but all that is added is at most as long as what the page holds.
    """

    def __init__(self) -> None:
        self.open = False
        """Whether a table has begun and not ended."""
        self.in_row = False
        self._rows = 0
        self._cells: list[str] = []
        self._spans: list[tuple[int, int]] = []
        self._below: dict[int, tuple[str, int]] = {}
        """By column what a cell above puts into it, and in how many rows yet."""
        self._credit = 0
        self._hidden: set[int] = set()
        """Columns that GitBook keeps from its readers."""

    def tag(self, name: str, attributes: Mapping[str, str], *, closing: bool) -> str:
        """What a tag of a table leaves in the text: the row before it, where it ends one."""
        if name in ("td", "th"):
            if closing:
                return ""
            lead = "" if self.in_row else self._begin_row()
            if "data-hidden" in attributes:
                self._hidden.add(len(self._cells))
            self._cells.append("")
            self._spans.append((_number(attributes, "colspan"), _number(attributes, "rowspan")))
            return lead
        ended = self._end_row()
        if name == "table":
            self.open, self._rows, self._below, self._hidden = not closing, 0, {}, set()
            return f"{ended}\n\n"
        if name == "caption":
            return f"{ended}\n\n"
        if name == "tr" and not closing:
            return ended + self._begin_row()
        return ended

    def add(self, text: str) -> None:
        """Text in a row. What stands before its first cell is a cell too, but for blanks."""
        self._credit += len(text)
        if self._cells:
            self._cells[-1] += text
        elif text.strip():
            self._cells.append(text)
            self._spans.append((1, 1))

    def end(self) -> str:
        """The last row, where it was not ended."""
        return self._end_row()

    def _begin_row(self) -> str:
        self.in_row, self._cells, self._spans = True, [], []
        return ""

    def _end_row(self) -> str:
        """The row as a line, with a delimiter row below it where it is the first of its table."""
        cells = [cell for column, cell in enumerate(self._row()) if column not in self._hidden] if self._cells else []
        self.in_row, self._cells, self._spans = False, [], []
        if not cells:
            return ""
        self._rows += 1
        line = f"| {' | '.join(cells)} |\n"
        return line if self._rows > 1 else f"{line}|{'---|' * len(cells)}\n"

    def _row(self) -> list[str]:
        """The cells with those that spans add."""
        row: list[str] = []
        for text, (columns, rows) in zip(self._cells, self._spans, strict=True):
            self._fill(row)
            plain = _BLANKS.sub(" ", filled(text)).strip().replace("|", r"\|")
            wide = max(1, min(columns, 1 + self._credit // 3))
            self._credit -= 3 * (wide - 1)
            for column in range(wide):
                if rows > 1:
                    self._below[len(row)] = ("" if column else plain, rows - 1)
                row.append("" if column else plain)
        self._fill(row)
        return row

    def _fill(self, row: list[str]) -> None:
        """The cells that cells above put here."""
        while len(row) in self._below:
            text, rows = self._below.pop(len(row))
            self._credit -= len(text) + 3
            if self._credit < 0:
                return
            if rows > 1:
                self._below[len(row)] = (text, rows - 1)
            row.append(text)


def _number(attributes: Mapping[str, str], name: str) -> int:
    """A span: 1 where none is written, or no number."""
    written = attributes.get(name, "").strip()
    return max(1, int(written)) if written.isdecimal() and len(written) < 6 else 1
