"""What is shown of a passage: a paragraph or two around its gold, by the blocks of its document, without their marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from docmind.evaluation.record.types import HitResult
from docmind.evaluation.reports.inert import cut
from docmind.types import Document, Span, blocks_in

CUT = 600
"""Characters of a passage, a question, a piece of gold or an error: a paragraph or two, enough to judge by."""

REACH = 40
"""Characters. How far from where a passage is to be cut a better place is looked for."""

NOWHERE = "a passage that is in no document"
"""What is shown for one of a foreign retriever that could not be found in the documents."""

Ranges = Sequence[tuple[int, int]]


def in_brief(hit: HitResult | str, documents: Mapping[str, Document], length: int) -> tuple[str, str]:
    """Where a hit is from, and on one line at most `length` characters of its longest part: the body as a rule, and no
    heading. Of a chunk of a baseline only its id is known."""
    if isinstance(hit, str):
        return f"chunk {hit}", ""
    if not hit.spans:
        return NOWHERE, ""
    start, end = max(hit.spans, key=lambda span: span[1] - span[0])
    return hit.source, cut(" ".join(documents[hit.source].text[start:end].split()), length)


def excerpt(document: Document, shown: Ranges, gold: Ranges) -> list[str]:
    """At most CUT characters of the ranges `shown` of `document`, joined by " … ": around the first of the rising ranges
    `gold` that is among them, else the beginning. A heading is shown as its title, a row of a table as "cell · cell". Where
    it is cut, it begins and ends with a line, else a word, if one is in REACH. Plain and gold parts take turns, the first
    plain, maybe "".
    """
    parts = list(_parts(document, shown, gold))
    said = "".join(part for part, _ in parts)
    begin, end = _window(said, parts)
    turns = ["…" if begin else ""]
    at = 0
    for part, is_gold in parts:
        piece = part[max(0, begin - at) : max(0, end - at)]
        at += len(part)
        if piece and is_gold == (len(turns) % 2 == 0):
            turns[-1] += piece
        elif piece:
            turns.append(piece)
    turns[-1] += "…" if end < len(said) else ""
    return turns


def _window(said: str, parts: Sequence[tuple[str, bool]]) -> tuple[int, int]:
    """Where to begin and to end, so that the first gold is in the middle."""
    begin, gold = 0, len(said)
    at = 0
    for part, is_gold in parts:
        if is_gold:
            gold = at
            begin = max(0, min(at - max(0, CUT - len(part)) // 2, len(said) - CUT))
            break
        at += len(part)
    end = min(len(said), begin + CUT)
    if begin and (breaks := _breaks(said, begin - 1, min(gold, begin + REACH))):
        begin = breaks[0].end()
    if end < len(said) and (breaks := _breaks(said, end - REACH, end + 1)):
        end = breaks[-1].start()
    return begin, end


def _breaks(said: str, start: int, end: int) -> list[re.Match[str]]:
    """The white space from `start` to `end`: that between lines, if there is any."""
    found = list(re.compile(r"\s+").finditer(said, start, end))
    return [one for one in found if "\n" in one[0]] or found


def _parts(document: Document, shown: Ranges, gold: Ranges) -> Iterator[tuple[str, bool]]:
    """What is said of `shown`, cut where `gold` begins and ends; whether each part is gold."""
    for number, (start, end) in enumerate(shown):
        if number:
            yield " … ", False
        at = start
        for from_, to in _kept(document, start, end):
            if at > start:
                yield _between(document.text[at:from_]), any(a <= at and from_ <= b for a, b in gold)
            at = from_
            for a, b in gold:
                if a < to and b > from_:
                    yield document.text[at : max(at, a)], False
                    yield document.text[max(at, a) : min(to, b)], True
                    at = min(to, b)
            yield document.text[at:to], False
            at = to


def _kept(document: Document, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The ranges of `start` to `end` whose characters are shown."""
    for block in blocks_in(document, start, end):
        spans: Sequence[Span | None] = [block.span]
        if block.kind == "heading":
            spans = [block.words]
        elif block.kind == "table":
            spans = [cell for row in block.cells for cell in row]
        for span in spans:
            if span and span.start < end and span.end > start:
                yield max(span.start, start), min(span.end, end)


def _between(marks: str) -> str:
    """What is shown for the characters between two ranges that are shown: those of a row have no line break there."""
    return "\n\n" if re.search(r"\n\s*\n", marks) else "\n" if "\n" in marks else " · "
