"""One evaluation on its way: every question asked of every strategy, graded, timed, and told as a record and its material."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime

from docmind.evaluation.gate.thresholds import Thresholds
from docmind.evaluation.key.dataset import AnswerKey
from docmind.evaluation.record.instrument import instrument
from docmind.evaluation.record.results import Graded, results
from docmind.evaluation.record.types import Record
from docmind.evaluation.reports import Material
from docmind.evaluation.reports.foreign import notes as foreign_notes
from docmind.evaluation.scoring.asking import check_depth, run
from docmind.evaluation.scoring.attribution import Winners, ceiling, lost_at, shown_by
from docmind.evaluation.scoring.latency import Latency, latency, sample
from docmind.evaluation.scoring.leakage import Leakage, leakage
from docmind.evaluation.scoring.measures import Measure, depth, standard
from docmind.evaluation.scoring.score import score, with_undefined
from docmind.protocols import Progress, Tokenizer
from docmind.retrieval.fingerprint import treatment
from docmind.retrieval.searcher import Searcher
from docmind.retrieval.strategies import Strategy
from docmind.runs import saving
from docmind.runs.base import rules
from docmind.runs.foreign import LATENCY_SAMPLE, ForeignRuns, Found, Replies
from docmind.types import Run

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Evaluating:
    """`demanded` are the metrics that were asked for: a strategy whose list is too short for one of them is refused, while
    a standard one is then not defined. `held` has rules that ask for more, each of its strategy. `notes` limit what its
    figures say. `replies` are those of foreign retrievers."""

    searcher: Searcher
    key: AnswerKey
    demanded: Sequence[Measure]
    held: Sequence[Thresholds]
    notes: tuple[str, ...]
    replies: Replies
    progress: Progress

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Everything that is measured, in the order in which it is told."""
        of_rules = [measure for held in self.held for measure in held.measures]
        return tuple(dict.fromkeys([*standard(), *self.demanded, *of_rules]))

    def _demanded(self, strategy: str) -> tuple[Measure, ...]:
        """What the list of `strategy` must be deep enough for."""
        return (*self.demanded, *(measure for held in self.held for measure in held.measures_of(strategy)))

    def results(self, chosen: Sequence[Strategy]) -> tuple[Record, Material]:
        """Everything that can be found out about `chosen`."""
        searcher, key, documents = self.searcher, self.key, self.searcher.documents
        own = [each for each in chosen if each.foreign is None]
        others = ForeignRuns(documents, key.questions, self.measures, self._demanded, self.replies, self.progress)
        with ExitStack() as opened:  # foreign ones first: what cannot be asked is told before any work
            foreign = {e.name: opened.enter_context(closing(others.open(e))) for e in chosen if e.foreign is not None}
            found = {**self._own(own), **{name: source.found() for name, source in foreign.items()}}
            treatments = {name: source.treatment for name, source in foreign.items()}
        graded = [found[each.name].graded for each in chosen]
        record = results(
            graded,
            key.questions,
            instrument=instrument(key, tuple(documents.values()), self.measures),
            treatment=treatment(searcher.models if own else None, chosen, treatments),
            leakage=self._leakage(own, [found[each.name].graded for each in own]),
            left_out=key.left_out,
            rules=rules(searcher.settings),
        )
        told = tuple(foreign_notes(record))
        for note in told:
            logger.warning("%s", note)
        path = searcher.settings.questions
        material = Material(
            record=record,
            timings={each.name: taken for each in chosen if (taken := found[each.name].latency)},
            questions=key.questions,
            documents=documents,
            relevant={each.name: found[each.name].winning for each in chosen},
            key=saving.in_repository(path) or path.as_posix(),
            link=saving.link(path),
            notes=(*self.notes, *told),
            corpus=searcher.settings.corpus.as_posix(),
            commit=saving.commit(),
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        )
        return record, material

    def _own(self, chosen: Sequence[Strategy]) -> Mapping[str, Found]:
        """What DocMind's own strategies find."""
        if not chosen:
            return {}
        searcher, questions = self.searcher, self.key.questions
        searcher.embedder.embed_queries([question.text for question in questions])
        count = _Counting(searcher.embedder.tokenizer)
        winners = Winners(questions)
        asked_for = depth(self.measures)
        found = {}
        retrievers = [searcher.retriever(wanted) for wanted in chosen]
        for wanted, retriever in zip(chosen, retrievers, strict=True):  # all, before the first is asked anything
            check_depth(wanted.name, retriever.depth, self._demanded(wanted.name))
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
            best = ceiling(winning, questions)
            graded = Graded(asked, wanted.chunker.label, wanted.mode.label, scores, best, lost)
            found[wanted.name] = Found(graded, winning)
        timings = self._time([wanted for wanted in chosen if not found[wanted.name].graded.scores.errors])
        return {name: Found(one.graded, one.winning, timings.get(name)) for name, one in found.items()}

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
