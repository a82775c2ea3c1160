"""Reads eval/thresholds.yaml, what a run is held to. It judges nothing.

Figures are exact: 0.83 in the file is 83/100 here, whatever its binary fraction.
"""

from __future__ import annotations

import reprlib
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from docmind.errors import UsageError
from docmind.evaluation.scoring.measures import Measure, measure, standard
from docmind.registry import did_you_mean
from docmind.yamlfile import read_mapping

EACH = "each"
"""In the place of a type: every type that the answer key has, each for itself."""


def _known_metric(name: str) -> str:
    try:
        return measure(name).name
    except UsageError as error:
        raise ValueError(str(error)) from None  # pydantic lets no other error be told with its place


Share = Annotated[float, Field(ge=0, le=1)]
Points = Annotated[float, Field(ge=0, le=100)]
Name = Annotated[str, Field(min_length=1)]
Metric = Annotated[str, AfterValidator(_known_metric)]


class Rule(BaseModel):
    """What is held: the mean of `metric`, of the production strategy unless `strategy` names another, over the questions
    of that `type` and `split`, all where there is none; a `type` of EACH makes a rule of every one."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    metric: Metric
    strategy: Name | None = None
    type: Name | None = None
    split: Name | None = None

    @property
    def measure(self) -> Measure:
        """The metric that is named."""
        return measure(self.metric)


class Minimum(Rule):
    """The mean may not be under `at_least`."""

    at_least: Share


class Regression(Rule):
    """Against the baseline the mean may not fall by more than `points`, a hundredth each."""

    points: Points

    @property
    def tolerance(self) -> Fraction:
        """`points` as an exact fraction of 1."""
        return exact(self.points) / 100


class AnswerThresholds(BaseModel):
    """What the answers without a key are held to, shares of all answerable questions; `min_abstention` is one of the
    unanswerable, None where the answer key has no such question. `max_regression_pp`: points of correct answers that may
    be lost against the committed ones."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    min_correct: Share
    max_wrong: Share
    max_false_abstention: Share
    min_abstention: Share | None = None
    max_regression_pp: Points


class Thresholds(BaseModel):
    """`production` names a strategy; its Hit@3 may not be under `min_hit_at_3`, and it may not lose a question of
    `must_pass` at 3. No strategy may lose more than `max_regression_pp` points of Hit@3 (0 to 100) against the baseline;
    with `alpha`, a p-value in (0, 1), only a loss that is significant as well fails.

    `min` and `max_regression` are such rules on any metric, by points alone. `min_compared`: the share of the baseline's
    answerable questions that must be the same in the run, or there is no verdict."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    production: Name
    min_hit_at_3: Share
    max_regression_pp: Points
    alpha: Annotated[float, Field(gt=0, lt=1)] | None = None
    must_pass: tuple[str, ...] = ()
    min: tuple[Minimum, ...] = ()
    max_regression: tuple[Regression, ...] = ()
    min_compared: Share = 0.8
    answers: AnswerThresholds | None = None

    @property
    def floor(self) -> Fraction:
        """`min_hit_at_3`, exactly."""
        return exact(self.min_hit_at_3)

    @property
    def tolerance(self) -> Fraction:
        """`max_regression_pp` as an exact fraction of 1."""
        return exact(self.max_regression_pp) / 100

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The metrics of the rules that are not measured anyhow: a run that is to be judged has to be asked for them."""
        usual = standard()
        return tuple(dict.fromkeys(rule.measure for rule in self._rules if rule.measure not in usual))

    def measures_of(self, strategy: str) -> tuple[Measure, ...]:
        """The metrics of the rules on that strategy: it must have as many hits as these look at."""
        found = (rule.measure for rule in self._rules if (rule.strategy or self.production) == strategy)
        return tuple(dict.fromkeys(found))

    @property
    def _rules(self) -> tuple[Rule, ...]:
        return (*self.min, *self.max_regression)


FORMS: dict[str, type[BaseModel]] = {"min": Minimum, "max_regression": Regression, "answers": AnswerThresholds}
"""By key of Thresholds, of what form is what stands in it, or in each of its list."""

LISTS = ("must_pass", "min", "max_regression")

NUMBERS = {
    "min_hit_at_3",
    "max_regression_pp",
    "alpha",
    "min_compared",
    "at_least",
    "points",
    *(name for name in AnswerThresholds.model_fields),
}
"""The keys whose values are numbers. All other values are text, so that ids such as 012 and 1.10 stay what they are."""


def exact(decimal: float) -> Fraction:
    """The fraction that the shortest decimal of the float says: 0.05 is 1/20."""
    return Fraction(str(decimal))


def read_thresholds(path: Path) -> Thresholds:
    """The thresholds in `path`. Raises StorageError where it cannot be read, UsageError, which tells every fault with
    its key, where it says something else than was expected."""
    fields = read_mapping(path, "the thresholds", "--thresholds", _known(Thresholds), NUMBERS)
    for name in LISTS:
        if isinstance(fields.get(name), list):
            fields[name] = tuple(fields[name])  # strict: YAML knows no tuples
    try:
        return Thresholds.model_validate(fields)
    except ValidationError as error:
        faults = [_tell(details) for details in error.errors()]
        raise UsageError("\n".join([f"{path}: faults in the thresholds: {len(faults)}", *faults])) from error


def _tell(details: ErrorDetails) -> str:
    place, value = details["loc"], details["input"]
    name, key = str(place[-1]), ".".join(map(str, place))
    form = FORMS.get(str(place[0]), Thresholds) if len(place) > 1 else Thresholds
    if details["type"] == "extra_forbidden":
        return f"unknown key {key!r}.{did_you_mean(name, form.model_fields)} There are: {_known(form)}."
    if details["type"] == "missing":
        return f"{key!r} is missing. Add it."
    if details["type"] == "value_error":
        return f"{key}: {details['ctx']['error']}"
    if details["type"] == "model_type" and len(place) > 1:
        return f"{key}: {reprlib.repr(value)} was found; expected: a mapping of {_known(form)}."
    wanted = details["msg"].removeprefix("Input should be ").replace("tuple", "list")
    if name in NUMBERS and isinstance(value, str):
        wanted = "a number in plain digits and without quotes, such as 0.5"
    return f"{key}: {reprlib.repr(value)} was found; expected: {wanted}."


def _known(form: type[BaseModel]) -> str:
    return ", ".join(form.model_fields)
