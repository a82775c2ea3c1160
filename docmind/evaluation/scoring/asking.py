"""Asks a retriever every question and keeps what came back. It grades nothing but the ranks of the gold."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import replace

from docmind.config import DEPTH
from docmind.errors import DocMindError, UsageError
from docmind.evaluation.scoring.measures import Measure
from docmind.evaluation.scoring.spans import ranks
from docmind.protocols import Advance, Retriever
from docmind.types import Hit, Outcome, Question, Ranking, Run

_log = logging.getLogger(__name__)


def run(
    strategy: str,
    retriever: Retriever,
    questions: Sequence[Question],
    k: int = DEPTH,
    advance: Advance | None = None,
) -> Run:
    """Every question's outcome, `k` hits each, in the order of `questions`; `advance` is told of each.

    An exception of the retriever becomes the outcome's `error`, and the next question is asked: one bad question shall
    not hide the others. A DocMindError passes: it says what the user has to mend, and every question would meet it.
    """
    outcomes = []
    for question in questions:
        outcomes.append(_ask(strategy, retriever, question, k))
        if advance:
            advance(1)
    limit = retriever.depth
    return Run(strategy, tuple(outcomes), k if limit is None else min(k, limit))


def check_depth(strategy: str, limit: int | None, measures: Sequence[Measure]) -> None:
    """Raise UsageError where one of `measures` takes more hits than the list of `strategy` holds: `limit`, of its retriever
    (Retriever.depth). To be asked before any question is."""
    deepest = max(measures, key=lambda measure: measure.depth, default=None)
    if deepest and limit is not None and deepest.depth > limit:
        raise UsageError(
            f"{deepest.name} needs {deepest.depth} hits, and the list of {strategy} ends at its depth {limit}. Give its mode "
            f"that depth, as in rerank(depth={deepest.depth}) or mmr(fetch={deepest.depth}), or leave the metric out."
        )


def _ask(strategy: str, retriever: Retriever, question: Question, k: int) -> Outcome:
    query = question.query
    try:
        ranking = retriever.retrieve(query, k)
        _refuse_odd(ranking, retriever)
    except (DocMindError, MemoryError):
        raise
    except Exception as error:  # whatever a strategy raises is told as its own fault, never scored
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        _log.warning("%s, question %s (line %d): %s", strategy, question.id, question.line, reason)
        _log.debug("where it was raised", exc_info=True)
        return Outcome(question.id, query, ranking=None, error=reason)
    hits = distinct(ranking.hits)
    if repeated := len(ranking.hits) - len(hits):
        _log.warning(
            "%s, question %s (line %d): %d repeated hits removed before scoring",
            strategy,
            question.id,
            question.line,
            repeated,
        )
    return Outcome(question.id, query, replace(ranking, hits=hits), ranks(hits, question.gold))


def distinct(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The first hit of each chunk, ranked anew from 1: a chunk listed twice is found once."""
    first = {hit.chunk.id: hit for hit in reversed(hits)}
    kept = [hit for hit in hits if first[hit.chunk.id] is hit]
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(kept, start=1))


def _refuse_odd(ranking: Ranking, retriever: Retriever) -> None:
    """NaN and infinity compare with nothing, so a ranking by them is an accident. Context that `context` does not tell of
    would be graded, and be missing from ceilings and from the files of relevant chunks."""
    for hit in ranking.hits:
        if not math.isfinite(hit.score):
            raise ValueError(f"chunk {hit.chunk.id} at rank {hit.rank} has the score {hit.score}; scores are finite")
        if hit.context and not set(hit.context) <= set(retriever.context(hit.chunk)):
            raise ValueError(
                f"chunk {hit.chunk.id} at rank {hit.rank} has context that context(chunk) does not tell of"
            )
