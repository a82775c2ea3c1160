"""Holds one run against another: which questions were lost and gained, and what differs between them. It judges nothing.

A run is a record, of latest.json or of baseline.json; the first is called old, the second new. A question is compared
where what is asked and what answers it are the same in both; it is a hit where a piece of its gold stands among the
first three.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import Any

from docmind.evaluation.gate.values import changes
from docmind.evaluation.record.rules import Rules
from docmind.evaluation.record.types import HitResult, Instrument, QuestionResult, Record, StrategyResult
from docmind.evaluation.scoring import stats
from docmind.evaluation.scoring.attribution import LostAt
from docmind.evaluation.scoring.spans import is_hit

ALPHA = 0.05
"""Of the smallest detectable drop where no rule is named: McNemar's test alone, as for two runs that nobody judges."""

WIDTH = 40
"""How many characters of a value that differs are told."""


@dataclass(frozen=True, slots=True)
class Flip:
    """A question that is a hit in one run alone. `old` and `new` are the best ranks, None below the depth of the run.

    `instead` is what the new run found at the old rank: a hit, of a baseline the id of its chunk; None where it found
    nothing there, and for a gain. `lost_at` is the new run's.
    """

    question_id: str
    old: int | None
    new: int | None
    lost_at: LostAt | None
    instead: HitResult | str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One strategy over `n` > 0 compared questions: hits before and after, and the flips between, by question id.

    `p` is of McNemar's exact test, one-sided for a loss, and `adjusted` after Holm over the strategies that are judged,
    None of one that is shown for information. `low` and `high`
    bound the change, after minus before over n (paired bootstrap, percentile, 95 %). `detectable` is the smallest true
    drop, a fraction of 1, that the rule of the comparison finds in 8 of 10 runs, where as many questions as here flip and
    make up for each other beside it; None where it finds none.
    """

    strategy: str
    n: int
    before: int
    after: int
    lost: tuple[Flip, ...]
    gained: tuple[Flip, ...]
    p: float
    adjusted: float | None
    low: float
    high: float
    detectable: float | None

    @property
    def drop(self) -> Fraction:
        """The loss of hit rate, exactly; negative where more was gained."""
        return Fraction(self.before - self.after, self.n)

    @property
    def within_noise(self) -> bool:
        """Whether no change at all is as good an account of the flips."""
        return self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class Comparison:
    """`changes` in the order of the new run; `missing` and `added` name the strategies of one run alone. `questions`
    counts those that were compared; `not_compared` names the others by reason. `differences` are sentences on what differs
    between the runs, and `refusals` on why they cannot be compared at all: then there are no changes. `alpha`,
    `tolerance` and `judged` are those of `compare`."""

    changes: tuple[Change, ...]
    missing: tuple[str, ...]
    added: tuple[str, ...]
    questions: int
    not_compared: Mapping[str, tuple[str, ...]]
    differences: tuple[str, ...]
    refusals: tuple[str, ...]
    alpha: float | None = ALPHA
    tolerance: Fraction = Fraction(0)
    judged: int = 1


def compare(
    old: Record,
    new: Record,
    alpha: float | None = ALPHA,
    judged: Collection[str] | None = None,
    tolerance: Fraction = Fraction(0),
) -> Comparison:
    """`new` held against `old`; `judged` names the strategies over which Holm adjusts, None all.

    The smallest detectable drop is that of a rule which fails one strategy where it loses more than `tolerance`, a share of
    1, and unless `alpha` is None where that is significant at `alpha` too, after Holm over those that are judged.

    A strategy with an errored question in either run is not compared, but neither missing nor added.
    """
    same = same_questions(old, new)
    others = _others(old.instrument.questions, new.instrument.questions)
    refusals = _refusals(old.instrument, new.instrument)
    shared = [name for name in new.strategies if name in old.strategies]
    whole = [name for name in shared if _is_whole(old.strategies[name]) and _is_whole(new.strategies[name])]
    pairs = {name: _pair(old.strategies[name], new.strategies[name], same) for name in whole}
    if not shared:
        refusals += ("no strategy is in both",)
    elif pairs and not any(pair.n for pair in pairs.values()):
        refusals += ("no answerable question is the same in both",)
    if refusals:
        pairs = {}
    counted = [name for name in pairs if judged is None or name in judged]
    return Comparison(
        changes=_changes(pairs, counted, alpha, tolerance),
        missing=tuple(name for name in old.strategies if name not in new.strategies),
        added=tuple(name for name in new.strategies if name not in old.strategies),
        questions=max((pair.n for pair in pairs.values()), default=0),
        not_compared={reason: ids for reason, ids in others.items() if ids},
        differences=differences(old, new),
        refusals=refusals,
        alpha=alpha,
        tolerance=tolerance,
        judged=len(counted),
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """What two runs of one strategy did with the same answerable questions."""

    n: int
    before: int
    after: int
    lost: tuple[Flip, ...]
    gained: tuple[Flip, ...]

    @property
    def churn(self) -> float:
        """The share of the questions that flipped and made up for each other."""
        return 2 * min(len(self.lost), len(self.gained)) / self.n


def same_questions(old: Record, new: Record) -> list[str]:
    """The ids of the questions that are asked and answered by the same in both."""
    before = old.instrument.questions
    return [name for name, asked in new.instrument.questions.items() if before.get(name) == asked]


def _others(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {
        "added": tuple(name for name in new if name not in old),
        "changed": tuple(name for name in new if name in old and old[name] != new[name]),
        "not asked any more": tuple(name for name in old if name not in new),
    }


def _refusals(old: Instrument, new: Instrument) -> tuple[str, ...]:
    if old.gold_rule == new.gold_rule:
        return ()
    changed = _changed("", old.gold_rule.model_dump(), new.gold_rule.model_dump())
    return (f"the gold rule is another: {'; '.join(changed)}",)


def _is_whole(strategy: StrategyResult) -> bool:
    """Whether no question ended in an error, which is no score."""
    return strategy.metrics is not None


def _pair(old: StrategyResult, new: StrategyResult, same: Sequence[str]) -> _Pair:
    flips = []
    n = before = after = 0
    for name in same:
        was, is_now = old.questions[name], new.questions[name]
        if not was.ranks:
            continue  # unanswerable
        flip = _flip(name, was, is_now)
        n, before, after = n + 1, before + is_hit(flip.old), after + is_hit(flip.new)
        flips.append(flip)
    lost = tuple(flip for flip in flips if is_hit(flip.old) and not is_hit(flip.new))
    gained = tuple(flip for flip in flips if is_hit(flip.new) and not is_hit(flip.old))
    return _Pair(n, before, after, lost, gained)


def _flip(name: str, was: QuestionResult, is_now: QuestionResult) -> Flip:
    old, new = was.rank, is_now.rank
    displaced = is_hit(old) and not is_hit(new)
    return Flip(name, old, new, is_now.lost_at, is_now.at(old) if displaced and old else None)


def _changes(
    pairs: Mapping[str, _Pair], judged: Sequence[str], alpha: float | None, tolerance: Fraction
) -> tuple[Change, ...]:
    """In the order of `pairs`. Of several p-values Holm holds the smallest to alpha over their number: that is what one
    strategy that drops alone must pass."""
    p_values = {name: stats.mcnemar_loss(len(pair.lost), len(pair.gained)) for name, pair in pairs.items()}
    adjusted = stats.holm({name: p_values[name] for name in judged})
    strictest = None if alpha is None else alpha / max(1, len(judged))
    changes = []
    for name, pair in pairs.items():
        low, high = stats.interval(len(pair.lost), len(pair.gained), pair.n)
        changes.append(
            Change(
                strategy=name,
                n=pair.n,
                before=pair.before,
                after=pair.after,
                lost=pair.lost,
                gained=pair.gained,
                p=p_values[name],
                adjusted=adjusted.get(name),
                low=low,
                high=high,
                detectable=stats.smallest_drop(pair.n, pair.churn, strictest, tolerance),
            )
        )
    return tuple(changes)


def differences(old: Record, new: Record) -> tuple[str, ...]:
    """A sentence a part of the fingerprint, and one on the rules, the same ones at every run, so that what is equal is told
    too."""
    before, after = old.instrument, new.instrument
    was, is_now = old.fingerprint.treatment, new.fingerprint.treatment
    told = [
        by_name("corpus", "page", before.pages, after.pages),
        by_name("key", "question", before.questions, after.questions),
        by_value("metrics", before.metrics.model_dump(mode="json"), after.metrics.model_dump(mode="json")),
    ]
    return (*told, *(_part(part, was, is_now) for part in {**was, **is_now}), _rules(old.rules, new.rules))


def _rules(old: Rules | None, new: Rules | None) -> str:
    """What the two were held to. Records of earlier versions do not keep it."""
    if old is None or new is None:
        return "rules: same" if old is new else f"rules: the {'first' if old is None else 'second'} run keeps none"
    told = "; ".join(changes(old.model_dump(mode="json"), new.model_dump(mode="json")))
    return f"rules: {told or 'same'}"


def _part(part: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    if part == "code":
        before, after = old.get(part, {}), new.get(part, {})
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            return by_name("code", "file", before, after)
    return by_value(part, old.get(part), new.get(part))


def by_name(what: str, thing: str, old: Mapping[str, object], new: Mapping[str, object]) -> str:
    """Which of the things called `thing` were changed, added and removed, or that `what` is the same."""
    parts = []
    for verb, names in (
        ("changed", [name for name in new if name in old and old[name] != new[name]]),
        ("added", [name for name in new if name not in old]),
        ("removed", [name for name in old if name not in new]),
    ):
        if names:
            listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
            parts.append(f"{len(names)} {thing}{'s' if len(names) > 1 else ''} {verb} ({listed})")
    return f"{what}: {'; '.join(parts) or 'same'}"


def by_value(what: str, old: object, new: object) -> str:
    """Every value of `what` that differs, as "where: old → new", or that it is the same."""
    return f"{what}: {'; '.join(_changed('', old, new)) or 'same'}"


def _changed(place: str, old: object, new: object) -> list[str]:
    """Every value that differs, as "where: old → new"."""
    if old == new:
        return []
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        keys = dict.fromkeys([*old, *new])
        return [found for key in keys for found in _changed(f"{place} {key}".strip(), old.get(key), new.get(key))]
    before, after = ("none" if value is None else str(value) for value in (old, new))
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    start = max(0, alike - WIDTH // 4)
    return [f"{place}: {_brief(before, start)} → {_brief(after, start)}".removeprefix(": ")]


def _brief(shown: str, start: int) -> str:
    """A long value from shortly before where it differs: the name of a model ends with its version."""
    if len(shown) > WIDTH and start:
        shown = f"…{shown[start:]}"
    return shown if len(shown) <= WIDTH else f"{shown[: WIDTH - 1]}…"
