"""Measures how long a query takes, whole and by stage, apart from the scoring. Nothing is graded by it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Annotated

from pydantic import Field

from docmind.evaluation.scoring.form import Form
from docmind.protocols import Retriever
from docmind.types import Query, Question


class Percentiles(Form):
    """The median and the 95th percentile of some times, in milliseconds."""

    p50: Annotated[float, Field(ge=0)]
    p95: Annotated[float, Field(ge=0)]


class Latency(Form):
    """Milliseconds of wall clock over `n` queries that were asked one at a time: of the whole `query`, and by the name of
    a stage."""

    n: int
    query: Percentiles
    stages: dict[str, Percentiles]


def sample(questions: Sequence[Question], n: int) -> tuple[Question, ...]:
    """At most `n` of `questions`, evenly spaced from the first on: the same ones at every call."""
    size = min(n, len(questions))
    return tuple(questions[i * len(questions) // size] for i in range(size))


def latency(retriever: Retriever, queries: Sequence[Query], k: int) -> Latency:
    """How long `retriever` takes for `k` hits of each of `queries`, which are not empty.

    Stages of one name in one query are added up. What is slow once, such as the loading of a model, is part of the
    first query: ask something beforehand.
    """
    whole: list[float] = []
    by_stage: defaultdict[str, list[float]] = defaultdict(list)
    for query in queries:
        started = perf_counter()
        ranking = retriever.retrieve(query, k)
        whole.append(perf_counter() - started)
        spent: defaultdict[str, float] = defaultdict(float)
        for stage in ranking.stages:
            spent[stage.name] += stage.seconds
        for name, seconds in spent.items():
            by_stage[name].append(seconds)
    return summed(whole, by_stage)


def summed(whole: Sequence[float], by_stage: Mapping[str, Sequence[float]] | None = None) -> Latency:
    """What queries that took the seconds `whole` come to, and their stages by name."""
    stages = {name: _percentiles(seconds) for name, seconds in (by_stage or {}).items()}
    return Latency(n=len(whole), query=_percentiles(whole), stages=stages)


def _percentiles(seconds: Sequence[float]) -> Percentiles:
    rising = sorted(seconds)
    return Percentiles(p50=1000 * _percentile(rising, 0.50), p95=1000 * _percentile(rising, 0.95))


def _percentile(rising: Sequence[float], share: float) -> float:
    """Between two measurements it is interpolated linearly, as numpy does where nothing else is asked for."""
    place = share * (len(rising) - 1)
    below = math.floor(place)
    above = min(below + 1, len(rising) - 1)
    return rising[below] + (rising[above] - rising[below]) * (place - below)
