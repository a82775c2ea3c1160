"""How far the mean of a metric moved from one run to another, over the same questions on both sides. It judges nothing.

A baseline keeps ranks and no passages. So a metric that sees ranks alone is made anew on both sides, from the questions
that are the same in both; of any other the recorded means are held against each other where all questions are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from docmind.errors import UsageError
from docmind.evaluation.record.layout import DECIMALS
from docmind.evaluation.record.types import HitResult, QuestionResult, Record, StrategyResult
from docmind.evaluation.scoring import stats
from docmind.evaluation.scoring.measures import LARGEST, Measure, measure
from docmind.evaluation.scoring.metrics.judged import Judged
from docmind.evaluation.scoring.spans import best
from docmind.types import Gold

OVERVIEW = ("hit@1", "hit@3", "mrr@5", "full@3", "full@5")
"""What is told of the production strategy before and after."""

OF_A_TYPE = "hit@3"
OF_PIECES = ("full@3", "full@5")
"""What is told of each type of question, and of those that ask for several pieces beside it."""

_PIECE = Gold(doc_id="")
"""Stands for any piece of evidence: where it stands does not matter, and its grade is as every other's."""


@dataclass(frozen=True, slots=True)
class Part:
    """The questions of a type and of a split, None for all."""

    type: str | None = None
    split: str | None = None

    def __str__(self) -> str:
        return "".join(f", {what} {name}" for what, name in (("type", self.type), ("split", self.split)) if name)


@dataclass(frozen=True, slots=True)
class Fall:
    """A question on which a metric fell: the ranks of its pieces in both runs, and what the new one found where the first
    piece that fell had stood, a hit or of a baseline the id of its chunk; None where it found nothing there."""

    question_id: str
    old: tuple[int | None, ...]
    new: tuple[int | None, ...]
    instead: HitResult | str | None


@dataclass(frozen=True, slots=True)
class Movement:
    """The mean of `metric` over `n` > 0 questions before and after, exact; `falls` are the questions that are worth less
    now. `differences`, after less before, are by question; there are none where only the recorded means were known."""

    strategy: str
    metric: str
    part: Part
    n: int
    before: Fraction
    after: Fraction
    falls: tuple[Fall, ...] = ()
    differences: tuple[Fraction, ...] = ()

    @property
    def drop(self) -> Fraction:
        """The loss of the mean; negative where it rose."""
        return self.before - self.after

    @property
    def interval(self) -> tuple[float, float] | None:
        """Bounds of the change, after less before: paired bootstrap, percentile, 95 %. None where values are not known."""
        return stats.interval_of(self.differences) if self.differences else None

    @property
    def moved(self) -> str:
        """In words, whether it moved, and if more than chance would account for."""
        if self.interval is None or not any(self.differences):
            return "" if self.drop else "same"
        low, high = self.interval
        if low <= 0 <= high:
            return "within noise"
        return "better, beyond noise" if low > 0 else "worse, beyond noise"


def members(record: Record, strategy: str, part: Part) -> list[str]:
    """The ids of the answerable questions of that part."""
    ids = [name for name, found in record.strategies[strategy].questions.items() if found.ranks]
    for label, groups in ((part.type, record.types), (part.split, record.splits)):
        if label is not None:
            wanted = set(groups.get(label, ()))
            ids = [name for name in ids if name in wanted]
    return ids


def mean(measured: Measure, record: Record, strategy: str, part: Part) -> Fraction | str:
    """That of a metric over the answerable questions of that part, at least one; else why it is not known."""
    if reason := _unknown(measured, record, strategy):
        recorded = _recorded(measured, record, strategy, part)
        return reason if recorded is None else recorded
    found = record.strategies[strategy].questions
    values = [value(measured, found[name].ranks) for name in members(record, strategy, part)]
    return sum(values, Fraction(0)) / len(values)


def movement(
    old: Record, new: Record, strategy: str, measured: Measure, part: Part, same: Collection[str]
) -> Movement | str:
    """That of a strategy with metrics in both runs, over those of the questions `same` in both that are of that part in
    the new one, at least one; else why it is not known."""
    names = [name for name in members(new, strategy, part) if name in same]
    reason = _unknown(measured, old, strategy) or _unknown(measured, new, strategy)
    if reason is None:
        was, found = (record.strategies[strategy].questions for record in (old, new))
        return _paired(strategy, measured, part, names, was, found)
    before, after = (_recorded(measured, record, strategy, part) for record in (old, new))
    if before is None or after is None or not _same_groups(old, new, part):
        return f"{reason}, and means can be compared only where both runs have them of the very same questions"
    return Movement(strategy, measured.name, part, len(names), before, after)


def overview(old: Record, new: Record, strategy: str, same: Collection[str]) -> Iterator[Movement]:
    """What is told of a strategy with metrics in both runs: OVERVIEW over all questions, then each type."""
    found = new.strategies[strategy].questions
    wanted = [(Part(), name) for name in OVERVIEW]
    for kind, ids in new.types.items():
        several = any(len(found[name].ranks) > 1 for name in ids)
        wanted += [(Part(type=kind), name) for name in (OF_A_TYPE, *(OF_PIECES if several else ()))]
    for part, name in wanted:
        if any(question in same for question in members(new, strategy, part)):
            moved = movement(old, new, strategy, measure(name), part, same)
            if isinstance(moved, Movement):
                yield moved


def _paired(
    strategy: str,
    measured: Measure,
    part: Part,
    names: Sequence[str],
    was: Mapping[str, QuestionResult],
    found: Mapping[str, QuestionResult],
) -> Movement:
    values = {name: tuple(value(measured, side[name].ranks) for side in (was, found)) for name in names}
    falls = tuple(_fall(name, was[name], found[name]) for name, (before, after) in values.items() if after < before)
    before, after = (sum((pair[side] for pair in values.values()), Fraction(0)) / len(names) for side in (0, 1))
    differences = tuple(after - before for before, after in values.values())
    return Movement(strategy, measured.name, part, len(names), before, after, falls, differences)


@lru_cache(maxsize=65_536)
def value(measured: Measure, ranks: tuple[int | None, ...]) -> Fraction:
    """A metric's value by the ranks of the pieces. Of one that sees ranks alone it is a fraction of a rank or of a count of
    pieces, exactly, since no such denominator is over LARGEST; ndcg is what its float is."""
    found = Fraction(measured.of(Judged((_PIECE,) * len(ranks), ranks, (), ())) or 0)
    return found.limit_denominator(LARGEST) if measured.sees == "ranks" else found


def _fall(name: str, was: QuestionResult, found: QuestionResult) -> Fall:
    fell = [old for old, new in zip(was.ranks, found.ranks, strict=True) if old and (new is None or new > old)]
    place = best(fell)
    return Fall(name, was.ranks, found.ranks, found.at(place) if place else None)


def _unknown(measured: Measure, record: Record, name: str) -> str | None:
    """Why the values of a metric cannot be made from the ranks of a strategy, None where they can."""
    strategy = record.strategies[name]
    whose = "the baseline" if record.kind == "baseline" else "the run"
    if measured.sees == "passages":
        return f"{measured.name} looks at what passages show, and ranks do not tell it"
    if measured.depth > (reach := _reach(record, strategy)):
        return f"{measured.name} needs {measured.depth} hits, and {whose} has {reach} a question of {name}"
    if measured.sees == "grades" and not _alike(measured, strategy):
        return f"{measured.name} looks at grades, and ranks do not tell it"
    return None


def _reach(record: Record, strategy: StrategyResult) -> int:
    """How many hits of a question are known: as many as were asked for, unless the strategy's own list ended before, which
    metrics that have no figure tell."""
    known = {one: value is not None for name, value in (strategy.metrics or {}).items() if (one := _measure(name))}
    if any(not given for one, given in known.items() if one.sees != "passages"):
        return max((one.depth for one, given in known.items() if given), default=0)
    return record.instrument.metrics.depth


def _measure(name: str) -> Measure | None:
    """None for a metric of another version."""
    try:
        return measure(name)
    except UsageError:
        return None


def _alike(measured: Measure, strategy: StrategyResult) -> bool:
    """Whether the recorded mean is what it would be were all grades the same."""
    recorded = strategy.metric(measured.name)
    values = [value(measured, found.ranks) for found in strategy.questions.values() if found.ranks]
    return recorded is not None and abs(float(sum(values)) / len(values) - recorded) <= 10**-DECIMALS


def _recorded(measured: Measure, record: Record, name: str, part: Part) -> Fraction | None:
    """The mean as a file keeps it; None where it keeps none of that part."""
    strategy = record.strategies[name]
    if part.type is not None and part.split is not None:
        return None
    if part == Part():
        value = strategy.metric(measured.name)
    else:
        slices = strategy.by_type if part.type is not None else strategy.by_split
        one = slices.get(part.type or part.split or "")
        value = one.metrics.get(measured.name) if one else None
    return None if value is None else Fraction(str(round(value, DECIMALS)))


def _same_groups(old: Record, new: Record, part: Part) -> bool:
    return (
        old.instrument.questions == new.instrument.questions
        and (part.type is None or old.types.get(part.type) == new.types.get(part.type))
        and (part.split is None or old.splits.get(part.split) == new.splits.get(part.split))
    )
