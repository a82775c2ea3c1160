"""Tells where a question was lost: to the chunker, which bounds every mode, or at a stage of the mode. No metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from docmind.evaluation.scoring.score import answerable
from docmind.evaluation.scoring.spans import WON_WITHIN, covers, sources
from docmind.types import Chunk, Outcome, Question

LostAt = Literal["chunking", "candidates", "fusion", "rerank"]


def ceiling(chunks: Sequence[Chunk], questions: Sequence[Question]) -> float:
    """The share of the answerable questions that some single chunk of `chunks` can win, by any piece: a chunker's best
    possible hit@k. Raises IncompleteError where no question is answerable."""
    asked = answerable(questions)
    return sum(bool(winners(chunks, question)) for question in asked) / len(asked)


def lost_at(outcome: Outcome, question: Question, chunks: Sequence[Chunk]) -> LostAt | None:
    """Where a miss at 3 was lost, `chunks` being all that the strategy's chunker made.

    `chunking`: no chunk covers any piece. Else the role of the first step after which no covering chunk is left; all
    `candidates` stages together are the first step, since they run side by side, and `encode` stages are none. Where
    one is left to the end, but stands too low, the last step's role. None for what is no miss: a hit at 3, an
    unanswerable question, an error.
    """
    won = any(rank is not None and rank <= WON_WITHIN for rank in outcome.ranks)
    if won or not question.gold or outcome.ranking is None:
        return None
    winning = winners(chunks, question)
    if not winning:
        return "chunking"
    stages = outcome.ranking.stages
    retrieved = [chunk for stage in stages if stage.role == "candidates" for chunk in stage.candidates]
    steps: list[tuple[LostAt, Sequence[Chunk]]] = [("candidates", retrieved)]
    steps += [(stage.role, stage.candidates) for stage in stages if stage.role in ("fusion", "rerank")]
    for role, passed_on in steps:
        if not any(chunk.id in winning for chunk in passed_on):
            return role
    return steps[-1][0]


def winners(chunks: Sequence[Chunk], question: Question) -> frozenset[str]:
    """The ids of the chunks that cover a piece. Only those of the gold's documents are looked at."""
    documents = frozenset(doc_id for piece in question.gold for doc_id in sources(piece))
    return frozenset(
        chunk.id
        for chunk in chunks
        if chunk.doc_id in documents and any(covers(chunk.shown, piece) for piece in question.gold)
    )
