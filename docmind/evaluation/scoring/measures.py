"""Metrics by name, at any k: what is measured, and how many hits that takes. No ranking is looked at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from docmind.config import DEPTH
from docmind.errors import UsageError
from docmind.evaluation.scoring.metrics import METRICS
from docmind.evaluation.scoring.metrics.family import Family, Sees
from docmind.evaluation.scoring.metrics.judged import Judged
from docmind.registry import did_you_mean

LARGEST = 10_000
"""No k is larger: it is more than any list that is worth its time, and surely a slip."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric at its k, such as "recall@100". `of` gives its value for one question, as in Family, and looks at the first
    `depth` hits alone, however many there are, and of these at what it `sees`. `counts_tokens`: its k is of tokens."""

    name: str
    of: Callable[[Judged], float | None] = field(compare=False, repr=False)
    depth: int
    sees: Sees = "passages"
    counts_tokens: bool = False


def measure(name: str) -> Measure:
    """The metric called `name`, a name of METRICS with a number for its k: 1 to LARGEST, as it is written by hand.

    Raises UsageError, which says what there is, for anything else.
    """
    word, _, rest = name.partition("@")
    fitting = [known for known in METRICS if known.startswith(f"{word}@k") and rest.endswith(_unit(known))]
    if not fitting:
        near = did_you_mean(re.sub(r"\d+", "k", name.lower()), METRICS)
        raise UsageError(
            f"unknown metric {name!r}.{near} There are: {', '.join(METRICS)}; k is a whole number from 1 to {LARGEST:,}."
        )
    found = max(fitting, key=len)
    k = rest.removesuffix(_unit(found))
    if not re.fullmatch("[1-9][0-9]{0,8}", k) or int(k) > LARGEST:
        raise UsageError(
            f"metric {name!r}: its k is {k!r}. A whole number from 1 to {LARGEST:,} was expected, in plain digits, such "
            f"as {found.replace('@k', '@100')}."
        )
    return _at(found, METRICS[found], int(k))


def standard() -> tuple[Measure, ...]:
    """What is measured where nobody asks for anything else."""
    return tuple(_at(name, family, k) for name, family in METRICS.items() for k in family.standard)


def depth(measures: Iterable[Measure]) -> int:
    """How many hits to ask for: as many as the deepest of `measures` takes, and as the reports show (DEPTH)."""
    return max([DEPTH, *(measure.depth for measure in measures)])


def _unit(family: str) -> str:
    """What the k of that metric counts, "" for hits: "tok" of "hit@ktok"."""
    return family.partition("@k")[2]


def _at(name: str, family: Family, k: int) -> Measure:
    deep = family.depth or k
    of = lambda judged: family.of(judged.top(deep), k)  # noqa: E731 - as short as that
    return Measure(name.replace("@k", f"@{k}"), of, deep, family.sees, _unit(name) == "tok")
