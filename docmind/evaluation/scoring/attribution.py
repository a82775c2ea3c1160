"""Tells where a question was lost: to the chunker, which bounds every mode, or at a stage of the mode. No metrics.

A chunk is judged by what a hit of it would show, context included, as its hits are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from docmind.evaluation.scoring.score import answerable
from docmind.evaluation.scoring.spans import WON_WITHIN, covers, sources
from docmind.protocols import Retriever
from docmind.types import Chunk, Hit, Outcome, Question, Span

LostAt = Literal["chunking", "candidates", "fusion", "rerank"]

Shown = Callable[[Chunk], Sequence[Span]]
"""What a reader would see of a chunk, were it a hit."""

Winning = Mapping[str, frozenset[str]]
"""By question: the ids of the chunks of which a hit would cover a piece."""


def shown_by(retriever: Retriever) -> Shown:
    """What a hit of `retriever` shows."""
    return lambda chunk: Hit(chunk, 0.0, 1, retriever.context(chunk)).shown


class Winners:
    """Finds which chunks can win `questions`, once for all strategies that have the same chunks and show the same of them.

    Their ceiling, the attribution of their misses and their TREC files draw on it, so that these agree.
    """

    def __init__(self, questions: Sequence[Question]) -> None:
        self._questions = questions
        self._known: dict[tuple[tuple[str, tuple[Span, ...]], ...], Winning] = {}

    def among(self, chunks: Sequence[Chunk], shown: Shown) -> Winning:
        """The winners among `chunks`, for every question; none for an unanswerable one."""
        visible = tuple((chunk.id, tuple(shown(chunk))) for chunk in chunks)
        if visible not in self._known:
            self._known[visible] = self._find(visible)
        return self._known[visible]

    def _find(self, visible: Sequence[tuple[str, tuple[Span, ...]]]) -> Winning:
        showing: defaultdict[str, list[tuple[str, tuple[Span, ...]]]] = defaultdict(list)
        for chunk_id, spans in visible:
            for doc_id in {span.doc_id for span in spans}:
                showing[doc_id].append((chunk_id, spans))
        return {
            question.id: frozenset(
                chunk_id
                for piece in question.gold
                for doc_id in sources(piece)
                for chunk_id, spans in showing.get(doc_id, ())
                if covers(spans, piece)
            )
            for question in self._questions
        }


def ceiling(winning: Winning, questions: Sequence[Question]) -> float:
    """The share of the answerable questions that some single chunk can win, by any piece: the best possible hit@k of every
    mode over these chunks. Raises IncompleteError where no question is answerable."""
    asked = answerable(questions)
    return sum(bool(winning[question.id]) for question in asked) / len(asked)


def lost_at(outcome: Outcome, question: Question, winning: Winning) -> LostAt | None:
    """Where a miss at 3 was lost, `winning` being of all the chunks that the strategy's chunker made.

    `chunking`: no chunk covers any piece. Else the role of the first step after which no covering chunk is left; all
    `candidates` stages together are the first step, since they run side by side, and `encode` stages are none. Where
    one is left to the end, but stands too low, the last step's role. None for what is no miss: a hit at 3, an
    unanswerable question, an error.
    """
    won = any(rank is not None and rank <= WON_WITHIN for rank in outcome.ranks)
    if won or not question.gold or outcome.ranking is None:
        return None
    if not winning[question.id]:
        return "chunking"
    stages = outcome.ranking.stages
    retrieved = [chunk for stage in stages if stage.role == "candidates" for chunk in stage.candidates]
    steps: list[tuple[LostAt, Sequence[Chunk]]] = [("candidates", retrieved)]
    steps += [(stage.role, stage.candidates) for stage in stages if stage.role in ("fusion", "rerank")]
    for role, passed_on in steps:
        if not any(chunk.id in winning[question.id] for chunk in passed_on):
            return role
    return steps[-1][0]
