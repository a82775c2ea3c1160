"""Turns a run into metrics: means over the answerable questions, overall, by type, by split. Nothing is retrieved."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from docmind.errors import IncompleteError, UsageError
from docmind.evaluation.scoring.measures import Measure
from docmind.evaluation.scoring.metrics.judged import Judged
from docmind.types import Outcome, Question, Run

Values = Mapping[str, float | None]
"""A value in [0, 1] a measure; None where it is not defined for one of the questions."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The means over `n` answerable questions, n > 0."""

    n: int
    metrics: Values


@dataclass(frozen=True, slots=True)
class Scores:
    """A strategy's metrics. With an error there are none: `overall` is None, the slices are empty.

    `by_type` and `by_split` hold the questions that name a type or split; keys rise. `errors` maps the id of each
    errored question, answerable or not, to what was raised.
    """

    overall: Slice | None
    by_type: Mapping[str, Slice]
    by_split: Mapping[str, Slice]
    errors: Mapping[str, str]


def answerable(questions: Sequence[Question]) -> tuple[Question, ...]:
    """The questions that have gold, the denominator of every metric. Raises IncompleteError where there are none."""
    found = tuple(question for question in questions if question.gold)
    if not found:
        raise IncompleteError(
            f"none of {len(questions)} questions has gold, so there is nothing to score. "
            "Add answerable questions, or widen the filter."
        )
    return found


def score(
    run: Run, questions: Sequence[Question], measures: Sequence[Measure], count_tokens: Callable[[str], int]
) -> Scores:
    """The values of `measures` for `run` over `questions`, whatever the order of either.

    `count_tokens` is asked once a hit; give a cached one, since strategies share their chunks. Raises IncompleteError
    where a question has no outcome or none is answerable, and UsageError where a measure takes more hits than were asked
    for: what stands below them is not known to be no hit.
    """
    _check_depth(run, measures)
    outcomes = {outcome.question_id: outcome for outcome in run.outcomes}
    if missing := [question.id for question in questions if question.id not in outcomes]:
        raise IncompleteError(
            f"{run.strategy} has no outcome for {len(missing)} of {len(questions)} questions, "
            f"{missing[0]!r} first. Run it on all of them."
        )
    scored = answerable(questions)
    errors = {q.id: error for q in questions if (error := outcomes[q.id].error) is not None}
    if errors:
        return Scores(None, {}, {}, errors)
    judged = [_judge(outcomes[question.id], question, count_tokens) for question in scored]
    values = [{measure.name: measure.of(one) for measure in measures} for one in judged]
    return Scores(
        overall=_mean(values),
        by_type=_slices([question.type for question in scored], values),
        by_split=_slices([question.split for question in scored], values),
        errors={},
    )


def with_undefined(scores: Scores, measures: Sequence[Measure]) -> Scores:
    """`scores` with None, in their place, for those of `measures` that were not computed: a list that ends at five hits
    has no hit@10."""

    def whole(part: Slice) -> Slice:
        return Slice(part.n, {measure.name: part.metrics.get(measure.name) for measure in measures})

    return Scores(
        overall=scores.overall and whole(scores.overall),
        by_type={name: whole(part) for name, part in scores.by_type.items()},
        by_split={name: whole(part) for name, part in scores.by_split.items()},
        errors=scores.errors,
    )


def _check_depth(run: Run, measures: Sequence[Measure]) -> None:
    for measure in measures:
        if measure.depth > run.depth:
            raise UsageError(
                f"{measure.name} needs {measure.depth} hits, and the run of {run.strategy} holds {run.depth} a question. Ask "
                "for as many, or leave the metric out."
            )


def _judge(outcome: Outcome, question: Question, count_tokens: Callable[[str], int]) -> Judged:
    hits = outcome.ranking.hits if outcome.ranking else ()
    return Judged(
        gold=question.gold,
        ranks=outcome.ranks,
        shown=tuple(hit.shown for hit in hits),
        tokens=tuple(count_tokens(hit.text) for hit in hits),
    )


def _slices(labels: Sequence[str | None], values: Sequence[Values]) -> Mapping[str, Slice]:
    return {
        label: _mean([value for other, value in zip(labels, values, strict=True) if other == label])
        for label in sorted({label for label in labels if label is not None})
    }


def _mean(values: Sequence[Values]) -> Slice:
    """Sums are exact before they are rounded (fsum), so that the order of the questions changes no bit."""
    means: dict[str, float | None] = {}
    for name in values[0]:
        column = [value[name] for value in values]
        known = [value for value in column if value is not None]
        means[name] = math.fsum(known) / len(known) if len(known) == len(column) else None
    return Slice(len(values), means)
