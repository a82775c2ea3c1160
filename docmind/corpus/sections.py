"""The sections of a document, from its headings. It splits nothing further and reads no files."""

from __future__ import annotations

from itertools import pairwise

from docmind.markup import headings
from docmind.types import Section, Span


def sections(doc_id: str, text: str) -> tuple[Section, ...]:
    """The sections of `text` in order; they partition it. None where it is empty.

    Text before the first heading is a section of level 0. A section is below the
    nearest heading before it of a smaller level, so a skipped level leaves no gap in `path`.
    """
    found = headings(text)
    borders = [*(heading.line_start for heading in found), len(text)]
    lead = borders[0]
    result = [Section(f"{doc_id}#0", 0, "", (), Span(doc_id, 0, lead))] if lead else []
    above: list[tuple[int, str]] = []
    for heading, (start, end) in zip(found, pairwise(borders), strict=True):
        above = [*((level, name) for level, name in above if level < heading.level), (heading.level, heading.title)]
        result.append(
            Section(
                id=f"{doc_id}#{len(result)}",
                level=heading.level,
                title=heading.title,
                path=tuple(name for _, name in above),
                span=Span(doc_id, start, end),
                heading=Span(doc_id, heading.start, heading.end),
            )
        )
    return tuple(result)
