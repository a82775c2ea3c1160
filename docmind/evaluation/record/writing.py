"""The one writer of latest.json and baseline.json: the same record gives the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docmind.evaluation.record import layout
from docmind.evaluation.record.consistency import KEPT, WHOLE
from docmind.evaluation.record.reading import schema
from docmind.evaluation.record.types import Record, SliceResult, StrategyResult


def dumps(record: Record) -> str:
    """The text of the file, floats rounded to layout.DECIMALS; a baseline ends with a checksum of all the rest. Raises
    ValueError where the treatment holds NaN or infinity."""
    fields = {
        "schema": schema(record.kind),
        "fingerprint": record.fingerprint.model_dump(),
        "counts": record.counts.model_dump(),
        "types": record.types,
        "splits": record.splits,
        "leakage": record.leakage and record.leakage.model_dump(),
        **_rules(record),
        "strategies": {
            name: _strategy(strategy, KEPT if record.kind == "baseline" else WHOLE)
            for name, strategy in record.strategies.items()
        },
    }
    return layout.dumps(layout.sealed(fields) if record.kind == "baseline" else fields)


def _rules(record: Record) -> dict[str, Any]:
    """Of a file that has none, none: it is written as it was read."""
    return {"rules": record.rules and record.rules.model_dump()} if "rules" in record.model_fields_set else {}


def _strategy(strategy: StrategyResult, fields: tuple[str, ...]) -> dict[str, Any]:
    return {
        "chunker": strategy.chunker,
        "mode": strategy.mode,
        "metrics": strategy.metrics,
        "by_type": _slices(strategy.by_type),
        "by_split": _slices(strategy.by_split),
        "ceiling": strategy.ceiling,
        "questions": {
            name: {field: dumped[field] for field in (*fields, *(["steps"] if found.steps else []))}
            for name, found in strategy.questions.items()
            for dumped in [found.model_dump()]
        },
        **({"foreign": strategy.foreign.model_dump()} if strategy.foreign else {}),
    }


def _slices(slices: Mapping[str, SliceResult]) -> dict[str, Any]:
    return {name: {"n": one.n, **one.metrics} for name, one in slices.items()}
