"""The gold rule, as arithmetic on spans: what is shown covers a piece of evidence, or not. No text is compared here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from docmind.config import COVERED
from docmind.types import Gold, Hit, Span, overlap

WON_WITHIN = 3
"""A question is lost where none of this many first hits covers a piece: as many as the language model sees."""


def covers(shown: Sequence[Span], gold: Gold, share: float = COVERED) -> bool:
    """Whether `shown` (of a chunk or a hit) holds at least `share` of one alternative's characters.

    `share` lies in (0, 1] and is read as the decimal that is written: 8 of 10 characters are 0.8, whatever the binary
    fraction says. Gold that names a whole document is covered by any part of it.
    """
    if gold.doc_id is not None:
        return any(span.doc_id == gold.doc_id for span in shown)
    numerator, denominator = _ratio(share)
    return any(shared(shown, wanted) * denominator >= len(wanted) * numerator for wanted in gold.spans)


@lru_cache(maxsize=8)
def _ratio(share: float) -> tuple[int, int]:
    return Fraction(str(share)).as_integer_ratio()


def shared(shown: Sequence[Span], wanted: Span) -> int:
    """How many characters of `wanted` stand in the union of `shown`: `overlap`, faster for one span, since nearly all that
    is shown of a page stands elsewhere in it."""
    near = [s for s in shown if s.start < wanted.end and wanted.start < s.end and s.doc_id == wanted.doc_id]
    if len(near) > 1:
        return overlap(near, (wanted,))
    return sum(min(s.end, wanted.end) - max(s.start, wanted.start) for s in near)


def sources(gold: Gold) -> frozenset[str]:
    """The documents that hold an alternative of the piece."""
    return frozenset([gold.doc_id]) if gold.doc_id is not None else frozenset(span.doc_id for span in gold.spans)


def ranks(hits: Sequence[Hit], gold: Sequence[Gold]) -> tuple[int | None, ...]:
    """For each piece the rank of the first hit that covers it, or None. `hits` are in rank order, no chunk twice."""
    pieces_of: defaultdict[str, set[int]] = defaultdict(set)
    for index, piece in enumerate(gold):
        for doc_id in sources(piece):
            pieces_of[doc_id].add(index)
    found: list[int | None] = [None] * len(gold)
    for hit in hits:
        for index in set().union(*(pieces_of[doc_id] for doc_id in {span.doc_id for span in hit.shown})):
            if found[index] is None and covers(hit.shown, gold[index]):
                found[index] = hit.rank
    return tuple(found)


def best(ranks: Sequence[int | None]) -> int | None:
    """The best rank of any piece."""
    return min((rank for rank in ranks if rank is not None), default=None)


def is_hit(rank: int | None) -> bool:
    """Whether that rank is among the first three."""
    return rank is not None and rank <= WON_WITHIN
