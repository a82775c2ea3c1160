"""How long queries took, as it stands in timings.json, and in the committed benchmark. Nothing is measured here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import ConfigDict, Field

from docmind.errors import RecordError
from docmind.evaluation.record import layout
from docmind.evaluation.record.checking import FieldError, load, validated, whole
from docmind.evaluation.scoring.form import Form
from docmind.evaluation.scoring.latency import Latency

SCHEMA = "docmind.timings/1"
BENCH = "docmind.bench/1"

F = TypeVar("F", bound=Form)


class Machine(Form):
    """On what the time was taken."""

    system: str
    processor: str
    cpus: int | None
    python: str


class Timings(Form):
    """`milliseconds` by strategy."""

    machine: Machine
    milliseconds: dict[str, Latency]


class _Bench(Form):
    """What is read of bench.json, which holds more."""

    model_config = ConfigDict(extra="ignore")

    corpora: dict[str, _Corpus]


class _Corpus(Form):
    model_config = ConfigDict(extra="ignore")

    query_p50_ms: dict[str, float] = Field(default_factory=dict)


def dumps_timings(timings: Timings) -> str:
    """The text of the file."""
    return layout.dumps({"schema": SCHEMA, **timings.model_dump()})


def read_timings(path: Path) -> Timings:
    """What `dumps` wrote. Raises RecordError, which names the field, for anything else."""
    return _read(path, SCHEMA, Timings, "Make it anew: docmind eval.")


def read_bench(path: Path, corpus: str) -> Mapping[str, float]:
    """By strategy the median of the benchmark's queries of `corpus`, in milliseconds; none where it has no such corpus.
    Raises RecordError, which names the field, where it is no benchmark."""
    corpora = _read(path, BENCH, _Bench, "Restore the committed file.").corpora
    return corpora[corpus].query_p50_ms if corpus in corpora else {}


def _read(path: Path, schema: str, form: type[F], remedy: str) -> F:
    try:
        fields = whole(load(path), schema)
        del fields["schema"]
        return validated(form, fields)
    except FieldError as fault:
        raise RecordError(f"{path}: {fault} {remedy}") from fault
