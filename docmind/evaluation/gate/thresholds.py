"""Reads eval/thresholds.yaml, what a run is held to. It judges nothing.

Figures are exact: 0.83 in the file is 83/100 here, whatever its binary fraction.
"""

from __future__ import annotations

import reprlib
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from docmind.errors import UsageError
from docmind.registry import did_you_mean
from docmind.yamlfile import read_mapping

Share = Annotated[float, Field(ge=0, le=1)]


class AnswerThresholds(BaseModel):
    """What the answers without a key are held to, shares of all answerable questions; `min_abstention` is one of the
    unanswerable, None where the answer key has no such question. `max_regression_pp`: points of correct answers that may
    be lost against the committed ones."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    min_correct: Share
    max_wrong: Share
    max_false_abstention: Share
    min_abstention: Share | None = None
    max_regression_pp: Annotated[float, Field(ge=0, le=100)]


class Thresholds(BaseModel):
    """`production` names a strategy; its Hit@3 may not be under `min_hit_at_3`, and it may not lose a question of
    `must_pass` at 3. No strategy may lose more than `max_regression_pp` points of Hit@3 (0 to 100) against the baseline;
    with `alpha`, a p-value in (0, 1), only a loss that is significant as well fails."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    production: Annotated[str, Field(min_length=1)]
    min_hit_at_3: Share
    max_regression_pp: Annotated[float, Field(ge=0, le=100)]
    alpha: Annotated[float, Field(gt=0, lt=1)] | None = None
    must_pass: tuple[str, ...] = ()
    answers: AnswerThresholds | None = None

    @property
    def floor(self) -> Fraction:
        """`min_hit_at_3`, exactly."""
        return exact(self.min_hit_at_3)

    @property
    def tolerance(self) -> Fraction:
        """`max_regression_pp` as an exact fraction of 1."""
        return exact(self.max_regression_pp) / 100


NUMBERS = {*Thresholds.model_fields, *AnswerThresholds.model_fields} - {"production", "must_pass", "answers"}
"""The keys whose values are numbers. All other values are text, so that ids such as 012 and 1.10 stay what they are."""


def exact(decimal: float) -> Fraction:
    """The fraction that the shortest decimal of the float says: 0.05 is 1/20."""
    return Fraction(str(decimal))


def read_thresholds(path: Path) -> Thresholds:
    """The thresholds in `path`. Raises StorageError where it cannot be read, UsageError, which tells every fault with
    its key, where it says something else than was expected."""
    fields = read_mapping(path, "the thresholds", "--thresholds", _known(Thresholds), NUMBERS)
    if isinstance(fields.get("must_pass"), list):
        fields["must_pass"] = tuple(fields["must_pass"])  # strict: YAML knows no tuples
    try:
        return Thresholds.model_validate(fields)
    except ValidationError as error:
        faults = [
            _tell(details["type"], details["loc"], details["input"], details["msg"]) for details in error.errors()
        ]
        raise UsageError("\n".join([f"{path}: faults in the thresholds: {len(faults)}", *faults])) from error


def _tell(kind: str, place: tuple[int | str, ...], value: object, expected: str) -> str:
    form = AnswerThresholds if place[:-1] == ("answers",) else Thresholds
    name = str(place[-1])
    key = ".".join([*map(str, place[:-1]), name])
    if kind == "extra_forbidden":
        return f"unknown key {key!r}.{did_you_mean(name, form.model_fields)} There are: {_known(form)}."
    if kind == "missing":
        return f"{key!r} is missing. Add it."
    wanted = expected.removeprefix("Input should be ").replace("tuple", "list")
    if name in NUMBERS and isinstance(value, str):
        wanted = "a number in plain digits and without quotes, such as 0.5"
    return f"{key}: {reprlib.repr(value)} was found; expected: {wanted}."


def _known(form: type[BaseModel]) -> str:
    return ", ".join(form.model_fields)
