"""What belongs to a place in a document beside its words: the signs next to them, the titles above. It finds no place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from docmind.types import Document, Span, blocks_in


def above(document: Document, places: Iterable[int]) -> Iterator[tuple[str, Span | None]]:
    """The names of the document, the titles of the sections that hold the characters at `places`, and the heads of tables
    whose rows do, each with its place."""
    yield document.title, None
    yield document.id.rpartition("/")[2], None
    sections = {section.id: section for section in document.sections}
    starts = [section.span.start for section in document.sections]
    told = set()
    for place in places:
        for block in blocks_in(document, place, place + 1):
            if block.header and block.header not in told:
                told.add(block.header)
                yield document.text[block.header.start : block.header.end], block.header
        section = document.sections[bisect_right(starts, place) - 1] if starts and place >= starts[0] else None
        while section and section.span not in told:
            told.add(section.span)
            yield section.title, section.heading
            section = sections.get(section.parent) if section.parent else None


def signs_before(gap: str, outermost: bool) -> int:
    """How many characters at the end of `gap`, which stands before a word and holds none, belong to that word: what opens its
    line, or else what is not attached to the word before. `outermost` says that `gap` begins the text."""
    line = max(gap.rfind("\n"), gap.rfind("\r")) + 1
    if not line and not outermost:
        line = _blank(gap)
    return len(gap[line:].lstrip())


def signs_behind(gap: str, outermost: bool) -> int:
    """As many at its beginning, behind a word: what closes its line, or else what is not attached to the word that follows."""
    line = min((at for mark in "\r\n" if (at := gap.find(mark)) >= 0), default=len(gap))
    if line == len(gap) and not outermost:
        line -= _blank(gap[::-1])
    return len(gap[:line].rstrip())


def _blank(gap: str) -> int:
    """Where the first blank is, 0 where there is none: then `gap` is attached on both sides."""
    return next((at for at, sign in enumerate(gap) if sign.isspace()), 0)
