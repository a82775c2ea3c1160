"""Foreign retrievers in an evaluation: asked with several at a time, recorded or replayed, graded, and asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from docmind.errors import UsageError
from docmind.evaluation.record.results import Graded
from docmind.evaluation.record.types import ForeignResult, StepResult
from docmind.evaluation.reports.inert import cut
from docmind.evaluation.scoring.asking import check_depth, run
from docmind.evaluation.scoring.attribution import LostAt, Winners, Winning, lost_at
from docmind.evaluation.scoring.latency import Latency, sample, summed
from docmind.evaluation.scoring.measures import Measure, depth
from docmind.evaluation.scoring.score import score, with_undefined
from docmind.evaluation.scoring.spans import ranks
from docmind.foreign import open_source, recording
from docmind.foreign.asking import Asker
from docmind.foreign.declared import Declared
from docmind.foreign.placing import Placer
from docmind.foreign.reply import Source
from docmind.protocols import Progress
from docmind.retrieval.foreign import ForeignRetriever, asked
from docmind.retrieval.strategies import Strategy
from docmind.types import Chunk, Document, Gold, Hit, Outcome, Question, Run, Stage

LATENCY_SAMPLE = 20
"""Questions of which the time is taken, a strategy; of DocMind's own the first is asked once beforehand, to warm up."""

EXAMPLES = 3
EXAMPLE_LENGTH = 160
"""How many passages that could not be placed are told, and how many characters of each."""


@dataclass(frozen=True, slots=True)
class Replies:
    """Folders of replies: `record` is where they are written to, `replay` where they are taken from instead of asking.
    None: neither. Raises UsageError where both are given."""

    record: Path | None = None
    replay: Path | None = None

    def __post_init__(self) -> None:
        if self.record and self.replay:
            raise UsageError("record and replay were both given; what is replayed is recorded already. Give one.")


@dataclass(frozen=True, slots=True)
class Found:
    """What was found out about a strategy: its grades, which chunks win what, and how long it takes, None where that is
    not known."""

    graded: Graded
    winning: Winning
    latency: Latency | None = None


@dataclass(frozen=True)
class ForeignRuns:
    """What all foreign strategies of a run have in common. `demanded` gives the measures that the list of a strategy must be
    deep enough for."""

    documents: Mapping[str, Document]
    questions: Sequence[Question]
    measures: Sequence[Measure]
    demanded: Callable[[str], Sequence[Measure]]
    replies: Replies
    progress: Progress

    @cached_property
    def placer(self) -> Placer:
        """Made once, when the first foreign strategy is opened."""
        return Placer(self.documents.values())

    def open(self, strategy: Strategy) -> ForeignRun:
        """Raises UsageError where it cannot be asked or its list is too short, StorageError and IncompleteError where a
        recording is none or does not fit."""
        return ForeignRun(self, strategy)


class ForeignRun:
    """One foreign strategy in an evaluation. Close it, so that its processes and connections are let go of."""

    def __init__(self, all_: ForeignRuns, strategy: Strategy) -> None:
        if strategy.foreign is None:
            raise ValueError(f"{strategy.name} is no foreign strategy")
        check_depth(strategy.name, strategy.foreign.depth, all_.demanded(strategy.name))
        self._all = all_
        self._strategy = strategy
        self._declared: Declared = strategy.foreign
        self._k = depth(all_.measures)
        self._asked = {q.id: asked(q.query, self._k, q.id) for q in all_.questions}
        self._source = self._open()
        self._asker = Asker(self._source, self._declared.workers)

    def _open(self) -> Source:
        if (folder := self._all.replies.replay) is None:
            return open_source(self._declared)
        path = recording.recording(folder, self._strategy.slug)
        recorded = recording.Recorded(path, self._strategy.name, self._declared)
        recorded.check(self._asked.values())
        return recorded

    @property
    def treatment(self) -> Mapping[str, str]:
        """What of it may change what is found, as far as it is known: what the user states, and what it says of itself."""
        versions = sorted({reply.version for reply in self._asker.replies.values() if reply.version})
        return {
            "kind": self._declared.kind,
            "version": self._declared.version,
            **self._source.treatment,
            **({"served": ", ".join(versions)} if versions else {}),
        }

    def found(self) -> Found:
        """Ask it every question, and a few again where it is asked now."""
        asking, strategy = self._all, self._strategy
        with asking.progress(f"{strategy.name}: asking", len(self._asked)) as advance:
            self._asker.ask(tuple(self._asked.values()), advance)
        if asking.replies.record:
            path = recording.recording(asking.replies.record, strategy.slug)
            recording.write(path, strategy.name, self._declared, self._asker.replies, len(self._asker.errors))
        done = self._run()
        winning = self._winning(done)
        lost = {
            o.question_id: self._lost_at(o, q, winning) for o, q in zip(done.outcomes, asking.questions, strict=True)
        }
        # Nobody knows by which tokenizer its reader counts, so hit@ktok is not defined.
        fitting = [m for m in asking.measures if m.depth <= done.depth and not m.counts_tokens]
        scores = with_undefined(score(done, asking.questions, fitting, lambda text: 0), asking.measures)
        seconds, unstable = self._again() if not scores.errors else ((), ())
        graded = Graded(
            run=done,
            chunker=strategy.chunker.label,
            mode=strategy.mode.label,
            scores=scores,
            ceiling=None,
            lost_at=lost,
            foreign=self._known(done, len(seconds), unstable),
            steps=_steps(done, asking.questions),
        )
        return Found(graded, winning, summed(seconds) if seconds else None)

    def close(self) -> None:
        """Let go of what it is asked through."""
        self._source.close()

    def _run(self) -> Run:
        """Its outcomes, from the replies that there are."""
        asking, strategy = self._all, self._strategy
        ids = {question.query: question.id for question in asking.questions}
        depth = self._declared.depth
        retriever = ForeignRetriever(strategy.name, depth, self._asker.reply, asking.placer, asking.documents, ids)
        return run(strategy.name, retriever, asking.questions, self._k)

    def _winning(self, done: Run) -> Winning:
        """Among all that it brought for any question; what else it has is not known."""
        brought = {chunk.id: chunk for o in done.outcomes for chunk in _chunks(o)}
        return Winners(self._all.questions).among(tuple(brought.values()), lambda chunk: chunk.shown)

    def _lost_at(self, outcome: Outcome, question: Question, winning: Winning) -> LostAt | None:
        """As of DocMind's own, but that no chunk could win is never known."""
        place = lost_at(outcome, question, winning)
        return "candidates" if place == "chunking" else place

    def _again(self) -> tuple[Sequence[float], Sequence[str]]:
        """Seconds of a sample of questions that are asked a second time, and the ids of those that got another reply."""
        if not self._source.live:
            return (), ()
        chosen = [self._asked[question.id] for question in sample(self._all.questions, LATENCY_SAMPLE)]
        with self._all.progress(f"{self._strategy.name}: asking again", len(chosen)) as advance:
            seconds, other = self._asker.again(chosen, advance)
        return seconds, [each.id or "" for each in other]

    def _known(self, done: Run, asked_again: int, unstable: Sequence[str]) -> ForeignResult:
        hits = [outcome.ranking.hits for outcome in done.outcomes if outcome.ranking]
        unplaced = [hit.text for found in hits for hit in found if not hit.shown]
        return ForeignResult(
            kind=self._declared.kind,
            passages=sum(map(len, hits)),
            unplaced=len(unplaced),
            examples=tuple(cut(" ".join(text.split()), EXAMPLE_LENGTH) for text in dict.fromkeys(unplaced))[:EXAMPLES],
            max_unplaced=self._declared.max_unplaced,
            few=sum(len(found) < done.depth for found in hits),
            asked_again=asked_again,
            unstable=tuple(unstable),
        )


def _chunks(outcome: Outcome) -> Iterator[Chunk]:
    if outcome.ranking:
        yield from (hit.chunk for hit in outcome.ranking.hits)
        for stage in outcome.ranking.stages:
            yield from stage.candidates


def _steps(done: Run, questions: Sequence[Question]) -> dict[str, tuple[StepResult, ...]]:
    """Of each question for which it searched more than once: what every step found by itself."""
    gold = {question.id: question.gold for question in questions}
    return {
        outcome.question_id: tuple(_step(stage, gold[outcome.question_id]) for stage in steps)
        for outcome in done.outcomes
        if outcome.ranking and (steps := [s for s in outcome.ranking.stages if s.role == "candidates"])[1:]
    }


def _step(stage: Stage, gold: Sequence[Gold]) -> StepResult:
    hits = [Hit(chunk, 0.0, rank) for rank, chunk in enumerate(stage.candidates, start=1)]
    return StepResult(query=stage.name, ranks=ranks(hits, gold))
