"""Chunks along a document's own structure, under the path of their headings. It reads blocks and sections, no marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from docmind.chunking.cap import CAP, cap, overlap_below_size, token_starts
from docmind.chunking.units import Ruler, Unit, units
from docmind.parameters import Value, parameter
from docmind.protocols import Embedder, Tokenizer
from docmind.text import same_title
from docmind.types import Chunk, ChunkKind, Document, Section, Span, Split, blocks_in

DEEPEST = 3
"""Deeper headings stay in the body of the section above them."""

BREADCRUMB = 4
"""The breadcrumb takes at most a quarter of a chunk."""

TABLE_HEADER = 2
"""Breadcrumb and repeated table header together take at most half of it; else the header is not repeated."""


@dataclass(frozen=True, slots=True)
class Headers:
    """Sections of #, ## and ###, each in chunks of at most `size` tokens, prefix counted.

    A chunk is filled with whole blocks of one section; the items of a list are blocks. A block that is too large alone
    is divided: tables at rows, code at lines, prose at sentences, then all at words. Where a chunk starts inside a
    table, the table's header stands in its prefix.

    The prefix begins with a line "Page title > Section > Sub". The page's title stands there once, where it is also
    the first heading. Of a path over a quarter of `size`, the titles that fit are kept, inner ones first. A heading
    that is in no prefix (it has no text below it, or is too long) stays in the body.
    """

    embedder: Embedder
    size: int = parameter(500, "tokens of a chunk, prefix counted", low=16, high=CAP)
    overlap: int = parameter(0, "tokens at most of whole blocks that a chunk shares with the next", low=0, high=CAP - 1)

    @staticmethod
    def check(values: Mapping[str, Value], inner: int) -> Mapping[str, Value]:
        return overlap_below_size("headers", values)

    def split(self, document: Document) -> Split:
        page = _Page(document, self.embedder.tokenizer, self.size, self.overlap)
        told: set[Span] = set()
        found: list[tuple[_Part, list[_Piece]]] = []
        # From the last to the first: whether a heading without text is told depends on the sections below it.
        for part in reversed(list(_parts(document))):
            pieces = page.pieces(part.trail, page.below_heading(part), part.end)
            told.update(span for piece in pieces for span in piece.prefix.spans)
            if part.trail and part.trail[-1].heading not in told:
                pieces = page.pieces(part.trail[:-1], part.start, part.end)
                told.update(span for piece in pieces for span in piece.prefix.spans)
            found.append((part, pieces))
        chunks: list[Chunk] = []
        for part, pieces in reversed(found):
            for fragment, piece in enumerate(pieces):
                chunks.append(
                    Chunk.of(
                        document,
                        (piece.span,),
                        len(chunks),
                        prefix=piece.prefix.text,
                        prefix_spans=piece.prefix.spans,
                        kind=piece.kind,
                        path=tuple(section.title for section in part.trail),
                        section_id=part.section_id,
                        fragment=fragment,
                    )
                )
        return Split(tuple(chunks))


@dataclass(frozen=True, slots=True)
class _Part:
    """A section with the deeper ones below it; `trail` leads from the outermost heading to its own."""

    section_id: str | None
    trail: tuple[Section, ...]
    start: int
    end: int


def _parts(document: Document) -> Iterator[_Part]:
    """The parts of a document, in order, without a gap; the whole where it knows no sections."""
    if not document.sections:
        yield _Part(None, (), 0, len(document.text))
    firsts = [s for i, s in enumerate(document.sections) if i == 0 or s.level <= DEEPEST]
    borders = [*(section.span.start for section in firsts), len(document.text)]
    trail: tuple[Section, ...] = ()
    for section, (start, end) in zip(firsts, pairwise(borders), strict=True):
        if 1 <= section.level <= DEEPEST:
            trail = (*(above for above in trail if above.level < section.level), section)
        yield _Part(section.id, trail, start, end)


@dataclass(frozen=True, slots=True)
class _Prefix:
    text: str = ""
    spans: tuple[Span, ...] = ()
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class _Piece:
    span: Span
    prefix: _Prefix
    kind: ChunkKind


def _rising(pieces: list[_Piece]) -> list[_Piece]:
    """`pieces` without those that another wholly covers, so that both starts and ends rise strictly."""
    kept: list[_Piece] = []
    for piece in sorted(pieces, key=lambda piece: (piece.span.start, -piece.span.end)):
        if not kept or piece.span.end > kept[-1].span.end:
            kept.append(piece)
    return kept


class _Page:
    """A document, measured once, and cut to order."""

    def __init__(self, document: Document, tokenizer: Tokenizer, size: int, overlap: int) -> None:
        self.document = document
        self.tokenizer = tokenizer
        self.size = size
        self.overlap = overlap
        self.ruler = Ruler(document.text, tokenizer)

    def below_heading(self, part: _Part) -> int:
        """Where the text below a part's own heading starts."""
        heading = part.trail[-1].heading if part.trail else None
        if heading is None:
            return part.start
        block = blocks_in(self.document, heading.start, heading.end)[0]
        # Where a document has sections and no blocks, a heading is a line like any other.
        return block.span.end if block.kind == "heading" else heading.end

    def pieces(self, trail: tuple[Section, ...], start: int, end: int) -> list[_Piece]:
        """`start:end` in pieces of at most `size` tokens, counting a prefix that names `trail`. None where blank."""
        text = self.document.text
        if not text[start:end].strip():
            return []
        breadcrumb = self._breadcrumb(trail)
        blocks = blocks_in(self.document, start, end)
        parts = list(units(start, end, blocks, self.ruler, self.size - breadcrumb.tokens))
        pieces: list[_Piece] = []
        first = 0
        while first < len(parts):
            prefix = self._prefix(breadcrumb, parts[first])
            begin, last = parts[first].start, first + 1
            while last < len(parts) and prefix.tokens + self.ruler.count(begin, parts[last].end) <= self.size:
                last += 1
            kinds = {part.kind for part in parts[first:last]}
            kind: ChunkKind = kinds.pop() if len(kinds) == 1 else "text"
            whole = Span(self.document.id, begin, parts[last - 1].end)
            spans = cap(text, whole, self.size, self.tokenizer, prefix.text)
            pieces += [_Piece(span, prefix, kind) for span in spans]
            first = self._next(breadcrumb, parts, first, last)
        return _rising(pieces)

    def _next(self, breadcrumb: _Prefix, parts: Sequence[Unit], first: int, last: int) -> int:
        """Where the chunk after `first` to `last` begins: as far before `last` as it may share, and still get further."""
        if self.overlap and last < len(parts):
            for at in range(first + 1, last):
                shared = self.ruler.count(parts[at].start, parts[last].start)
                whole = self._prefix(breadcrumb, parts[at]).tokens + self.ruler.count(parts[at].start, parts[last].end)
                if shared <= self.overlap and whole <= self.size:
                    return at
        return last

    def _prefix(self, breadcrumb: _Prefix, unit: Unit) -> _Prefix:
        """The prefix of a chunk that starts with `unit`: shorter, where only so the unit stays whole."""
        choice = [breadcrumb, _Prefix()]
        if unit.header:
            row, _, rule = self.document.text[unit.header.start : unit.header.end].rpartition("\n")
            # To the model each dash of a table's rule is a token, and one a column will do.
            head = f"{row}\n{re.sub('-+', '-', rule)}\n"
            full = self._measured(breadcrumb.text + head, (*breadcrumb.spans, unit.header))
            if full.tokens * TABLE_HEADER <= self.size:
                choice.insert(0, full)
        length = self.ruler.count(unit.start, unit.end)
        return next((prefix for prefix in choice if prefix.tokens + length <= self.size), choice[0])

    def _breadcrumb(self, trail: tuple[Section, ...]) -> _Prefix:
        crumbs = [(section.title, section.heading) for section in trail]
        if not trail or not same_title(trail[0].title, self.document.title):
            crumbs.insert(0, (self.document.title, None))
        line = _Prefix()
        kept: list[tuple[str, Span | None]] = []
        for crumb in reversed(crumbs):
            if crumb[0].strip():
                longer = [crumb, *kept]
                text = " > ".join(" ".join(title.split()) for title, _ in longer) + "\n\n"
                tried = self._measured(text, tuple(span for _, span in longer if span))
                if tried.tokens * BREADCRUMB <= self.size:
                    line, kept = tried, longer
        return line

    def _measured(self, text: str, spans: tuple[Span, ...]) -> _Prefix:
        return _Prefix(text, spans, len(token_starts(text, self.tokenizer)))
