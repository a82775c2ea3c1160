"""Documents as bytes, so that one that has not changed need not be read again. JSON: what is read runs no code."""

from __future__ import annotations

import json
from collections.abc import Sequence

from docmind.types import Block, Document, Section, Span

Place = list[int] | None


def dumps(document: Document) -> bytes:
    """The document as JSON. Its id stands there once: all its spans are of itself."""
    return json.dumps(
        {
            "id": document.id,
            "title": document.title,
            "text": document.text,
            "url": document.url,
            "pages": document.pages,
            "meta": document.meta,
            "blocks": [
                [b.kind, _place(b.span), b.level, b.title, _place(b.words), _place(b.header),
                 [_place(row) for row in b.rows], [[_place(cell) for cell in row] for row in b.cells]]
                for b in document.blocks
            ],
            "sections": [
                [s.id, s.level, s.title, s.path, _place(s.span), _place(s.heading), s.parent]
                for s in document.sections
            ],
        },
        separators=(",", ":"),
    ).encode()  # fmt: skip


def loads(data: bytes) -> Document:
    """What `dumps` gave. Raises ValueError, KeyError or TypeError for anything else."""
    found = json.loads(data)
    doc_id = found["id"]

    def span(place: Sequence[int]) -> Span:
        return Span(doc_id, place[0], place[1])

    def maybe(place: Place) -> Span | None:
        return None if place is None else span(place)

    blocks = tuple(
        Block(kind, span(whole), level, title, maybe(words), maybe(header), tuple(map(span, rows)),
              tuple(tuple(map(maybe, row)) for row in cells))
        for kind, whole, level, title, words, header, rows, cells in found["blocks"]
    )  # fmt: skip
    sections = tuple(
        Section(id_, level, title, tuple(path), span(whole), maybe(heading), parent)
        for id_, level, title, path, whole, heading, parent in found["sections"]
    )
    return Document(
        doc_id, found["title"], found["text"], found["url"], blocks, sections, tuple(found["pages"]), found["meta"]
    )


def _place(span: Span | None) -> Place:
    return None if span is None else [span.start, span.end]
