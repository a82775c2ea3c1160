"""Reads JSON that somebody may have edited, and says where it is not what was expected. It knows no schema."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from docmind.evaluation.record.layout import checksum
from docmind.files import read_whole
from docmind.text import plural

DEEPEST = 50
"""How deep plain JSON may nest: far deeper than anything that is written, and far from the end of Python's stack."""

LONGEST = 4000
"""Digits of a whole number that Python reads, about; a longer one is taken for infinite."""

M = TypeVar("M", bound=BaseModel)

_EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "an object",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "an object",
    "string_type": "a text",
    "string_unicode": "a text without lone surrogates",
    "tuple_type": "a list",
}
"""By pydantic's names, where its own words are of Python."""


class FieldError(ValueError):
    """What is wrong in a file: sentences that begin with the field, without the file's name and the remedy."""


@dataclass(frozen=True, slots=True)
class Twice:
    """Stands for an object in which `key` stands twice: JSON leaves open what that means."""

    key: str


def load(path: Path) -> object:
    """The JSON in `path`, as `parsed` has it. Raises FieldError where there is none."""
    try:
        data = read_whole(path)
    except OSError as error:
        raise FieldError(f"cannot be read: {error.strerror}.") from error
    return parsed(data)


def parsed(data: bytes) -> object:
    """The JSON in `data`. NaN, infinity and Twice stand in it, so that the field can be told. Raises FieldError where there
    is none."""
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once, parse_int=_integer)
    except RecursionError as error:
        raise FieldError("is not whole JSON (nested too deeply).") from error
    except ValueError as error:
        raise FieldError(f"is not whole JSON ({error}).") from error


def _once(pairs: list[tuple[str, object]]) -> object:
    fields = dict(pairs)
    if len(fields) == len(pairs):
        return fields
    seen: set[str] = set()
    return Twice(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < LONGEST else math.inf


def whole(found: object, *schemas: str) -> dict[str, Any]:
    """`found`, an object that names one of `schemas`. Raises FieldError for anything else."""
    expected = " or ".join(schemas)
    if isinstance(found, Twice):
        raise FieldError(f"the key {found.key!r} stands twice; once was expected.")
    named = found.get("schema") if isinstance(found, dict) else None
    if not isinstance(found, dict) or named not in schemas:
        raise FieldError(f"its schema is {reprlib.repr(named)}, {expected} was expected.")
    return dict(found)


def check_seal(fields: Mapping[str, object], seal: object) -> None:
    """Raise FieldError where `seal`, what stands in the file as its checksum, is not that of `fields`, all the rest."""
    if seal != checksum(fields):
        what = "is missing" if seal is None else "is of other contents, so the file was changed after it was written"
        raise FieldError(f"checksum: {what}; the one of all the rest was expected.")


def validated(form: type[M], fields: object) -> M:
    """`fields` as a `form`. Raises FieldError, which names the first field that is not what was expected, and counts the
    others."""
    try:
        return form.model_validate(fields)
    except ValidationError as error:
        first, *others = error.errors(include_url=False, include_context=False)
        more = f" {plural(len(others), 'fault')} more." if others else ""
        raise FieldError(f"{_tell(first)}{more}") from error


def plain_fault(value: object, at: str, depth: int = 0) -> str | None:
    """What in `value` no JSON may hold, with its place below `at`; None where there is nothing."""
    if isinstance(value, Twice):
        return f"{at}: the key {value.key!r} stands twice; once was expected."
    if isinstance(value, float) and not math.isfinite(value):
        return f"{at}: {value} was found; expected: a finite number."
    if depth > DEEPEST:
        return f"{at}: is nested too deeply; expected: at most {DEEPEST} levels."
    return next(filter(None, (plain_fault(item, place, depth + 1) for place, item in _items(value, at))), None)


def _items(value: object, at: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        yield from ((f"{at}.{key}".lstrip("."), item) for key, item in value.items())
    elif isinstance(value, list):
        yield from ((f"{at}[{i}]", item) for i, item in enumerate(value))


def _tell(details: ErrorDetails) -> str:
    kind, value = details["type"], details["input"]
    *_, last = details["loc"] or ("",)
    at = place(details["loc"])
    if isinstance(value, Twice):
        return f"{at}: the key {value.key!r} stands twice; once was expected."
    if kind == "missing":
        return f"{at}: is missing."
    if kind == "extra_forbidden":
        return f"{at}: is unknown; no field {reprlib.repr(last)} was expected."
    if kind == "value_error":  # what a form says of fields that do not go together, the field first
        return f"{f'{at}.' if details['loc'] else ''}{details['msg'].removeprefix('Value error, ')}."
    expected = _EXPECTED.get(kind) or details["msg"].removeprefix("Input should be ").replace("Tuple", "the list")
    return f"{at}: {reprlib.repr(value)} was found; expected: {expected}."


def place(loc: tuple[int | str, ...]) -> str:
    """("a", "b", 0) as "a.b[0]"."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".") or "the whole"
