"""citation_recall and citation_precision: do the citations name the evidence, and nothing else? No word is read."""

from __future__ import annotations

from docmind.evaluation.scoring.answermetrics.judged import JudgedAnswer
from docmind.evaluation.scoring.spans import covers
from docmind.types import Gold, Span, overlap


def citation_recall(answer: JudgedAnswer) -> float | None:
    """The share of the gold pieces that all cited spans together cover, by the gold rule. None without gold."""
    if not answer.gold:
        return None
    cited = _all(answer)
    return sum(covers(cited, piece) for piece in answer.gold) / len(answer.gold)


def citation_precision(answer: JudgedAnswer) -> float | None:
    """The share of the citations that are right. None without gold, or without a citation.

    A citation is right if what it names overlaps an alternative of a gold piece that all cited spans together cover. So
    each of two citations is right that hold half of a piece, and neither of one of them alone: nobody can look it up there.
    """
    if not answer.gold or not answer.cited:
        return None
    cited = _all(answer)
    whole = [part for piece in answer.gold for part in _alternatives(piece) if covers(cited, part)]
    return sum(any(_touches(spans, part) for part in whole) for spans in answer.cited) / len(answer.cited)


def _all(answer: JudgedAnswer) -> tuple[Span, ...]:
    return tuple(span for spans in answer.cited for span in spans)


def _alternatives(piece: Gold) -> tuple[Gold, ...]:
    """Each alternative as a piece of its own; a whole document has none."""
    return tuple(Gold((span,)) for span in piece.spans) if piece.doc_id is None else (piece,)


def _touches(spans: tuple[Span, ...], part: Gold) -> bool:
    """Whether `spans` hold any of `part`."""
    if part.doc_id is not None:
        return any(span.doc_id == part.doc_id for span in spans)
    return overlap(spans, part.spans) > 0
