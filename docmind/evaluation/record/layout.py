"""How results stand in a file: the same values give the same bytes, and a line can be read. It knows no schema."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from json.encoder import encode_basestring_ascii

DECIMALS = 6
"""Floats are rounded to this: between kinds of CPU they differ in the seventh digit."""

WIDTH = 180
"""A list or an object that takes fewer characters stands on one line: as a rule a hit."""


def dumps(value: object) -> str:
    """`value` as JSON that ends with a line break; keys in their own order, ASCII alone.

    Raises ValueError for NaN and infinity, which JSON does not know.
    """
    return _lay_out(value, "") + "\n"


def checksum(value: object) -> str:
    """The SHA-256, in hex, of `value` as it would be read back from its file, whatever the order of its keys."""
    plain = json.loads(dumps(value))
    return hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def sealed(fields: Mapping[str, object]) -> dict[str, object]:
    """`fields` with a checksum of themselves at their end, which whoever reads them holds them to."""
    return {**fields, "checksum": checksum(fields)}


def _lay_out(value: object, indent: str) -> str:
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not JSON compliant")
        return float.__repr__(round(value, DECIMALS) + 0.0)  # + 0.0: no negative zero
    if isinstance(value, Mapping):
        items = [f"{encode_basestring_ascii(key)}: {_lay_out(item, indent + ' ')}" for key, item in value.items()]
        return _enclose("{", items, "}", indent)
    if isinstance(value, list | tuple):
        if all(type(item) is int for item in value):  # a span: most of what there is
            return _enclose("[", list(map(str, value)), "]", indent)
        return _enclose("[", [_lay_out(item, indent + " ") for item in value], "]", indent)
    return json.dumps(value)


def _enclose(opening: str, items: list[str], closing: str, indent: str) -> str:
    line = ", ".join(items)
    if len(line) < WIDTH and "\n" not in line:
        return f"{opening}{line}{closing}"
    inner = f",\n{indent} ".join(items)
    return f"{opening}\n{indent} {inner}\n{indent}{closing}"
