"""Makes the record of a run: each strategy's metrics and, by question, what was found. No figure is made here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from docmind.evaluation.record.rules import Rules
from docmind.evaluation.record.types import (
    Counts,
    Fingerprint,
    ForeignResult,
    HitResult,
    Instrument,
    QuestionResult,
    Record,
    SliceResult,
    StepResult,
    StrategyResult,
)
from docmind.evaluation.scoring.attribution import LostAt
from docmind.evaluation.scoring.leakage import Leakage
from docmind.evaluation.scoring.score import Scores, Slice
from docmind.types import Hit, Outcome, Question, Run, merge


@dataclass(frozen=True, slots=True)
class Graded:
    """The run of a strategy, a `chunker` and a `mode` by their labels, with all that was found out about it. `lost_at`
    maps ids of questions; `ceiling` is its chunker's. Of a `foreign` one there is no ceiling, and `steps` maps ids of
    questions."""

    run: Run
    chunker: str
    mode: str
    scores: Scores
    ceiling: float | None
    lost_at: Mapping[str, LostAt | None]
    foreign: ForeignResult | None = None
    steps: Mapping[str, tuple[StepResult, ...]] = field(default_factory=dict)


def results(
    graded: Sequence[Graded],
    questions: Sequence[Question],
    *,
    instrument: Instrument,
    treatment: Mapping[str, Any],
    leakage: Leakage | None = None,
    left_out: int = 0,
    rules: Rules | None = None,
) -> Record:
    """The record, whatever the order of `questions`: those, types and splits rise by name. Strategies keep the order of
    `graded`, metrics that of METRICS. `left_out` counts the questions of the answer key that a filter kept out of the
    run."""
    answerable = sum(bool(question.gold) for question in questions)
    return Record(
        fingerprint=Fingerprint(instrument=instrument, treatment=dict(treatment)),
        counts=Counts(
            answerable=answerable,
            unanswerable=len(questions) - answerable,
            left_out=left_out,
            errors=sum(len(strategy.scores.errors) for strategy in graded),
        ),
        types=_groups((question.type, question.id) for question in questions),
        splits=_groups((question.split, question.id) for question in questions),
        leakage=leakage,
        rules=rules,
        strategies={g.run.strategy: _strategy(g) for g in graded},
    )


def _groups(labelled: Iterable[tuple[str | None, str]]) -> dict[str, tuple[str, ...]]:
    """The ids of each label, both rising; what has no label is in no group."""
    ids: defaultdict[str, list[str]] = defaultdict(list)
    for label, question in sorted((label, question) for label, question in labelled if label is not None):
        ids[label].append(question)
    return {label: tuple(found) for label, found in ids.items()}


def _strategy(graded: Graded) -> StrategyResult:
    scores = graded.scores
    outcomes = sorted(graded.run.outcomes, key=lambda outcome: outcome.question_id)
    return StrategyResult(
        chunker=graded.chunker,
        mode=graded.mode,
        metrics=dict(scores.overall.metrics) if scores.overall else None,
        by_type=_slices(scores.by_type),
        by_split=_slices(scores.by_split),
        ceiling=graded.ceiling,
        questions={
            o.question_id: _outcome(o, graded.lost_at[o.question_id], graded.steps.get(o.question_id, ()))
            for o in outcomes
        },
        foreign=graded.foreign,
    )


def _slices(slices: Mapping[str, Slice]) -> dict[str, SliceResult]:
    return {name: SliceResult.of(part.n, part.metrics) for name, part in slices.items()}


def _outcome(outcome: Outcome, lost_at: LostAt | None, steps: tuple[StepResult, ...]) -> QuestionResult:
    hits = outcome.ranking.hits if outcome.ranking else ()
    return QuestionResult(
        ranks=outcome.ranks, lost_at=lost_at, hits=tuple(_hit(hit) for hit in hits), error=outcome.error, steps=steps
    )


def _hit(hit: Hit) -> HitResult:
    source = hit.chunk.doc_id
    spans = tuple((span.start, span.end) for span in merge(hit.shown) if span.doc_id == source)
    return HitResult(chunk=hit.chunk.id, source=source, spans=spans, score=float(hit.score))
