"""The sections of a document, from its blocks. It splits nothing further and reads no files."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from docmind.types import Block, Section, Span


def sections(doc_id: str, blocks: Iterable[Block], length: int) -> tuple[Section, ...]:
    """The sections of a text of `length` characters, in order; they partition it. None where it is empty.

    A heading with a title opens one; text before the first is a section of level 0. A section lies in the nearest one
    before it of a smaller level, 0 aside, so a skipped level leaves no gap in `path`.
    """
    headings = [block for block in blocks if block.kind == "heading" and block.title]
    borders = [*(heading.span.start for heading in headings), length]
    found = [Section(f"{doc_id}#0", 0, "", (), Span(doc_id, 0, borders[0]))] if borders[0] else []
    above: list[Section] = []
    for heading, (start, end) in zip(headings, pairwise(borders), strict=True):
        while above and above[-1].level >= heading.level:
            above.pop()
        parent = above[-1] if above else None
        section = Section(
            id=f"{doc_id}#{len(found)}",
            level=heading.level,
            title=heading.title,
            path=(*(parent.path if parent else ()), heading.title),
            span=Span(doc_id, start, end),
            heading=heading.words,
            parent=parent.id if parent else None,
        )
        above.append(section)
        found.append(section)
    return tuple(found)
