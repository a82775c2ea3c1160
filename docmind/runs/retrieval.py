"""Evaluations of retrieval: documents, answer key and strategies joined to a record, its reports and its verdict.

The command line, the page and whoever writes `import docmind` come in here; nothing is computed elsewhere.
"""

from __future__ import annotations

import logging
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from docmind.config import Settings
from docmind.errors import UsageError
from docmind.evaluation.gate import compare as comparing
from docmind.evaluation.gate.compare import Comparison
from docmind.evaluation.gate.thresholds import Thresholds, read_thresholds
from docmind.evaluation.gate.verdict import Verdict, check_must_pass, judge
from docmind.evaluation.key.dataset import AnswerKey, load_questions
from docmind.evaluation.record.baseline import read_baseline
from docmind.evaluation.record.instrument import instrument
from docmind.evaluation.record.reading import read_record
from docmind.evaluation.record.results import Graded, results
from docmind.evaluation.record.types import Record, StrategyResult
from docmind.evaluation.reports import Material
from docmind.evaluation.scoring.asking import check_depth, run
from docmind.evaluation.scoring.attribution import Winners, Winning, ceiling, lost_at, shown_by
from docmind.evaluation.scoring.latency import Latency, latency, sample
from docmind.evaluation.scoring.leakage import Leakage, leakage
from docmind.evaluation.scoring.measures import Measure, depth, measure, standard
from docmind.evaluation.scoring.score import answerable, score, with_undefined
from docmind.models import load as load_models
from docmind.models.vocabulary import cut_questions, unread_letters
from docmind.protocols import Progress, Tokenizer
from docmind.retrieval.collection import Built
from docmind.retrieval.fingerprint import treatment
from docmind.retrieval.searcher import Searcher, ignore, quiet
from docmind.retrieval.strategies import Strategy, read_strategies
from docmind.runs import saving
from docmind.spec import names
from docmind.types import Question, Run

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger(__name__)

Place = str | Path


@dataclass(frozen=True, slots=True)
class Loaded:
    """An observer is told of the questions that are going to be asked, before any work; it may raise to end the run."""

    questions: tuple[Question, ...]


LATENCY_SAMPLE = 20
"""Questions of which the time is taken, a strategy; the first is asked once beforehand, to warm up."""


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
        """A row a strategy, a column a metric, and `ms`, the median of a query in milliseconds where it was taken."""
        import pandas as pd

        return self.record.to_pandas().assign(ms=pd.Series(self.material.medians, dtype=float))

    def __repr__(self) -> str:
        return str(self.to_pandas().to_string())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(self.to_pandas().to_html())

    def check(
        self,
        thresholds: Place | Thresholds | None = None,
        baseline: Place | Record | None = None,
    ) -> Verdict:
        """The verdict of the gate on this run, by default by the thresholds and the baseline of its settings.

        Raises UsageError where the thresholds are wrong, IncompleteError where there is no baseline, BaselineError where
        it is none.
        """
        held = _thresholds(self.settings.thresholds if thresholds is None else thresholds)
        check_must_pass(held, self.material.questions)
        reference = _record(self.settings.baseline if baseline is None else baseline, read_baseline)
        return judge(self.record, reference, held, read_strategies(self.settings.strategies).gate)

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
    thresholds: Place | Thresholds | None = None,
    types: str | Sequence[str] | None = None,
    ids: str | Sequence[str] | None = None,
    settings: Settings | None = None,
    progress: Progress = quiet,
    observe: Callable[[Built | Loaded], object] = ignore,
) -> Evaluation:
    """Score `strategies`, by default those of the matrix, on the answer key `questions` over the documents in `corpus`.

    `corpus` and `questions` stand for those of `settings`. `strategies`, `metrics`, `types` and `ids` may each be one text,
    as the command has it, with commas between them. `metrics` are computed beside the standard ones, and so
    are those that rules of `thresholds` ask for. `types` and `ids` keep only some questions. `progress` is told of long
    steps, `observe` of the questions and of each index.

    Raises a DocMindError where something is wrong with what was given; a question on which a strategy fails is an error in
    its results instead.
    """
    found = _settings(settings, corpus=corpus, questions=questions)
    for argument, call in (("progress", progress), ("observe", observe)):
        if not callable(call):
            raise UsageError(f"{argument}: {reprlib.repr(call)} was given; expected: what can be called.")
    named = read_strategies(found.strategies)
    chosen = (
        named.matrix if strategies is None else tuple(dict.fromkeys(map(named.find, _names("strategies", strategies))))
    )
    if not chosen:
        raise UsageError(
            "no strategy was given. Name at least one, such as headers+rerank, or none to score the matrix."
        )
    demanded = tuple(map(measure, _names("metrics", metrics)))
    held = None if thresholds is None else _thresholds(thresholds)
    with Searcher(found, load_models(found.profile), progress, observe, shared=True) as searcher:
        key = load_questions(
            found.questions,
            searcher.documents.values(),
            types=_some("types", types),
            ids=_some("ids", ids),
            why_left_out=searcher.why_left_out,
        )
        answerable(key.questions)  # refuses a key without gold before any work
        notes = tuple(_notes(searcher, key))
        observe(Loaded(key.questions))
        return _Evaluating(searcher, key, demanded, notes, progress, held).evaluation(chosen)


def open(corpus: Place | None = None, *, settings: Settings | None = None, progress: Progress = quiet) -> Searcher:
    """A searcher over the documents in `corpus`, by any strategy; close it, or use it in a `with`. Raises CorpusError."""
    found = _settings(settings, corpus=corpus)
    return Searcher(found, load_models(found.profile), progress)


def read(path: Place) -> Record:
    """The record in a latest.json or a baseline.json. Raises StorageError where it is none."""
    return read_record(_path("path", path))


def compare(old: Evaluation | Record | Place, new: Evaluation | Record | Place) -> Comparison:
    """`new` held against `old`, each a run, a record or the file of one: what was lost and gained, and what differs. It
    judges nothing."""
    before, after = (side.record if isinstance(side, Evaluation) else _record(side, read_record) for side in (old, new))
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


def _record(given: Record | Place, reader: Callable[[Path], Record]) -> Record:
    return given if isinstance(given, Record) else reader(_path("path", given))


def _thresholds(given: Thresholds | Place) -> Thresholds:
    return given if isinstance(given, Thresholds) else read_thresholds(_path("thresholds", given))


class _Counting:
    """Counts the tokens of a text once, though many strategies show it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, int] = {}

    def all(self, texts: Iterable[str]) -> None:
        """Count those that are not known yet, together."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, self._tokenizer.counts(new), strict=True))

    def __call__(self, text: str) -> int:
        return self._known[text]


@dataclass(frozen=True, slots=True)
class _Evaluating:
    """One evaluation on its way. `demanded` are the metrics that were asked for: a strategy whose list is too short for
    one of them is refused, while a standard one is then not defined. `held` has rules that ask for more, each of its
    strategy. `notes` limit what its figures say."""

    searcher: Searcher
    key: AnswerKey
    demanded: Sequence[Measure]
    notes: tuple[str, ...]
    progress: Progress
    held: Thresholds | None = None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Everything that is measured, in the order in which it is told."""
        return tuple(dict.fromkeys([*standard(), *self.demanded, *(self.held.measures if self.held else ())]))

    def evaluation(self, chosen: Sequence[Strategy]) -> Evaluation:
        """Everything that can be found out about `chosen`."""
        searcher, key = self.searcher, self.key
        graded, relevant = self._grade(chosen)
        timings = self._time([s for s, g in zip(chosen, graded, strict=True) if not g.scores.errors])
        documents = searcher.documents
        record = results(
            graded,
            key.questions,
            instrument=instrument(key, tuple(documents.values()), self.measures),
            treatment=treatment(searcher.models, chosen),
            leakage=self._leakage(chosen, graded),
            left_out=key.left_out,
        )
        path = searcher.settings.questions
        material = Material(
            record=record,
            timings=timings,
            questions=key.questions,
            documents=documents,
            relevant=relevant,
            key=saving.in_repository(path) or path.as_posix(),
            link=saving.link(path),
            notes=self.notes,
            corpus=searcher.settings.corpus.as_posix(),
            commit=saving.commit(),
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        )
        return Evaluation(record, material, searcher.settings)

    def _grade(self, chosen: Sequence[Strategy]) -> tuple[list[Graded], dict[str, Winning]]:
        """The grades of each strategy, and which chunks could have won what, by strategy."""
        searcher, questions = self.searcher, self.key.questions
        searcher.embedder.embed_queries([question.text for question in questions])
        count = _Counting(searcher.embedder.tokenizer)
        winners = Winners(questions)
        asked_for = depth(self.measures)
        graded, relevant = [], {}
        retrievers = [searcher.retriever(wanted) for wanted in chosen]
        for wanted, retriever in zip(chosen, retrievers, strict=True):  # all, before the first is asked anything
            of_rules = self.held.measures_of(wanted.name) if self.held else ()
            check_depth(wanted.name, retriever.depth, (*self.demanded, *of_rules))
        for wanted, retriever in zip(chosen, retrievers, strict=True):
            with self.progress(f"{wanted.name}: asking", len(questions)) as advance:
                asked = run(wanted.name, retriever, questions, asked_for, advance)
            winning = winners.among(searcher.collection(wanted.chunker).chunks, shown_by(retriever))
            lost = {
                outcome.question_id: lost_at(outcome, question, winning)
                for outcome, question in zip(asked.outcomes, questions, strict=True)
            }
            count.all(hit.text for outcome in asked.outcomes if outcome.ranking for hit in outcome.ranking.hits)
            fitting = [measure for measure in self.measures if measure.depth <= asked.depth]
            scores = with_undefined(score(asked, questions, fitting, count), self.measures)
            graded.append(
                Graded(asked, wanted.chunker.label, wanted.mode.label, scores, ceiling(winning, questions), lost)
            )
            relevant[wanted.name] = winning
        return graded, relevant

    def _time(self, whole: Sequence[Strategy]) -> dict[str, Latency]:
        """How long queries take, apart from the scoring, where each is asked of retrievers that share nothing."""
        queries = [question.query for question in sample(self.key.questions, LATENCY_SAMPLE)]
        timings = {}
        with self.progress("taking the time", len(whole)) as advance:
            for wanted in whole:
                retriever = self.searcher.alone(wanted)
                retriever.retrieve(queries[0], depth(self.measures))
                self.searcher.embedder.forget_queries()
                timings[wanted.name] = latency(retriever, queries, depth(self.measures))
                advance(1)
        return timings

    def _leakage(self, chosen: Sequence[Strategy], graded: Sequence[Graded]) -> Leakage:
        """For each chunker with a vector strategy its run with BM25 beside that with vectors."""
        pairs: dict[str, tuple[Run, Run]] = {}
        for s, g in zip(chosen, graded, strict=True):
            if s.mode.label == "vector":
                words = self.searcher.retriever(self.searcher.find(f"{s.chunker.label}+bm25"))
                pairs[s.chunker.label] = (run("bm25", words, self.key.questions), g.run)
        texts = {doc_id: document.text for doc_id, document in self.searcher.documents.items()}
        return leakage(self.key.questions, texts, pairs)
