"""What can be set of a part: parameters, declared as fields of its class, and a part with all of them settled.

    size: int = parameter(500, "tokens of a chunk, prefix counted", low=16, high=500)

A class whose parameters depend on each other, or on how many inner parts it has, checks them in a static method
`check(values, inner)`, which gives the values to use and raises UsageError.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from typing import Any, TypeVar

from docmind.errors import UsageError
from docmind.registry import unknown

T = TypeVar("T")

Value = int | float | str | bool | tuple[float, ...]
"""What a parameter can be. Its kind is told by the annotation of the field, and stands in KINDS."""

_INT = re.compile(r"0|-?[1-9][0-9]{0,17}")
DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,30})?")

KINDS = {
    "int": "a whole number, such as 20",
    "float": "a decimal, such as 0.5",
    "str": "a word",
    "bool": "true or false",
    "tuple[float, ...]": "decimals with colons between them, such as 2:1",
}
"""By annotation, what is expected. Digits are 0 to 9: no sign "+", no leading zero, no exponent, no nan, no inf."""

_KEY = "parameter"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as its class declares it. `low` and `high` bound it, or each of a list, ends included; None where there
    is no bound. `choices` are all that a word may be."""

    name: str
    kind: str
    default: Value
    meaning: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """What a value has to be, in words."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        return f"{KINDS[self.kind]}{f', {self.range}' if self.range else ''}"

    @property
    def range(self) -> str:
        """The bounds in words, "" where there are none."""
        if self.choices:
            return ", ".join(self.choices)
        bounds = [f"{word} {written(end)}" for word, end in (("from", self.low), ("to", self.high)) if end is not None]
        return " ".join(bounds)

    def read(self, text: str) -> Value | None:
        """The value that `text` writes; None where it writes none, or one out of bounds."""
        found: Value | None = None
        if self.kind == "int" and _INT.fullmatch(text):
            found = int(text)
        elif self.kind == "float" and DECIMAL.fullmatch(text):
            found = float(text) + 0.0  # -0 is 0
        elif self.kind == "str" and text in self.choices:
            found = text
        elif self.kind == "bool" and text in ("true", "false"):
            found = text == "true"
        elif self.kind == "tuple[float, ...]" and all(map(DECIMAL.fullmatch, text.split(":"))):
            found = tuple(float(each) + 0.0 for each in text.split(":"))
        return found if found is not None and self._within(found) else None

    def _within(self, value: Value) -> bool:
        numbers = value if isinstance(value, tuple) else () if isinstance(value, str) else (value,)
        return all((self.low is None or n >= self.low) and (self.high is None or n <= self.high) for n in numbers)


def parameter(
    default: T, meaning: str, *, low: float | None = None, high: float | None = None, choices: tuple[str, ...] = ()
) -> T:
    """A field that is a parameter; as in Parameter."""
    made: T = field(default=default, metadata={_KEY: (meaning, low, high, choices)})
    return made


def declared(part: Any) -> tuple[Parameter, ...]:
    """The parameters of a class, in the order of its fields; none of what is no dataclass. Raises TypeError for an
    annotation that is none of KINDS."""
    if not is_dataclass(part):
        return ()
    found = []
    for each in fields(part):
        if _KEY in each.metadata:
            kind = each.type.__name__ if isinstance(each.type, type) else str(each.type)
            if kind not in KINDS:
                raise TypeError(f"parameter {each.name!r} of {part!r} is of kind {kind}; there are {', '.join(KINDS)}")
            default: Any = each.default
            if kind == "float":
                default = float(default)
            found.append(Parameter(each.name, kind, default, *each.metadata[_KEY]))
    return tuple(found)


def checked(part: Any, raw: Mapping[str, str], owner: str, inner: int = 0) -> dict[str, Value]:
    """Every parameter of the class `part` by name, as declared: what `raw` writes, else its default.

    `owner` is what the part is called in messages, `inner` counts its inner parts. Raises UsageError for an unknown name, a
    value of another kind or out of range, and what the class's own `check` refuses.
    """
    known = {each.name: each for each in declared(part)}
    for name in raw:
        if name not in known:
            told = (
                unknown(f"parameter of {owner}", name, known)
                if known
                else f"{owner} has no parameter {name!r}, nor any."
            )
            raise UsageError(told)
    values = {}
    for name, each in known.items():
        value = each.read(raw[name]) if name in raw else each.default
        if value is None:
            default = written(each.default)
            remedy = (
                f"Write {name}={default}, which is the default, or another" if default else "Mend it, or leave it out"
            )
            raise UsageError(f"{owner}: {name}={_brief(raw[name])} was given; expected: {each.expected}. {remedy}.")
        values[name] = value
    check = getattr(part, "check", None)
    return dict(check(values, inner)) if check else values


def written(value: Value) -> str:
    """A value as a spec writes it: `read` of it gives the value again."""
    if isinstance(value, tuple):
        return ":".join(map(written, value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        plain = format(Decimal(repr(value)), "f")
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    return str(value)


def _brief(text: str) -> str:
    return text if text.isprintable() and len(text) <= 40 else repr(text if len(text) <= 40 else f"{text[:39]}…")


@dataclass(frozen=True, slots=True)
class Part:
    """A chunker or a mode with everything settled: its name in the registry, no preset's; its inner parts; and every
    parameter's value, in the order of their declaration.

    `str` of it writes all of that. `label` is what the user wrote, without blanks; parts are equal whatever their labels.
    """

    name: str
    inner: tuple[Part, ...] = ()
    values: tuple[tuple[str, Value], ...] = ()
    label: str = field(default="", compare=False)

    def __str__(self) -> str:
        held = ",".join([*map(str, self.inner), *(f"{name}={written(value)}" for name, value in self.values)])
        return f"{self.name}({held})" if held else self.name
