"""The one reader of latest.json and baseline.json: a record that is whole, or an error that names the field."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from docmind.errors import BaselineError, RecordError
from docmind.evaluation.record.checking import FieldError, check_seal, load, parsed, validated, whole
from docmind.evaluation.record.consistency import faults
from docmind.evaluation.record.types import Kind, Record

VERSION = 2
"""Of the form of both files."""

KINDS: tuple[Kind, ...] = get_args(Kind)

_ERRORS: dict[Kind, tuple[type[RecordError], str]] = {
    "results": (RecordError, "Make it anew: docmind eval."),
    "baseline": (
        BaselineError,
        "Restore the committed file, or make it anew: docmind eval --save-baseline.",
    ),
}


def read_record(path: Path, kinds: tuple[Kind, ...] = KINDS) -> Record:
    """The record in `path`, of one of `kinds`. Raises RecordError, and of a baseline BaselineError, where the file cannot
    be read, is cut, edited, of another version or something else; it ends with the command that makes a new one."""
    kind = kinds[0]
    try:
        fields = load(path)
        kind = _kind(fields, kinds)
        return _record(fields, kind, kinds)
    except FieldError as fault:
        error, remedy = _ERRORS[kind]
        raise error(f"{path}: {fault} {remedy}") from fault


def record_in(data: bytes) -> Record | None:
    """The record in the bytes of a file; None where they are whole JSON that was never meant for one. Raises FieldError, which
    names neither the file nor a remedy: there is none for what was committed once."""
    fields = parsed(data)
    named = fields.get("schema") if isinstance(fields, dict) else None
    if not isinstance(named, str) or not named.startswith(tuple(f"docmind.{kind}/" for kind in KINDS)):
        return None
    return _record(fields, _kind(fields, KINDS), KINDS)


def schema(kind: Kind) -> str:
    """As it stands in the file."""
    return f"docmind.{kind}/{VERSION}"


def earlier_strategies(path: Path) -> tuple[str, ...]:
    """The names of the strategies in a latest.json of any version; none where it cannot be read."""
    try:
        fields = load(path)
    except FieldError:
        return ()
    strategies = fields.get("strategies") if isinstance(fields, dict) else None
    return tuple(strategies) if isinstance(strategies, dict) else ()


def _kind(fields: object, kinds: tuple[Kind, ...]) -> Kind:
    """What the file is meant to be, of whatever version: whose words an error has."""
    named = fields.get("schema") if isinstance(fields, dict) else None
    return next((kind for kind in kinds if isinstance(named, str) and named.startswith(f"docmind.{kind}/")), kinds[0])


def _record(found: object, kind: Kind, kinds: tuple[Kind, ...]) -> Record:
    named = found.get("schema") if isinstance(found, dict) else None
    if named in [f"docmind.{kind}/{earlier}" for earlier in range(1, VERSION)]:
        raise FieldError(f"is a {named}, of an earlier version of DocMind; {schema(kind)} was expected.")
    fields = whole(found, *map(schema, kinds))
    if "kind" in fields:
        raise FieldError("kind: is unknown; no such field was expected.")
    seal = fields.pop("checksum", None) if kind == "baseline" else None
    record = validated(Record, {"kind": kind, **{name: value for name, value in fields.items() if name != "schema"}})
    if told := next(faults(record), None):
        raise FieldError(told)
    if kind == "baseline":
        check_seal(fields, seal)
    return record
