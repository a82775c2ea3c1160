"""What a strategy was worth over time: the versions of a record, one after another. It judges nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from docmind.evaluation.gate.compare import Change, compare
from docmind.evaluation.record.types import Record

METRICS = ("hit@1", "hit@3", "mrr@5")
"""What is told of each version."""

INSTRUMENT = ("corpus", "key", "metrics")
"""The parts of a comparison's differences that make two figures of one strategy figures of different things."""


@dataclass(frozen=True, slots=True)
class Version:
    """A record as it stood once. `when` is a day, as 2026-12-01; `name` a short commit or a file, and `told` what the commit's
    author said of it. `record` is None where it cannot be read: `fault` says why."""

    when: str
    name: str
    told: str
    record: Record | None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """A version in figures: `figures` are means over all of its `questions` that are answerable, by METRICS.

    `change` holds it against the last version before it that has figures, over the questions that are the same in both; None
    where there is none, or nothing to compare. `differs` are sentences on what else was measured with than there, so that
    the figures of both are not of the same thing. Where there are no figures, `fault` says why.
    """

    when: str
    name: str
    told: str
    figures: Mapping[str, float | None]
    questions: int
    change: Change | None = None
    differs: tuple[str, ...] = ()
    fault: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """What differs, each in a word or two."""
        return tuple(told.partition(":")[0] for told in self.differs)


def points(versions: Iterable[Version], strategy: str) -> Iterator[Point]:
    """`strategy` in each of `versions`, which are rising in time and read one at a time."""
    before: Record | None = None
    for version in versions:
        found = _point(version, strategy)
        if version.record is None or found.fault:
            yield found
            continue
        record = _alone(version.record, strategy)
        yield _against(found, before, record) if before else found
        before = record


def _point(version: Version, strategy: str) -> Point:
    """It alone."""
    record, fault = version.record, version.fault
    figures: dict[str, float | None] = {}
    if record is not None:
        of_it = record.strategies.get(strategy)
        if of_it is None:
            fault = f"{strategy} was not scored; there are: {', '.join(record.strategies)}"
        elif of_it.metrics is None:
            fault = f"{len(of_it.errors)} of its questions ended in an error"
        else:
            figures = {name: of_it.metric(name) for name in METRICS}
    questions = record.counts.answerable if record else 0
    return Point(version.when, version.name, version.told, figures, questions, fault=fault)


def _alone(record: Record, strategy: str) -> Record:
    """Without the other strategies, of which nothing is told."""
    return record.model_copy(update={"strategies": {strategy: record.strategies[strategy]}})


def _against(point: Point, before: Record, record: Record) -> Point:
    found = compare(before, record)
    differs = [
        told for told in found.differences if told.partition(":")[0] in INSTRUMENT and not told.endswith(": same")
    ]
    if before.instrument.gold_rule != record.instrument.gold_rule:
        differs.append("gold rule: another decides what counts as found, so nothing is compared")
    return replace(point, change=next(iter(found.changes), None), differs=tuple(differs))
