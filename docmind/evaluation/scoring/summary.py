"""Counts verdicts and takes means over questions, all and by group: the summary of a run of answers. It judges none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Protocol, Self, TypeVar

from pydantic import Field, model_validator

from docmind.evaluation.scoring.answers import VERDICTS
from docmind.evaluation.scoring.answerstats import auroc
from docmind.evaluation.scoring.form import Form, Share
from docmind.types import Question, Verdict

T = TypeVar("T")
Count = Annotated[int, Field(ge=0)]


class Mean(Form):
    """The mean of an answer metric over the `scored` answers for which it is defined; None where that is none."""

    value: Share | None
    scored: Count


class Counts(Form):
    """Of `n` questions: how many are `judged`, how often each of the verdicts was given and its rate, over `judged`, and
    the mean of each answer metric by name."""

    n: Count
    judged: Count
    verdicts: dict[Verdict, Count]
    rates: dict[Verdict, Share] | None
    metrics: dict[str, Mean]

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if set(self.verdicts) != set(VERDICTS):
            raise ValueError(f"verdicts: a count for each of {', '.join(VERDICTS)} was expected")
        if not self.n >= self.judged == sum(self.verdicts.values()):
            raise ValueError("n >= judged, the sum of all verdicts, was expected")
        if (self.rates is None) != (self.judged == 0) or (self.rates and set(self.rates) != set(VERDICTS)):
            raise ValueError("rates: one for each verdict, or null where none is judged, was expected")
        return self


class Answerable(Form):
    """The questions that have gold."""

    all: Counts
    by_type: dict[str, Counts]
    by_split: dict[str, Counts]

    def groups(self) -> Iterator[tuple[str, Counts]]:
        """Each group by name. A type may have the name of a split, and yet be told apart."""
        yield from _named(self.all, {"type": self.by_type, "split": self.by_split})


class Unanswerable(Form):
    """The others: `near` where the topic is in the documents and the fact is not, `far` where neither is."""

    all: Counts
    by_distance: dict[str, Counts]
    by_split: dict[str, Counts]

    def groups(self) -> Iterator[tuple[str, Counts]]:
        """As of Answerable."""
        yield from _named(self.all, {"distance": self.by_distance, "split": self.by_split})


class Area(Form):
    """An area under the ROC curve with its 95 % interval, of `n` positives and `m` negatives."""

    value: Share
    low: Share
    high: Share
    n: Count
    m: Count


class Areas(Form):
    """Against all unanswerable questions, near and far ones; None where a side has no confidence."""

    all: Area | None
    near: Area | None
    far: Area | None


class Confidence(Form):
    """How well the answerer's own confidence tells answerable from unanswerable questions."""

    all: Areas
    by_split: dict[str, Areas]

    def groups(self) -> Iterator[tuple[str, Areas]]:
        """As of Answerable."""
        yield from _named(self.all, {"split": self.by_split})


class Summary(Form):
    """Verdicts, means and confidence of a run of answers. How many answerable and unanswerable questions there are is the
    `n` of their `all`."""

    answerable: Answerable
    unanswerable: Unanswerable
    confidence: Confidence


class Counted(Protocol):
    """What is counted of an answer. `verdict` is None where it ended in an error; `metrics` are by name."""

    @property
    def id(self) -> str: ...

    @property
    def verdict(self) -> Verdict | None: ...

    @property
    def confidence(self) -> float | None: ...

    @property
    def metrics(self) -> Mapping[str, float | None]: ...


def summary(rows: Sequence[Counted], questions: Sequence[Question], metrics: Iterable[str]) -> Summary:
    """The summary of `rows`, one a question of `questions`, with the means of `metrics`."""
    found = {row.id: row for row in rows}
    names = tuple(metrics)
    answerable = [question for question in questions if question.gold]
    unanswerable = [question for question in questions if not question.gold]
    splits = sorted({question.split for question in questions if question.split is not None})

    def counts(group: Sequence[Question]) -> Counts:
        return _counts([found[question.id] for question in group], names)

    def by(label: str, group: Sequence[Question]) -> dict[str, Counts]:
        labels = sorted({name for question in group if (name := getattr(question, label)) is not None})
        return {name: counts([q for q in group if getattr(q, label) == name]) for name in labels}

    def of(split: str, group: Sequence[Question]) -> list[Question]:
        return [question for question in group if question.split == split]

    return Summary(
        answerable=Answerable(all=counts(answerable), by_type=by("type", answerable), by_split=by("split", answerable)),
        unanswerable=Unanswerable(
            all=counts(unanswerable),
            by_distance={name: counts(group) for name, group in _by_distance(unanswerable).items()},
            by_split=by("split", unanswerable),
        ),
        confidence=Confidence(
            all=_areas(answerable, unanswerable, found),
            by_split={split: _areas(of(split, answerable), of(split, unanswerable), found) for split in splits},
        ),
    )


def _counts(rows: Sequence[Counted], metrics: Sequence[str]) -> Counts:
    given = [row.verdict for row in rows if row.verdict]
    verdicts: dict[Verdict, int] = {verdict: given.count(verdict) for verdict in VERDICTS}
    return Counts(
        n=len(rows),
        judged=len(given),
        verdicts=verdicts,
        rates={verdict: count / len(given) for verdict, count in verdicts.items()} if given else None,
        metrics={name: _mean([row.metrics.get(name) for row in rows]) for name in metrics},
    )


def _mean(values: Iterable[float | None]) -> Mean:
    """Sums are exact before they are rounded (fsum), so that the order of the questions changes no bit."""
    known = [value for value in values if value is not None]
    return Mean(value=math.fsum(known) / len(known) if known else None, scored=len(known))


def _by_distance(unanswerable: Sequence[Question]) -> dict[str, list[Question]]:
    return {
        "near": [question for question in unanswerable if question.near_miss],
        "far": [question for question in unanswerable if not question.near_miss],
    }


def _areas(answerable: Sequence[Question], unanswerable: Sequence[Question], rows: Mapping[str, Counted]) -> Areas:
    def sure(questions: Iterable[Question]) -> list[float]:
        return [value for question in questions if (value := rows[question.id].confidence) is not None]

    def area(group: Sequence[Question]) -> Area | None:
        found = auroc(sure(answerable), sure(group))
        return Area.model_validate(found) if found else None

    distances = _by_distance(unanswerable)
    return Areas(all=area(unanswerable), near=area(distances["near"]), far=area(distances["far"]))


def _named(whole: T, parts: Mapping[str, Mapping[str, T]]) -> Iterator[tuple[str, T]]:
    yield "all", whole
    for label, groups in parts.items():
        for name, found in groups.items():
            yield f"{label} {name}", found
