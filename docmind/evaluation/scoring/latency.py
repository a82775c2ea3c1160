"""Measures how long a query takes, whole and by stage, apart from the scoring. Nothing is graded by it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from docmind.protocols import Retriever
from docmind.types import Query, Question


def sample(questions: Sequence[Question], n: int) -> tuple[Question, ...]:
    """At most `n` of `questions`, evenly spaced from the first on: the same ones at every call."""
    size = min(n, len(questions))
    return tuple(questions[i * len(questions) // size] for i in range(size))


def latency(retriever: Retriever, queries: Sequence[Query], k: int) -> Mapping[str, Any]:
    """Milliseconds of wall clock, queries asked one at a time: `n`, `query` and, by name, `stages`, each p50 and p95.

    `queries` is not empty. Stages of one name in one query are added up. What is slow once, such as the loading of a
    model, is part of the first query: ask something beforehand.
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
    return {
        "n": len(whole),
        "query": _percentiles(whole),
        "stages": {name: _percentiles(seconds) for name, seconds in by_stage.items()},
    }


def _percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Between two measurements the percentile is interpolated linearly, numpy's default."""
    p50, p95 = np.percentile(seconds, [50, 95]) * 1000
    return {"p50": float(p50), "p95": float(p95)}
