"""Finds quoted evidence in the pages, once, so that scoring compares no text. It reads no file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from textwrap import dedent

from docmind import markup
from docmind.errors import AnswerKeyError
from docmind.registry import did_you_mean
from docmind.text import Folded, find_all, fold, nearest
from docmind.types import Block, Document, Span, blocks_in, merge


class Pages:
    """The documents as evidence is looked up in them. Each is folded at most once."""

    def __init__(self, documents: Iterable[Document], why_left_out: Callable[[str], str] = lambda page: "") -> None:
        self._documents: Mapping[str, Document] = {document.id: document for document in documents}
        self._why_left_out = why_left_out
        self._folded: dict[str, Folded] = {}

    def check(self, source: str) -> None:
        """Raises AnswerKeyError, which says why there is no page `source`, and names the nearest."""
        if source not in self._documents:
            why = self._why_left_out(source) or "a page's path below the corpus folder was expected"
            raise AnswerKeyError(f"unknown source {source!r}: {why}.{did_you_mean(source, self._documents)}")

    def twins(self, place: Span) -> frozenset[str]:
        """The other pages in which the blocks that hold the place stand word for word."""
        document = self._documents[place.doc_id]
        held = [self._holding[_words(document, block)] for block in blocks_in(document, place.start, place.end)]
        return frozenset.intersection(*map(frozenset, held)) - {place.doc_id} if held else frozenset()

    @cached_property
    def _holding(self) -> Mapping[str, Sequence[str]]:
        """By the words of a block the pages that have it."""
        found: dict[str, list[str]] = {}
        for document in self._documents.values():
            for block in blocks_in(document, 0, len(document.text)):
                found.setdefault(_words(document, block), []).append(document.id)
        return found

    def find(self, source: str, evidence: str, section: str | None = None) -> tuple[Span, ...]:
        """Every place of `evidence` in the page `source`, rising, or in its sections below a heading `section`.

        The evidence is looked up as it is, then cleaned as the page was; white space, Markdown marks and typography may
        differ. Raises AnswerKeyError where the page, the section or the evidence is not there, with what comes nearest.
        """
        self.check(source)
        if not any(map(str.isalnum, evidence)):
            raise AnswerKeyError(f"evidence {short(evidence)} holds no letter and no digit. Quote what answers.")
        document = self._documents[source]
        if source not in self._folded:
            self._folded[source] = fold(document.text)
        quoted = markup.clean(dedent(evidence)).text  # four blanks before it would make code of a list item
        # As it is written first: code that is quoted without its fence would lose what looks like markup.
        found = find_all(self._folded[source], evidence) or find_all(self._folded[source], quoted)
        places = tuple(Span(source, start, end) for start, end in found)
        if not places:
            near = nearest(document.text, quoted)
            hint = f" The nearest text there is {near!r}." if near else ""
            raise AnswerKeyError(f"evidence {short(evidence)} is not in {source}.{hint} Quote the page as it stands.")
        return places if section is None else _within(document, section, places, evidence)


def _words(document: Document, block: Block) -> str:
    return " ".join(document.text[block.span.start : block.span.end].split())


def short(value: object, limit: int = 200) -> str:
    """The value as an error shows it: of a long one the beginning."""
    shown = repr(value)
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def _within(document: Document, section: str, places: tuple[Span, ...], evidence: str) -> tuple[Span, ...]:
    wanted = _title(section)
    titles = [title for part in document.sections for title in part.path]
    regions = merge(part.span for part in document.sections if wanted in map(_title, part.path))
    if not regions:
        raise AnswerKeyError(
            f"{document.id} has no section {section!r}: the title of a heading above the evidence was expected."
            f"{did_you_mean(section, titles)}"
        )
    inside = tuple(p for p in places if any(r.start <= p.start and p.end <= r.end for r in regions))
    if not inside:
        raise AnswerKeyError(
            f"evidence {short(evidence)} is in {document.id}, but not in its section {section!r}. "
            f"It stands in {_headings(document, places)}: name one of them."
        )
    return inside


def _title(title: str) -> str:
    return fold(title).text.casefold()


def _headings(document: Document, places: tuple[Span, ...]) -> str:
    """The headings right above the places."""
    above = [
        repr(part.title)
        for part in document.sections
        if any(part.span.start <= place.start < part.span.end for place in places)
    ]
    return " and ".join(above)
