"""The object of `latest.json`: each strategy's metrics and, by question, what was found. No figure is made here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docmind.errors import StorageError
from docmind.evaluation.record.layout import checksum
from docmind.evaluation.scoring.attribution import LostAt
from docmind.evaluation.scoring.score import Scores, Slice
from docmind.types import Hit, Outcome, Question, Run, merge

SCHEMA = "docmind.results/1"


@dataclass(frozen=True, slots=True)
class Graded:
    """One strategy's run with all that was found out about it. `lost_at` maps ids of questions; `ceiling` is its
    chunker's."""

    run: Run
    scores: Scores
    ceiling: float
    lost_at: Mapping[str, LostAt | None]


def results(
    graded: Sequence[Graded],
    questions: Sequence[Question],
    *,
    instrument: Mapping[str, Any],
    treatment: Mapping[str, Any],
    leakage: Mapping[str, Any] | None = None,
    left_out: int = 0,
) -> dict[str, Any]:
    """The object to write, whatever the order of `graded` and `questions`: strategies, questions, types and splits rise
    by name; metrics keep the order of METRICS. A hit's `spans` are all that its reader sees in its source. `leakage` is of
    leakage.py; `left_out` counts the questions of the answer key that a filter kept out of the run."""
    answerable = sum(bool(question.gold) for question in questions)
    return {
        "schema": SCHEMA,
        "fingerprint": {"instrument": instrument, "treatment": treatment},
        "counts": {
            "answerable": answerable,
            "unanswerable": len(questions) - answerable,
            "left_out": left_out,
            "errors": sum(len(strategy.scores.errors) for strategy in graded),
        },
        "types": _types(questions),
        "leakage": leakage,
        "strategies": {g.run.strategy: _strategy(g) for g in sorted(graded, key=lambda g: g.run.strategy)},
    }


def _types(questions: Sequence[Question]) -> dict[str, list[str]]:
    """The ids of each type's questions, both rising."""
    known = sorted({question.type for question in questions if question.type is not None})
    return {kind: sorted(question.id for question in questions if question.type == kind) for kind in known}


def _strategy(graded: Graded) -> dict[str, Any]:
    scores = graded.scores
    outcomes = sorted(graded.run.outcomes, key=lambda outcome: outcome.question_id)
    return {
        "metrics": scores.overall and scores.overall.metrics,
        "by_type": _slices(scores.by_type),
        "by_split": _slices(scores.by_split),
        "ceiling": graded.ceiling,
        "questions": {o.question_id: _outcome(o, graded.lost_at[o.question_id]) for o in outcomes},
    }


def _slices(slices: Mapping[str, Slice]) -> dict[str, Any]:
    return {name: {"n": part.n, **part.metrics} for name, part in slices.items()}


def _outcome(outcome: Outcome, lost_at: LostAt | None) -> dict[str, Any]:
    return {
        "rank": min((rank for rank in outcome.ranks if rank is not None), default=None),
        "ranks": list(outcome.ranks),
        "lost_at": lost_at,
        "hits": [_hit(hit) for hit in outcome.ranking.hits] if outcome.ranking else [],
        "error": outcome.error,
    }


def _hit(hit: Hit) -> dict[str, Any]:
    source = hit.chunk.doc_id
    spans = [[span.start, span.end] for span in merge(hit.shown) if span.doc_id == source]
    return {"chunk": hit.chunk.id, "source": source, "spans": spans, "score": hit.score}


def read_results(path: Path) -> dict[str, Any]:
    """What `results` gave, from its file. Raises StorageError where that cannot be read or is something else."""
    return read_object(path, (SCHEMA,), "Make it anew: docmind eval.")


def read_object(path: Path, schemas: Sequence[str], remedy: str) -> dict[str, Any]:
    """The JSON object in `path` that names one of `schemas`. Raises StorageError, ending with `remedy`, for anything
    else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}. {remedy}") from error
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{path}: is not whole JSON ({error}). {remedy}") from error
    named = found.get("schema") if isinstance(found, dict) else None
    if named not in schemas:
        raise StorageError(f"{path}: its schema is {named!r}, {' or '.join(schemas)} was expected. {remedy}")
    return dict(found)


def sealed(run: Mapping[str, Any]) -> dict[str, Any]:
    """`run` with a checksum of itself, which `unbroken` holds it to."""
    return {**run, "checksum": checksum(run)}


def unbroken(path: Path, found: dict[str, Any], remedy: str) -> dict[str, Any]:
    """`found`, as `sealed` gave it. Raises StorageError, ending with `remedy`, where it was changed since."""
    rest = {key: value for key, value in found.items() if key != "checksum"}
    if found.get("checksum") != checksum(rest):
        raise StorageError(f"{path}: was changed after it was written: its checksum is of other contents. {remedy}")
    return found


def _refuse_constant(name: str) -> None:
    """Python reads NaN and Infinity; JSON knows neither."""
    raise ValueError(f"{name} is no JSON")
