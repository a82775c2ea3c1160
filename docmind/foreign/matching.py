"""Which runs of a passage's words stand in some documents, and where. It knows words, no sources and no offsets.

Any five words in a row are looked up in an index, and from their places on each run is followed by an automaton of the
passage. So the time is linear in the passage and in the places of its words, whatever repeats itself.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

from docmind.foreign.automaton import Automaton
from docmind.foreign.beside import above, signs_before, signs_behind
from docmind.foreign.wording import WORD, bounded, parts, pieces, weight, wording
from docmind.types import Document, Span, merge

RUN = 5
"""Words that a run has at least, where the passage has as many: fewer stand anywhere by accident."""
SOLID = 10
"""Words that one of the runs has at least, where it is not half of the passage. What is put together from phrases that are in
use everywhere is no passage of a document that uses them too."""
TITLES = 100
"""Words before a text among which its titles are looked for."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a passage stands in a document: `matched` of the `total` that its words weigh."""

    document: Document
    matched: int
    total: int
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class _Run:
    """The passage's words `start` to `end`, and where in the documents' row they end, rising."""

    start: int
    end: int
    ends: Sequence[int]

    @property
    def places(self) -> Iterator[tuple[int, int]]:
        """The words of the row, those of overlapping or touching places as one."""
        first = last = -1
        for end in self.ends:
            start = end - (self.end - self.start)
            if start > last:
                if last > 0:
                    yield first, last
                first = start
            last = end
        yield first, last


class _Passage:
    """The words of a passage as numbers; those that no document has are below 0.

    `fives` are any five in a row. What a passage says again counts once: words that stand in no five that is new weigh nothing
    in `total`.
    """

    def __init__(self, text: str, numbers: Mapping[str, int]) -> None:
        found = list(bounded(text))
        self.words = words = [word for word, _ in found]
        self._apart = [apart for _, apart in found]
        unknown: dict[str, int] = {}
        self.row = [numbers.get(word) or unknown.setdefault(word, -1 - len(unknown)) for word in words]
        self.fives: set[tuple[int, ...]] = set()
        new = bytearray(b"\1" * len(words) if len(words) < RUN else len(words))
        for at, five in enumerate(_fives(self.row)):
            if five not in self.fives:
                self.fives.add(five)
                new[at : at + RUN] = b"\1" * RUN
        weights = [weight(word) for word in words]
        self._sums = [0, *accumulate(weights)]
        self._counted = [0, *accumulate(map(mul, weights, new))]
        self.total = self._counted[-1]

    def weighs(self, start: int, end: int) -> int:
        """What the words from `start` to `end` weigh, new or not."""
        return self._sums[end] - self._sums[start]

    def matched(self, parts: Iterable[tuple[int, int]]) -> int:
        """What the words in the union of `parts` weigh, each counted once."""
        total = reached = 0
        for start, end in sorted(parts):
            total += self._counted[max(end, reached)] - self._counted[max(start, reached)]
            reached = max(end, reached)
        return total

    def part(self, title: Sequence[str], body: int) -> tuple[int, int] | None:
        """Where the words of `title` stand by themselves, between signs, line breaks or the word `body`, and before that."""
        first = max(0, body - TITLES)
        before, wanted = f" {' '.join(self.words[first:body])} ", f" {' '.join(title)} "
        at = before.find(wanted) if title else -1
        while at >= 0:
            start = first + before.count(" ", 0, at)
            end = start + len(title)
            if self._apart[start] and (end == body or self._apart[end]):
                return start, end
            at = before.find(wanted, at + 1)
        return None


class Matcher:
    """Documents as one row of numbers, one a word, with a gap, 0, behind each document.

    `_heads[h]` is the last place of any five words whose hash ends like h, `_before[i]` the last such before the place i.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = tuple(documents)
        self._numbers: dict[str, int] = {}
        self._row = array("I")
        self._starts = array("I")
        self._ends = array("I")
        self._firsts: list[int] = []
        known: dict[str, list[tuple[int, int, int]]] = {}
        for document in self._documents:
            self._firsts.append(len(self._row))
            for at, piece in pieces(document.text):
                if (numbered := known.get(piece)) is None:
                    numbered = known[piece] = [(self._number(word), a, b) for word, a, b in parts(piece)]
                for number, start, end in numbered:
                    self._row.append(number)
                    self._starts.append(at + start)
                    self._ends.append(at + end)
            self._row.append(0)
            self._starts.append(len(document.text))
            self._ends.append(len(document.text))
        self._spelt = ["", *self._numbers]
        self._mask = (1 << len(self._row).bit_length()) - 1
        self._heads = array("i", [-1]) * (self._mask + 1)
        self._before = array("i")
        for at, hashed in enumerate(map(hash, _fives(self._row))):
            self._before.append(self._heads[hashed & self._mask])
            self._heads[hashed & self._mask] = at

    def _number(self, word: str) -> int:
        return self._numbers.setdefault(word, len(self._numbers) + 1)

    def find(self, text: str) -> tuple[Found, ...]:
        """The documents in which most of `text` stands, all that are equal; none where it is less than half."""
        passage = _Passage(text, self._numbers)
        short = passage.weighs(0, len(passage.words)) < RUN * WORD
        runs = self._whole(passage) if short else self._runs(passage)
        found = [self._found(self._documents[number], passage, placed) for number, placed in runs.items()]
        placed = [each for each in found if each]
        most = max((each.matched for each in placed), default=0)
        return tuple(each for each in placed if each.matched == most and most * 2 >= passage.total)

    def _whole(self, passage: _Passage) -> Mapping[int, Sequence[_Run]]:
        """Of each document the places of a passage that is too short for a run: it stands there as a whole, or not."""
        ends: defaultdict[int, list[int]] = defaultdict(list)
        if min(passage.row, default=0) > 0:
            row, wanted = self._row.tobytes(), array("I", passage.row).tobytes()
            at = row.find(wanted)
            while at >= 0:
                first, inside = divmod(at, self._row.itemsize)
                if not inside:
                    ends[self._document_at(first)].append(first + len(passage.row))
                at = row.find(wanted, at + 1)
        return {number: [_Run(0, len(passage.row), places)] for number, places in ends.items()}

    def _runs(self, passage: _Passage) -> Mapping[int, Sequence[_Run]]:
        """Of each document that has any its runs, none a part of another."""
        automaton = Automaton(passage.row)
        ends: defaultdict[int, defaultdict[tuple[int, int], list[int]]] = defaultdict(lambda: defaultdict(list))
        for first, last in _stretches(self._places(passage)):
            there = ends[self._document_at(first)]
            for start, end, at in automaton.runs(self._row, first, last + RUN):
                if passage.weighs(start, end) >= RUN * WORD:
                    there[start, end].append(at)
        return {number: _maximal(there) for number, there in ends.items() if there}

    def _places(self, passage: _Passage) -> list[int]:
        """Where any five words of the passage stand, rising."""
        found = []
        for head in {self._heads[hash(five) & self._mask] for five in passage.fives}:
            found += [place for place in self._chain(head) if tuple(self._row[place : place + RUN]) in passage.fives]
        return sorted(found)

    def _chain(self, at: int) -> Iterator[int]:
        while at >= 0:
            yield at
            at = self._before[at]

    def _document_at(self, at: int) -> int:
        return bisect_right(self._firsts, at) - 1

    def _found(self, document: Document, passage: _Passage, runs: Sequence[_Run]) -> Found | None:
        """What `runs` and the titles before them show of the document; None where even the longest is no SOLID one."""
        longest = max(runs, key=lambda run: passage.weighs(run.start, run.end))
        titles = list(self._titles(document, passage, longest))
        told = [(start, end) for start, end, _ in titles]
        solid = passage.weighs(longest.start, longest.end)
        if solid < SOLID * WORD and solid * 2 < passage.total - passage.matched(told):
            return None
        spans = [heading for _, _, heading in titles if heading]
        for run in runs:
            before = passage.words[run.start - 1] if run.start else ""
            behind = passage.words[run.end] if run.end < len(passage.words) else ""
            spans += [self._span(document, *place, before, behind) for place in run.places]
        matched = passage.matched([*told, *((run.start, run.end) for run in runs)])
        return Found(document, matched, passage.total, merge(spans))

    def _span(self, document: Document, first: int, end: int, before: str, behind: str) -> Span:
        """The characters of the row's words `first` to `end`, with the letters next to them of a word that is cut in the
        passage, `before` or `behind`; else with the signs next to them, and with all that there are to the line's end."""
        previous = self._row[first - 1] if first else 0
        start, stop = self._starts[first], self._ends[end - 1]
        left = self._ends[first - 1] if previous else 0
        right = self._starts[end]
        if before and self._spelt[previous].endswith(before):
            start = max(self._starts[first - 1], left - len(before))
        else:
            start -= signs_before(document.text[left:start], not previous)
        if behind and self._spelt[self._row[end]].startswith(behind):
            stop = min(self._ends[end], right + len(behind))
        else:
            stop += signs_behind(document.text[stop:right], not self._row[end])
        return Span(document.id, start, stop)

    def _titles(self, document: Document, passage: _Passage, body: _Run) -> Iterator[tuple[int, int, Span | None]]:
        """What stands above the places of `body` in the document and before it in the passage, where systems put it: the words
        of the passage, and where they stand, None where they do not."""
        for title, span in above(document, [self._starts[place] for place, _ in body.places]) if body.start else ():
            if part := passage.part(wording(title), body.start):
                yield *part, span


def _fives(row: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return zip(*(row[shift:] for shift in range(RUN)), strict=False)


def _stretches(places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The first and last of numbers that follow each other without a gap."""
    first = last = -2
    for place in places:
        if place != last + 1:
            if first >= 0:
                yield first, last
            first = place
        last = place
    if first >= 0:
        yield first, last


def _maximal(ends: Mapping[tuple[int, int], Sequence[int]]) -> Sequence[_Run]:
    """The runs whose words are not all words of another one, rising."""
    kept: list[_Run] = []
    for start, end in sorted(ends, key=lambda run: (run[0], -run[1])):
        if not kept or end > kept[-1].end:
            kept.append(_Run(start, end, ends[start, end]))
    return kept
