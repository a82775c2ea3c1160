"""Evaluations of retrieval: documents, answer key and strategies joined to a record, its reports and its verdict.

The command line, the page and whoever writes `import docmind` come in here; nothing is computed elsewhere.
"""

from __future__ import annotations

import logging
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from docmind.config import Settings
from docmind.errors import UsageError
from docmind.evaluation.gate import compare as comparing
from docmind.evaluation.gate.compare import Comparison
from docmind.evaluation.gate.thresholds import Thresholds, read_thresholds
from docmind.evaluation.gate.verdict import Verdict
from docmind.evaluation.key.dataset import AnswerKey, load_questions
from docmind.evaluation.record.reading import read_record
from docmind.evaluation.record.types import Record, StrategyResult
from docmind.evaluation.reports import Material, markdown
from docmind.evaluation.reports.tables import matrix
from docmind.evaluation.scoring.measures import measure
from docmind.evaluation.scoring.score import answerable
from docmind.models import load as load_models
from docmind.models.vocabulary import cut_questions, unread_letters
from docmind.protocols import Progress
from docmind.retrieval.collection import Built
from docmind.retrieval.searcher import Searcher, ignore, quiet
from docmind.runs import saving
from docmind.runs.base import scored, terms
from docmind.runs.evaluating import Evaluating
from docmind.runs.foreign import Replies
from docmind.spec import names
from docmind.types import Question

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger(__name__)

Place = str | Path


@dataclass(frozen=True, slots=True)
class Loaded:
    """An observer is told of the questions that are going to be asked, before any work; it may raise to end the run."""

    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation(Mapping[str, StrategyResult]):
    """What strategies are worth: a mapping from their names to results, in the order asked for. `record` is what is kept
    of it, `material` what its reports draw on."""

    record: Record
    material: Material
    settings: Settings

    def __getitem__(self, strategy: str) -> StrategyResult:
        """Raises UsageError, which lists the strategies there are, for another."""
        return self.record[strategy]

    def __iter__(self) -> Iterator[str]:
        return iter(self.record.strategies)

    def __len__(self) -> int:
        return len(self.record.strategies)

    def to_pandas(self) -> pd.DataFrame:
        """A row a strategy, a column a metric, and `ms`, the median of a query in milliseconds where it was taken.
        Raises MissingPackageError where there is no pandas."""
        table = self.record.to_pandas()  # says so where there is no pandas
        import pandas as pd

        return table.assign(ms=pd.Series(self.material.medians, dtype=float))

    def __repr__(self) -> str:
        return markdown.table(matrix(self.record, self.material.medians))

    def _repr_markdown_(self) -> str:
        """What a notebook shows."""
        return repr(self)

    def check(
        self,
        thresholds: Place | Thresholds | None = None,
        baseline: Place | Record | None = None,
        *,
        base: str | None = None,
        accept: str | None = None,
    ) -> Verdict:
        """The verdict of the gate on this run, by default by the thresholds and the baseline of its settings. With `base`, a
        git commit by any name, those of that commit count, and its strategies; `accept` names who lets the others count.

        Raises UsageError where the thresholds are wrong, IncompleteError where there is no baseline, BaselineError where
        it is none, StorageError where the base cannot be read.
        """
        usual = self.settings
        settings = replace(
            usual,
            thresholds=_file("thresholds", thresholds, usual.thresholds),
            baseline=_file("baseline", baseline, usual.baseline),
            base=usual.base if base is None else base,
            accept=usual.accept if accept is None else accept,
        )
        held = terms(
            settings,
            thresholds if isinstance(thresholds, Thresholds) else None,
            baseline if isinstance(baseline, Record) else None,
        )
        held.check(self.material.questions)
        return held.verdict(self.record)

    def judged(self, verdict: Verdict | None) -> Evaluation:
        """This run with `verdict` in its reports."""
        return replace(self, material=replace(self.material, verdict=verdict))

    def save(self, folder: Place = "results", *, baseline: bool = False) -> None:
        """Write latest.json and every report to `folder`, and with `baseline` also baseline.json, unless a question ended
        in an error. Raises StorageError where they cannot be written."""
        saving.save(self.material, _path("folder", folder), baseline=baseline)


def evaluate(
    corpus: Place | None = None,
    questions: Place | None = None,
    strategies: str | Sequence[str] | None = None,
    *,
    metrics: str | Sequence[str] = (),
    thresholds: Place | Thresholds | Sequence[Thresholds] | None = None,
    types: str | Sequence[str] | None = None,
    ids: str | Sequence[str] | None = None,
    settings: Settings | None = None,
    progress: Progress = quiet,
    observe: Callable[[Built | Loaded], object] = ignore,
) -> Evaluation:
    """Score `strategies`, by default those of the matrix, on the answer key `questions` over the documents in `corpus`.

    `corpus` and `questions` stand for those of `settings`. `strategies`, `metrics`, `types` and `ids` may each be one text,
    as the command has it, with commas between them. `metrics` are computed beside the standard ones, and so are those that
    rules of `thresholds` ask for, one file or several. `types` and `ids` keep only some questions. What foreign retrievers
    reply is written or replayed as `settings` say. `progress` is told of long steps, `observe` of the questions and of each
    index.

    Raises a DocMindError where something is wrong with what was given; a question on which a strategy fails is an error in
    its results instead.
    """
    found = _settings(settings, corpus=corpus, questions=questions)
    for argument, call in (("progress", progress), ("observe", observe)):
        if not callable(call):
            raise UsageError(f"{argument}: {reprlib.repr(call)} was given; expected: what can be called.")
    named = scored(found)
    chosen = (
        named.matrix if strategies is None else tuple(dict.fromkeys(map(named.find, _names("strategies", strategies))))
    )
    if not chosen:
        raise UsageError(
            "no strategy was given. Name at least one, such as headers+rerank, or none to score the matrix."
        )
    demanded = tuple(map(measure, _names("metrics", metrics)))
    held = () if thresholds is None else _thresholds(thresholds)
    replies = Replies(found.record, found.replay)
    with Searcher(found, lambda: load_models(found.profile), progress, observe, shared=True) as searcher:
        key = load_questions(
            found.questions,
            searcher.documents.values(),
            types=_some("types", types),
            ids=_some("ids", ids),
            why_left_out=searcher.why_left_out,
        )
        answerable(key.questions)  # refuses a key without gold before any work
        notes = () if all(each.foreign for each in chosen) else tuple(_notes(searcher, key))
        observe(Loaded(key.questions))
        told, material = Evaluating(searcher, key, demanded, held, notes, replies, progress).results(chosen)
        return Evaluation(told, material, found)


def open(corpus: Place | None = None, *, settings: Settings | None = None, progress: Progress = quiet) -> Searcher:
    """A searcher over the documents in `corpus`, by any strategy; close it, or use it in a `with`. Raises CorpusError."""
    found = _settings(settings, corpus=corpus)
    return Searcher(found, lambda: load_models(found.profile), progress)


def read(path: Place) -> Record:
    """The record in a latest.json or a baseline.json. Raises StorageError where it is none."""
    return read_record(_path("path", path))


def compare(old: Evaluation | Record | Place, new: Evaluation | Record | Place) -> Comparison:
    """`new` held against `old`, each a run, a record or the file of one: what was lost and gained, and what differs. It
    judges nothing."""
    before, after = (side.record if isinstance(side, Evaluation) else _record(side) for side in (old, new))
    return comparing.compare(before, after)


def _notes(searcher: Searcher, key: AnswerKey) -> Iterator[str]:
    """What the models cannot read of documents and questions. Of questions each is warned of as it is asked."""
    tokenizer = searcher.embedder.tokenizer
    if unread := unread_letters((document.text for document in searcher.documents.values()), tokenizer):
        logger.warning("%s", unread)
        yield unread
    if cut := cut_questions(key.questions, tokenizer):
        yield cut


def _names(argument: str, given: str | Sequence[str]) -> Sequence[str]:
    if isinstance(given, str):
        return names(given)
    listed = tuple(given) if isinstance(given, Iterable) and not isinstance(given, bytes) else (given,)
    if odd := [each for each in listed if not isinstance(each, str)]:
        raise UsageError(f"{argument}: {reprlib.repr(odd[0])} was given; expected: names, each a text.")
    return listed


def _some(argument: str, given: str | Sequence[str] | None) -> Sequence[str]:
    """The names that a filter lets through, empty for all. Raises UsageError where one was made that lets none through."""
    if given is None:
        return ()
    if not (found := [name for name in _names(argument, given) if name.strip()]):
        raise UsageError(f"{argument}: {reprlib.repr(given)} names none. Give at least one, or None for all questions.")
    return found


def _path(argument: str, given: Place) -> Path:
    if not isinstance(given, str | Path):
        raise UsageError(f"{argument}: {reprlib.repr(given)} was given; expected: a path.")
    return Path(given)


def _folder(argument: str, given: Place | None) -> Path | None:
    return None if given is None else _path(argument, given)


def _settings(settings: Settings | None, *, corpus: Place | None = None, questions: Place | None = None) -> Settings:
    """`settings`, by default all that is usual, with the places that are given."""
    found = Settings() if settings is None else settings
    if not isinstance(found, Settings):
        raise UsageError(f"settings: {reprlib.repr(settings)} was given; expected: a docmind.Settings.")
    return replace(
        found,
        corpus=found.corpus if corpus is None else _path("corpus", corpus),
        questions=found.questions if questions is None else _path("questions", questions),
    )


def _record(given: Record | Place) -> Record:
    return given if isinstance(given, Record) else read(given)


def _thresholds(given: Place | Thresholds | Sequence[Thresholds]) -> tuple[Thresholds, ...]:
    if isinstance(given, str | Path):
        return (read_thresholds(Path(given)),)
    found = (given,) if isinstance(given, Thresholds) else tuple(given)
    if odd := [each for each in found if not isinstance(each, Thresholds)]:
        raise UsageError(
            f"thresholds: {reprlib.repr(odd[0])} was given; expected: a path, or thresholds that were read."
        )
    return found


def _file(argument: str, given: Thresholds | Record | Place | None, usual: Path) -> Path:
    """Where the file of an argument stands that may be what the file holds."""
    return usual if given is None or isinstance(given, Thresholds | Record) else _path(argument, given)
