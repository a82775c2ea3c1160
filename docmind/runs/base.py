"""What a run is scored and judged by: the files of the folder, or those of the branch that a change goes to.

Whoever changes retrieval can change thresholds, strategies and baseline with it. By the files of a base they do not judge
themselves: what they change of these is told as a proposal.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

from docmind.config import Settings
from docmind.errors import DocMindError, StorageError, UsageError
from docmind.evaluation.gate import proposal
from docmind.evaluation.gate.answers import AnswersVerdict, differences, judge_answers
from docmind.evaluation.gate.check import Check
from docmind.evaluation.gate.thresholds import AnswerThresholds, Thresholds, read_thresholds
from docmind.evaluation.gate.values import cut
from docmind.evaluation.gate.verdict import Verdict, check_must_pass, judge
from docmind.evaluation.record.answers import AnswersRecord, read_reference
from docmind.evaluation.record.baseline import read_baseline
from docmind.evaluation.record.rules import Rules, StrategiesFile
from docmind.evaluation.record.types import Record
from docmind.files import own_folder
from docmind.retrieval.strategies import Strategies, Strategy, read_strategies
from docmind.runs.commits import Commit
from docmind.types import Question

logger = logging.getLogger(__name__)

T = TypeVar("T")

Part = Literal["thresholds", "strategies", "baseline", "answers"]

WHO = 100
"""Characters of the name of who accepts."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a run is judged by. The matrix of `strategies` is what is scored."""

    thresholds: Thresholds
    strategies: Strategies
    baseline: Record

    def judge(self, record: Record) -> Verdict:
        """The verdict on `record`."""
        return judge(record, self.baseline, self.thresholds, self.strategies.gate)


@dataclass(frozen=True, slots=True)
class Terms:
    """`own` are the files of the folder; `base` those that count in their place, None where no base was asked for, or where
    they cannot be read and `accepted` names who let the own count. `told` names the base, `proposal` says how they differ."""

    own: Held
    base: Held | None = None
    told: str = ""
    proposal: tuple[str, ...] = ()
    accepted: str = ""

    @property
    def thresholds(self) -> tuple[Thresholds, ...]:
        """All that may be held against: their rules say what has to be measured."""
        return tuple(held.thresholds for held in (self.own, self.base) if held)

    def check(self, questions: Sequence[Question]) -> None:
        """Raise UsageError where `must_pass` names one that is unanswerable, before any work."""
        check_must_pass(self.own.thresholds, questions)
        if self.base and not self.accepted:
            try:
                check_must_pass(self.base.thresholds, questions)
            except UsageError as error:
                raise UsageError(f"by the thresholds of {self.told}: {error} {_REMEDY}") from error

    def verdict(self, record: Record) -> Verdict:
        """The verdict on `record`, by those that count."""
        found = (self.own if self.accepted else self.base or self.own).judge(record)
        overruled: tuple[str, ...] = ()
        if self.accepted:
            by_base = self.base.judge(record) if self.base else None
            overruled = proposal.failures(by_base.checks, by_base.incomplete) if by_base else _UNREAD
        return replace(found, base=self.told, proposal=self.proposal, accepted=self.accepted, overruled=overruled)


@dataclass(frozen=True, slots=True)
class AnswersHeld:
    """What answers are judged by, and the strategy that finds their passages."""

    bounds: AnswerThresholds
    reference: AnswersRecord
    production: Strategy


@dataclass(frozen=True, slots=True)
class AnswersTerms:
    """As Terms, of answers."""

    own: AnswersHeld
    base: AnswersHeld | None = None
    told: str = ""
    proposal: tuple[str, ...] = ()
    accepted: str = ""

    @property
    def counting(self) -> AnswersHeld:
        """Those that count."""
        return self.own if self.accepted else self.base or self.own

    def verdict(self, run: AnswersRecord, answerable: Collection[str]) -> AnswersVerdict:
        """The verdict on `run`, by those that count; `answerable` are the ids of the questions that have gold."""

        def checks(held: AnswersHeld) -> tuple[Check, ...]:
            return judge_answers(run, held.reference, held.bounds, answerable)

        overruled: tuple[str, ...] = ()
        if self.accepted:
            overruled = proposal.failures(checks(self.base)) if self.base else _UNREAD
        changed = differences(self.counting.reference.fingerprint, run.fingerprint)
        return AnswersVerdict(checks(self.counting), changed, self.told, self.proposal, self.accepted, overruled)


_UNREAD = ("nothing can be told: a file of the base cannot be read",)

_REMEDY = "Mend it on that branch first and rebase onto it, or let the files of this change count: --accept WHO."


def terms(settings: Settings, thresholds: Thresholds | None = None, baseline: Record | None = None) -> Terms:
    """What a run is judged by: the files of `settings`, of which `thresholds` and `baseline` may be at hand, and with
    `settings.base` those of that commit.

    Raises UsageError where a file or the name of the base is wrong, StorageError where the base cannot be read,
    IncompleteError where there is no baseline.
    """
    who = _who(settings)
    held = read_thresholds(settings.thresholds) if thresholds is None else thresholds
    strategies = read_strategies(settings.strategies)
    strategies.find(held.production)
    own = Held(held, strategies, read_baseline(settings.baseline) if baseline is None else baseline)
    if settings.base is None:
        return Terms(own)
    base = _Base(Commit.of(settings.base), settings, lenient=bool(who))
    thresholds, baseline = base.read("thresholds", read_thresholds), base.read("baseline", read_baseline)
    there = base.strategies()
    counting = Held(thresholds or own.thresholds, _joined(strategies, there), baseline or own.baseline)
    try:
        counting.strategies.find(counting.thresholds.production)
    except UsageError as error:
        raise UsageError(f"by the files of {base.commit.told}: {error} {_REMEDY}") from error
    told = list(base.notes)
    if thresholds:
        told += proposal.thresholds(_said(thresholds), _said(own.thresholds))
    if baseline:
        told += proposal.baseline(baseline, own.baseline)
    if there:
        told += proposal.strategies(_file(there), _file(strategies))
    return Terms(own, None if base.unread else counting, base.commit.told, proposal.limited(told), who)


def answers_terms(settings: Settings) -> AnswersTerms:
    """What answers are judged by: the thresholds, the strategies and the committed answers of `settings`, and with
    `settings.base` those of that commit. Raises as `terms` does, and UsageError where the thresholds say nothing of answers."""
    who = _who(settings)
    held = read_thresholds(settings.thresholds)
    bounds = _bounds(held, str(settings.thresholds))
    reference, strategies = read_reference(settings.answers), read_strategies(settings.strategies)
    own = AnswersHeld(bounds, reference, strategies.find(held.production))
    if settings.base is None:
        return AnswersTerms(own)
    base = _Base(Commit.of(settings.base), settings, lenient=bool(who))
    thresholds, committed = base.read("thresholds", read_thresholds), base.read("answers", read_reference)
    there = base.strategies()
    counting = AnswersHeld(
        _bounds(thresholds, base.commit.named(settings.thresholds)) if thresholds else bounds,
        committed or reference,
        _joined(strategies, there).find((thresholds or held).production),
    )
    told = list(base.notes)
    if thresholds:
        told += proposal.thresholds(_said(thresholds), _said(held))
    if committed:
        told += proposal.answers(committed, reference)
    if there:
        told += proposal.strategies(_file(there), _file(strategies))
    return AnswersTerms(own, None if base.unread else counting, base.commit.told, proposal.limited(told), who)


def _bounds(found: Thresholds, name: str) -> AnswerThresholds:
    if found.answers is None:
        raise UsageError(f"{name}: has no key 'answers', which --check holds the answers to. Add it.")
    return found.answers


def scored(settings: Settings) -> Strategies:
    """The strategies that a run scores where no others are asked for, and all that have names: those of the folder's file,
    and with `settings.base` those of the base's matrix too. Raises as `terms` does."""
    own = read_strategies(settings.strategies)
    if settings.base is None:
        return own
    return _joined(own, _Base(Commit.of(settings.base), settings, lenient=bool(_who(settings))).strategies())


def rules(settings: Settings) -> Rules:
    """What the folder's files say when a run is made, for its record. Thresholds that are there and cannot be read are none,
    with a warning: nothing is judged by them yet."""
    thresholds = None
    try:
        thresholds = _said(read_thresholds(settings.thresholds))
    except DocMindError as error:
        if not isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
            logger.warning("the record keeps no thresholds: %s", error)
    return Rules(thresholds=thresholds, strategies=_file(read_strategies(settings.strategies)))


class _Base:
    """The files of a commit that stand where those of `settings` do. With `lenient` one that cannot be read is a note."""

    def __init__(self, commit: Commit, settings: Settings, *, lenient: bool) -> None:
        self.commit = commit
        self.notes: list[str] = []
        self.unread = False
        self._settings = settings
        self._lenient = lenient

    def read(self, part: Part, reader: Callable[[Path], T], instead: T | None = None) -> T | None:
        """The file of that part as `reader` has it; where the commit has none `instead`, or None, which is noted. Raises
        StorageError, with the remedy, where it cannot be read."""
        path: Path = getattr(self._settings, part)
        name = self.commit.named(path)
        try:
            text = self.commit.read(path)
            if text is not None:
                return _parsed(text, path.name, name, reader)
        except StorageError as error:
            if not self._lenient:
                raise
            self.notes.append(f"{part}: {error}")
            self.unread = True
            return None
        counts = "what comes with DocMind counts, as it does there" if instead else "the file of this change counts"
        self.notes.append(f"{part}: {name} is not there; {counts}")
        return instead

    def strategies(self) -> Strategies | None:
        """Where a base has the other files and none at the usual place, those that come with DocMind are what it scores, and
        where the folder has none there either, nothing was changed."""
        path = self._settings.strategies
        usual = None
        if path == Settings().strategies and not self._has(path):
            if not path.exists():
                return read_strategies(None)
            if self._has(self._settings.thresholds) or self._has(self._settings.baseline):
                usual = read_strategies(None)
        return self.read("strategies", read_strategies, usual)

    def _has(self, path: Path) -> bool:
        try:
            return self.commit.read(path) is not None
        except StorageError:
            return True  # something is there


def _parsed(text: bytes, file: str, name: str, reader: Callable[[Path], T]) -> T:
    """`text` as `reader` reads it from a file; in errors that is called `name`."""
    folder = None
    try:
        folder = own_folder()
        path = folder / file
        path.write_bytes(text)
        return reader(path)
    except OSError as error:
        raise StorageError(
            f"{name}: cannot be kept to be read: {error.strerror}. Free space for temporary files."
        ) from error
    except DocMindError as error:
        raise StorageError(f"{str(error).replace(str(path), name)} {_REMEDY}") from error
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _joined(own: Strategies, base: Strategies | None) -> Strategies:
    """The own strategies and those of the base's matrix that they lack; what both name is as the own have it, since that is
    the change that is judged. Those that can fail are the base's."""
    if base is None:
        return own
    known = {each.name for each in own.matrix}
    lacking = [
        own.find(each.name) if each.name in own.names else each for each in base.matrix if each.name not in known
    ]
    return Strategies((*own.matrix, *lacking), base.gate, {**base.names, **own.names})


def _said(thresholds: Thresholds) -> dict[str, object]:
    """The thresholds by key, as JSON, without those that say nothing."""
    return thresholds.model_dump(mode="json", exclude_none=True)


def _file(strategies: Strategies) -> StrategiesFile:
    return StrategiesFile(
        matrix=tuple(each.name for each in strategies.matrix),
        gate=strategies.gate,
        names={name: meant if isinstance(meant, str) else meant.said for name, meant in strategies.names.items()},
    )


def _who(settings: Settings) -> str:
    """Who lets the files of the folder count, on one line; "" where nobody does."""
    if settings.accept is None:
        return ""
    if settings.base is None:
        raise UsageError("--accept lets the files of a change count in place of a base's. Give --base too.")
    if not (who := " ".join(settings.accept.split())):
        raise UsageError("--accept '' names nobody. Say who accepts the change, such as the label or the reviewer.")
    return cut(who, WHO)
