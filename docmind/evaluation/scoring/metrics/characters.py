"""span_precision@k, span_recall@k, span_iou@k: characters shown against characters of evidence. Ranks do not count.

The measures of "Evaluating Chunking Strategies for Retrieval" (Smith & Troynikov, Chroma 2024), over characters
instead of tokens and over unions, so that what two hits both show counts once. Of a piece's alternatives the one
counts whose share shown in the top k is greatest; of equals the shortest, then the first by document and place.
Where gold names a whole document its evidence has no known characters, and the measures are not defined.
"""

from fractions import Fraction
from typing import NamedTuple

from docmind.evaluation.scoring.metrics.judged import Judged
from docmind.types import Span, merge, overlap


def span_precision(judged: Judged, k: int) -> float | None:
    """|shown ∩ gold| / |shown|; 0 where nothing is shown."""
    found = _characters(judged, k)
    if found is None:
        return None
    return found.both / found.shown if found.shown else 0.0


def span_recall(judged: Judged, k: int) -> float | None:
    """|shown ∩ gold| / |gold|."""
    found = _characters(judged, k)
    return None if found is None else found.both / found.gold


def span_iou(judged: Judged, k: int) -> float | None:
    """|shown ∩ gold| / |shown ∪ gold|."""
    found = _characters(judged, k)
    return None if found is None else found.both / (found.shown + found.gold - found.both)


class _Characters(NamedTuple):
    shown: int
    gold: int
    both: int


def _characters(judged: Judged, k: int) -> _Characters | None:
    if any(piece.doc_id is not None for piece in judged.gold):
        return None
    shown = merge(span for spans in judged.shown[:k] for span in spans)

    def preference(span: Span) -> tuple[Fraction, int, Span]:
        return -Fraction(overlap(shown, (span,)), len(span)), len(span), span

    gold = merge(min(piece.spans, key=preference) for piece in judged.gold)
    return _Characters(sum(map(len, shown)), sum(map(len, gold)), overlap(shown, gold))
