"""What a command shows on the terminal: lines, tables, progress. It decides nothing."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table as RichTable

from docmind.cli import streams
from docmind.cli.streams import inert
from docmind.evaluation.reports.tables import Table
from docmind.protocols import Advance


class _Console(Console):
    """Shows text as it is. Whoever reads may leave early, as `| head` does: that changes neither the run nor its end. Where
    there is no room for what is shown, the run goes on, so that its files are written."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def __exit__(self, *raised: Any) -> None:
        """Everything that is shown goes out here."""
        try:
            super().__exit__(*raised)
        except OSError as error:
            self.on_broken_pipe()
            streams.lost.append(error)

    def on_broken_pipe(self) -> None:
        self.quiet = True
        streams.silence(self.file)


out = _Console()
err = _Console(stderr=True)


class Flow:
    """Text that comes in pieces, cut anywhere, and is wrapped between words as if it had come whole: `emit` gets what is to
    be shown next. A word that is longer than a line stays whole: a path in two pieces could not be clicked."""

    def __init__(self, emit: Callable[[str], object], width: float) -> None:
        self._emit = emit
        self._width = width
        self._word = ""
        self._blank = ""
        self._column = 0

    def write(self, piece: str) -> None:
        """Show what is whole of the text so far; its last word may go on."""
        *whole, self._word = re.split(r"(?<=[ \n])", self._word + piece.expandtabs(1))
        for word in whole:
            self._show(inert(word[:-1]))
            self._blank += word[-1]

    def end(self) -> None:
        """Show the last word, and end the line if there is one."""
        self._show(inert(self._word))
        if self._column:
            self._emit("\n")
            self._column = 0

    def _show(self, word: str) -> None:
        """Show `word` after the blanks before it, or on a line of its own where both do not fit."""
        if not word:
            return
        column = 0 if "\n" in self._blank else self._column
        if column and column + cell_len(self._blank + word) > self._width:
            self._blank = "\n"
            column = 0
        self._emit(self._blank + word)
        self._column = column + cell_len(self._blank.rpartition("\n")[2] + word)
        self._blank = ""


def flowing() -> Flow:
    """What is written to it is shown on stdout."""
    return Flow(lambda text: out.print(text, end="", soft_wrap=True), _room(out))


def say(text: str, style: str | None = None) -> None:
    """A line on stdout."""
    _print(out, text, style)


def tell(text: str, style: str | None = None) -> None:
    """A line on stderr."""
    _print(err, text, style)


def _print(console: Console, text: str, style: str | None) -> None:
    parts: list[str] = []
    flow = Flow(parts.append, _room(console))
    flow.write(text)
    flow.end()
    shown = "".join(parts) or "\n"
    console.print(shown, style=style, end="", soft_wrap=True)  # at once: a progress bar may stand below


def _room(console: Console) -> float:
    """Columns of the terminal. A pipe has room for all, so that a line stays one that can be searched for."""
    return console.width if console.is_terminal else math.inf


def show(table: Table) -> None:
    """Where a terminal is too narrow for all columns, the others follow below, under the same names: no word and no figure
    is ever cut."""
    for number, columns in enumerate(_blocks(table)):
        if number:
            out.print()
        shown = RichTable(box=SIMPLE_HEAD, padding=0, show_edge=False)
        for column in columns:
            in_words = column == 0 or (table.words and column == len(table.header) - 1)
            shown.add_column(inert(table.header[column]), no_wrap=True, justify="left" if in_words else "right")
        for row in table.rows:
            shown.add_row(*(inert(row[column]) for column in columns))
        shown.width = out.measure(shown, options=out.options.update(max_width=1000)).maximum
        out.print(shown, crop=False)


def _blocks(table: Table) -> list[list[int]]:
    """The columns of each block, the first in all of them: as many as the terminal has room for. A pipe has room for all."""
    widths = [max(map(cell_len, column)) for column in zip(table.header, *table.rows, strict=True)]
    blocks: list[list[int]] = []
    free = 0.0
    for column, width in enumerate(widths[1:], start=1):
        if not blocks or width + 1 > free:
            blocks.append([0])
            free = _room(out) - widths[0]
        blocks[-1].append(column)
        free -= width + 1
    return blocks


@contextmanager
def progress(what: str, total: int) -> Iterator[Advance]:
    """A bar on stderr, gone when the step is done; nothing where stderr is no terminal."""
    name, numbers = TextColumn("{task.description:<24}"), MofNCompleteColumn()
    columns = (name, BarColumn(), numbers, TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as shown:
        task = shown.add_task(what, total=total)
        yield lambda done: shown.advance(task, done)


class Warnings(logging.Handler):
    """Tells what is logged, above a progress bar that may be shown."""

    def emit(self, record: logging.LogRecord) -> None:
        tell(f"{record.levelname.lower()}: {self.format(record)}", "yellow")
