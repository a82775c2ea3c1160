"""Lays the words of a passage along those of a document. It knows no sources and no offsets."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from docmind.text import UNPARTED, word_places, words
from docmind.types import Document, Span, merge

RUN = 5
"""Words that must stand one after another to be a part of a passage: fewer are a phrase of the language."""

SHARE = 0.5
"""Of a passage's words that must be found: the rest is what a system adds, such as titles, or another corpus."""

MOST_PLACES = 200
"""Places of one run in a document that are looked at, and runs that are joined: what stands more often tells no place."""

_APART = re.compile(rf"[{UNPARTED}-\U0010ffff]|[^{UNPARTED}-\U0010ffff]+")
"""In scripts that write no blanks each character is compared as a word."""


def tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of `text` as they are compared, and where each begins and ends."""
    for start, end in word_places(text):
        piece = text[start:end]
        if max(piece) < UNPARTED:
            yield from ((word, start, end) for word in words(piece))
            continue
        for match in _APART.finditer(piece):
            yield from ((word, start + match.start(), start + match.end()) for word in words(match[0]))


def hashes(found: Sequence[str]) -> Iterator[int]:
    """Of every RUN words one after another, in order."""
    return (hash(tuple(found[at : at + RUN])) for at in range(len(found) - RUN + 1))


def enough(held: int, wanted: Sequence[str]) -> bool:
    """Whether so many words are a passage of `wanted`: SHARE of them, and all of one that is shorter than a run."""
    return held >= (len(wanted) if len(wanted) < RUN else SHARE * len(wanted)) > 0


def says(region: str, text: str) -> bool:
    """Whether the words of `region` are those of `text`, but for what a system puts before and behind; "" says anything."""
    inside, whole = (_joined(word for word, _, _ in tokens(each)) for each in (region, text))
    return len(whole) == 1 or (len(inside) > 1 and inside in whole and len(inside) >= SHARE * len(whole))


def _joined(found: Iterator[str]) -> str:
    return "\0" + "".join(f"{word}\0" for word in found)


@dataclass(frozen=True, slots=True)
class Run:
    """`length` words of a passage from `start` on, which are those of a document from `at` on."""

    start: int
    at: int
    length: int


class Text:
    """A document's words in order. They are read when they are first asked for."""

    def __init__(self, document: Document) -> None:
        self.document = document

    @cached_property
    def _read(self) -> tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...]]:
        found = list(tokens(self.document.text))
        return (
            tuple(word for word, _, _ in found),
            tuple(start for _, start, _ in found),
            tuple(end for _, _, end in found),
        )

    @cached_property
    def runs(self) -> Mapping[int, Sequence[int]]:
        """By the hash of RUN words where they stand, each by the number of its first word."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        for at, run in enumerate(hashes(self._read[0])):
            found[run].append(at)
        return found

    def places(self, wanted: Sequence[str]) -> tuple[int, tuple[Span, ...]]:
        """How many of the words `wanted` stand here at the best place, in their order, and the spans of all places that hold
        as many."""
        found = list(self._runs(wanted)) if len(wanted) >= RUN else list(self._whole(wanted))
        chain = _chain(found)
        held = sum(run.length for run in chain)
        spans = self._spans(chain, wanted)
        for run in found:  # the same words again: a footer, a twin
            if run.length == held and run not in chain:
                spans += self._spans((run,), wanted)
        return held, merge(spans)

    def _whole(self, wanted: Sequence[str]) -> Iterator[Run]:
        """Where a passage that is shorter than a run stands as it is."""
        known, n = self._read[0], len(wanted)
        for at, word in enumerate(known):
            if n and word == wanted[0] and known[at : at + n] == tuple(wanted):
                yield Run(0, at, n)

    def _runs(self, wanted: Sequence[str]) -> Iterator[Run]:
        """Every run of `wanted` here that cannot be made longer, RUN words at least."""
        known = self._read[0]
        seen: defaultdict[int, int] = defaultdict(int)
        for start, run in enumerate(hashes(wanted)):
            places = self.runs.get(run, ())
            seen[run] += len(places)
            if seen[run] > MOST_PLACES:
                continue
            for at in places:
                if start and at and wanted[start - 1] == known[at - 1]:
                    continue  # it is a part of a longer one
                length = 0
                while (
                    start + length < len(wanted)
                    and at + length < len(known)
                    and wanted[start + length] == known[at + length]
                ):
                    length += 1
                if length >= RUN:
                    yield Run(start, at, length)

    def _spans(self, chain: Sequence[Run], wanted: Sequence[str]) -> tuple[Span, ...]:
        """What `chain` shows: its words, the letters of a word that was cut at an end, and the signs and blanks next to them
        in their lines, which carry nothing: a full stop, the pipes of a table."""
        text, doc_id = self.document.text, self.document.id
        known, starts, ends = self._read
        spans = []
        for run in chain:
            first, last = run.at, run.at + run.length - 1
            before = ends[first - 1] if first else 0
            after = starts[last + 1] if last + 1 < len(known) else len(text)
            start = max(before, text.rfind("\n", before, starts[first]) + 1)
            cut = text.find("\n", ends[last], after)
            end = after if cut < 0 else cut
            if run.start == 1 and first and known[first - 1].endswith(wanted[0]):
                start = max(starts[first - 1], ends[first - 1] - len(wanted[0]))
            if (
                run.start + run.length == len(wanted) - 1
                and last + 1 < len(known)
                and known[last + 1].startswith(wanted[-1])
            ):
                end = min(ends[last + 1], starts[last + 1] + len(wanted[-1]))
            spans.append(Span(doc_id, start, end))
        return tuple(spans)


def _chain(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Of `runs` those that hold most words together, one after another both in passage and document; of equals the first."""
    kept = sorted(sorted(runs, key=lambda run: -run.length)[:MOST_PLACES], key=lambda run: (run.start, run.at))
    best: list[tuple[int, int]] = []  # of a chain that ends with that run: its words, and the run before in it
    for i, run in enumerate(kept):
        words_before, before = 0, -1
        for j in range(i):
            other = kept[j]
            if (
                other.start + other.length <= run.start
                and other.at + other.length <= run.at
                and best[j][0] > words_before
            ):
                words_before, before = best[j][0], j
        best.append((words_before + run.length, before))
    chain: list[Run] = []
    at = max(range(len(kept)), key=lambda i: best[i][0], default=-1)
    while at >= 0:
        chain.append(kept[at])
        at = best[at][1]
    return tuple(reversed(chain))
