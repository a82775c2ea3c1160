"""Finds where a foreign retriever's passage stands in the documents, so that it is graded by spans like any chunk.

Text is compared by words alone, so that what a system strips, rewraps or sets otherwise does not matter.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from threading import Lock
from typing import Literal
from urllib.parse import unquote, urlsplit

from docmind.foreign.aligning import RUN, Text, enough, hashes, says, tokens
from docmind.foreign.reply import Passage
from docmind.text import nfc
from docmind.types import Document, Span

How = Literal["offsets", "source", "anywhere", "document", "nowhere"]

NEARLY = 0.8
"""Of the most runs that a document holds: those with fewer are not compared word by word."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a passage stands: `spans`, merged, by document and start, the document that fits best first; none where it is
    in no document. `how` says by what it was found."""

    spans: tuple[Span, ...]
    how: How


class Placer:
    """Places passages in `documents`. A passage that comes back is placed once. Thread-safe."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents: Mapping[str, Document] = {document.id: document for document in documents}
        self._known: dict[Passage, Placed] = {}
        self._lock = Lock()

    def place(self, passage: Passage) -> Placed:
        """Where it stands: by its offsets, else by its text in the source that it names, else anywhere; a passage that is a
        source alone is the whole document."""
        key = Passage(passage.text, passage.source, passage.start, passage.end)
        with self._lock:
            if key not in self._known:
                self._known[key] = self._place(key)
            return self._known[key]

    def _place(self, passage: Passage) -> Placed:
        source = self._source(passage.source)
        if source is not None and passage.start is not None and passage.end is not None:
            end = min(passage.end, len(source.text))
            if passage.start < end and says(source.text[passage.start : end], passage.text):
                return Placed((Span(source.id, passage.start, end),), "offsets")
        if not passage.text.strip():
            whole = source is not None and passage.start is None and bool(source.text)
            return (
                Placed((Span(source.id, 0, len(source.text)),), "document")
                if whole and source
                else Placed((), "nowhere")
            )
        wanted = tuple(word for word, _, _ in tokens(nfc(passage.text)))
        if source is not None:
            held, found = self._texts[source.id].places(wanted)
            if enough(held, wanted):
                return Placed(found, "source")
        found = self._anywhere(wanted)
        return Placed(found, "anywhere" if found else "nowhere")

    def _source(self, name: str | None) -> Document | None:
        """The document that `name` means: its id, its address, or a path of which one is the end of the other and of no
        other document's."""
        if name is None:
            return None
        if (found := self._documents.get(nfc(name))) is not None:
            return found
        if name in self._by_url:
            return self._by_url[name]
        path = urlsplit(name).path if "://" in name else name
        parts = PurePosixPath(nfc(unquote(path)).replace("\\", "/")).parts
        parts = tuple(part for part in parts if part not in ("/", ".", ".."))
        fitting = [
            d
            for d in self._by_name.get(parts[-1] if parts else "", ())
            if _ends_alike(PurePosixPath(d.id).parts, parts)
        ]
        longest = max((len(PurePosixPath(d.id).parts) for d in fitting), default=0)
        if longest <= len(parts):  # of two ids that are ends of the path the longer is meant
            fitting = [d for d in fitting if len(PurePosixPath(d.id).parts) == longest]
        return fitting[0] if len(fitting) == 1 else None

    @cached_property
    def _by_url(self) -> Mapping[str, Document]:
        return {document.url: document for document in self._documents.values() if document.url}

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[Document]]:
        found: defaultdict[str, list[Document]] = defaultdict(list)
        for document in self._documents.values():
            found[PurePosixPath(document.id).name].append(document)
        return found

    @cached_property
    def _texts(self) -> Mapping[str, Text]:
        return {document.id: Text(document) for document in self._documents.values()}

    @cached_property
    def _holding(self) -> Mapping[int, Sequence[str]]:
        """By the hash of RUN words the documents that hold them."""
        found: defaultdict[int, list[str]] = defaultdict(list)
        for doc_id, text in self._texts.items():
            for run in text.runs:
                found[run].append(doc_id)
        return found

    def _anywhere(self, wanted: Sequence[str]) -> tuple[Span, ...]:
        """In the document that holds most of it; where several hold as much, in all of them."""
        best = 0
        found: list[Span] = []
        for doc_id in self._likely(wanted):
            held, spans = self._texts[doc_id].places(wanted)
            if held > best:
                best, found = held, []
            if held == best:
                found += spans
        return tuple(found) if enough(best, wanted) else ()

    def _likely(self, wanted: Sequence[str]) -> Iterable[str]:
        """The documents that hold nearly as many runs of its words as any; of fewer words than a run all."""
        if len(wanted) < RUN:
            return sorted(self._texts)
        votes = Counter(doc_id for run in set(hashes(wanted)) for doc_id in self._holding.get(run, ()))
        most = max(votes.values(), default=0)
        return sorted(doc_id for doc_id, count in votes.items() if count >= NEARLY * most)


def _ends_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether one of two paths is the end of the other."""
    shared = min(len(one), len(other))
    return shared > 0 and tuple(one[-shared:]) == tuple(other[-shared:])
