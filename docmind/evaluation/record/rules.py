"""What a run was held to: the thresholds and the strategies' file as they stood in the tree that it ran in. It reads no file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docmind.evaluation.record.checking import plain_fault
from docmind.evaluation.scoring.form import Form, Row


class StrategiesFile(Form):
    """`matrix` and `gate` by name, `gate` None where all that are scored can fail; `names` maps the names that the file gives
    to what they stand for, as it is written there."""

    matrix: Row[str]
    gate: Row[str] | None
    names: dict[str, Any]


class Rules(Form):
    """`thresholds` by key, without those that say nothing; None where there were none. Plain JSON, compared and shown and
    never read."""

    thresholds: dict[str, Any] | None
    strategies: StrategiesFile


def faults(rules: Rules, at: str) -> Iterator[str]:
    """What in them no JSON may hold."""
    for place, value in (("thresholds", rules.thresholds), ("strategies.names", rules.strategies.names)):
        if fault := plain_fault(value, f"{at}.{place}"):
            yield fault
