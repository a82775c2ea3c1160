"""How far the words of questions give their answers away. A key whose questions repeat the pages flatters lexical search.

Two meters: the share of a question's content words that stand in its evidence, and how much better BM25 finds the
evidence than vectors do. Neither is a score of a strategy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from docmind.evaluation.scoring.form import Form, Share
from docmind.evaluation.scoring.spans import best, is_hit
from docmind.text import stems
from docmind.types import Question, Run


class Leakage(Form):
    """By type of question, and for `all`: the mean share of shared words, None where no question has evidence in words;
    and by chunker the difference in Hit@3 of BM25 and vectors."""

    shared_words: dict[str, Share | None]
    bm25_minus_vector: dict[str, dict[str, Annotated[float, Field(ge=-1, le=1)]]]


def shared_words(question: Question, texts: Mapping[str, str]) -> float | None:
    """The share, 0 to 1, of the question's distinct content words (stemmed) that stand in its evidence, alternatives
    included; None where it has no evidence in words."""
    evidence = [texts[span.doc_id][span.start : span.end] for piece in question.gold for span in piece.spans]
    asked = set(stems(question.text))
    if not evidence or not asked:
        return None
    return len(asked & {stem for text in evidence for stem in stems(text)}) / len(asked)


def leakage(questions: Sequence[Question], texts: Mapping[str, str], pairs: Mapping[str, tuple[Run, Run]]) -> Leakage:
    """Both meters. `pairs` maps each chunker to its runs with BM25 and with vectors; one with an error has no
    difference."""
    groups = {"all": [q for q in questions if q.gold]}
    for kind in sorted({q.type for q in groups["all"] if q.type is not None}):
        groups[kind] = [q for q in groups["all"] if q.type == kind]
    return Leakage(
        shared_words={name: _mean([shared_words(q, texts) for q in group]) for name, group in groups.items()},
        bm25_minus_vector={
            chunker: {name: _gap(bm25, vector, group) for name, group in groups.items()}
            for chunker, (bm25, vector) in sorted(pairs.items())
            if not any(outcome.error for run in (bm25, vector) for outcome in run.outcomes)
        },
    )


def _mean(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else None


def _gap(bm25: Run, vector: Run, questions: Sequence[Question]) -> float:
    wanted = {question.id for question in questions}

    def hits(run: Run) -> int:
        return sum(is_hit(best(outcome.ranks)) for outcome in run.outcomes if outcome.question_id in wanted)

    return (hits(bm25) - hits(vector)) / len(wanted)
