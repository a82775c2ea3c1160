"""Where a passage of a foreign retriever stands in the documents, so that it is graded like a chunk. It ranks nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Literal

from docmind.foreign.matching import RUN, Found, Matcher
from docmind.foreign.naming import Names
from docmind.foreign.reply import Passage
from docmind.foreign.wording import NUMBERED, wording
from docmind.markup import clean
from docmind.types import Document, Span

How = Literal["offsets", "source", "anywhere", "document", "nowhere"]

REMEMBERED = 2**16
"""Passages that are not placed again: a good one comes back for many questions."""

PREFIX = 30
"""Words at most of what a system puts before a text on lines of its own."""

_MARKUP = re.compile(r"[<\[&\\{]")
"""Without one of these a text has no words that its reader does not see: targets of links, tags, entities."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The `spans` of a passage, merged, rising within a document, none where it is placed nowhere; and what told its place.

    "offsets": its own. "source": its text, in the document that it names. "anywhere": its text, in all documents in which
    most of it stands. "document": its source alone, which is the whole of it.
    """

    spans: tuple[Span, ...]
    how: How


NOWHERE = Placed((), "nowhere")


class Placer:
    """Places passages in `documents`. Thread-safe. A document is read when a passage names it first, all of them when the text
    of one is first looked for anywhere."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = tuple(documents)
        self._names = Names(self._documents)
        self._lock = Lock()
        self._matchers: dict[str | None, Matcher] = {}
        self._placed = lru_cache(maxsize=REMEMBERED)(self._place)

    def place(self, passage: Passage) -> Placed:
        """Where `passage` stands. By its offsets, where its source is known and the words there are its own. Else by its text:
        in its source, and where it is not there or that is not known, anywhere. At least half of its words stand there in
        runs of five or more, or all of a shorter one."""
        return self._placed(passage.text if passage.text.strip() else "", passage.source, passage.start, passage.end)

    def _place(self, text: str, source: str | None, start: int | None, end: int | None) -> Placed:
        document = self._names.document(source) if source is not None else None
        if document and start is not None and end is not None:
            span = _span(document, start, end)
            if not text:
                return Placed((span,), "offsets") if span else NOWHERE
            if span and len(span) == end - start and _its_own(text, document.text[start:end]):
                return Placed((span,), "offsets")
        elif document and not text:
            whole = _span(document, 0, len(document.text))
            return Placed((whole,), "document") if whole else NOWHERE
        if document and (found := self._find(text, document)):
            return Placed(found[0].spans, "source")
        if found := self._find(text, None):
            return Placed(tuple(sorted(span for each in found for span in each.spans)), "anywhere")
        return NOWHERE

    def _find(self, text: str, document: Document | None) -> Sequence[Found]:
        """Where `text` stands in `document`, None meaning in any: by that of its readings of which most is found."""
        matcher = self._matcher(document)
        best: Sequence[Found] = ()
        for reading in _readings(text):
            found = matcher.find(reading)
            if _matched(found) > _matched(best):
                best = found
            if best and best[0].matched == best[0].total:
                return best
        return best or next((found for body in _bodies(text) if (found := matcher.find(body))), ())

    def _matcher(self, document: Document | None) -> Matcher:
        key = document.id if document else None
        with self._lock:
            if key not in self._matchers:
                self._matchers[key] = Matcher((document,) if document else self._documents)
            return self._matchers[key]


def _matched(found: Sequence[Found]) -> int:
    return found[0].matched if found else 0


def _readings(text: str) -> Iterator[str]:
    """`text` as it is; without numbers of lists, where line breaks are gone; and as its reader sees it, since many systems
    keep a file as it is written."""
    yield text
    if (plain := NUMBERED.sub(" ", text)) != text:
        yield plain
    if _MARKUP.search(text):
        yield clean(text).text


def _bodies(text: str) -> Iterator[str]:
    """`text` without a prefix of a few words, which is its first line, or all up to its first blank line."""
    for border in ("\n\n", "\n"):
        prefix, _, body = text.strip().partition(border)
        if len(wording(prefix)) <= PREFIX and len(wording(body)) >= RUN:
            yield body


def _span(document: Document, start: int, end: int) -> Span | None:
    """What of `start` to `end` is in the document."""
    start, end = max(0, start), min(end, len(document.text))
    return Span(document.id, start, end) if start < end else None


def _its_own(text: str, there: str) -> bool:
    """Whether the words `there` are those of `text`, or their end, behind what a system puts before it."""
    wanted, found = wording(text), wording(there)
    return wanted == found or (len(found) >= RUN and wanted[-len(found) :] == found)
