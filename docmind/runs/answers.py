"""A run of answers: every question through retrieval, answerer and judge, kept row by row, so that it can go on.

Progress and observers are passed in; what is said of a run is for others.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from docmind.errors import IncompleteError, LanguageModelError, UsageError
from docmind.evaluation.key.dataset import AnswerKey
from docmind.evaluation.record.answerrows import Kept, Keys, Row, read_rows, span_judge
from docmind.evaluation.record.answers import AnswersRecord, Fingerprint, written
from docmind.evaluation.record.grades import sheet
from docmind.evaluation.record.instrument import question_hashes
from docmind.evaluation.reports.answers import COMMENT, failed
from docmind.evaluation.scoring.answermetrics import ANSWER_METRICS, JudgedAnswer, measured
from docmind.evaluation.scoring.answers import check_judge, span_verdict, stratified
from docmind.evaluation.scoring.summary import summary
from docmind.files import append_line, write_atomic
from docmind.generation.answer import answerer
from docmind.generation.context import PASSAGES, passages
from docmind.generation.extractive import Extractive
from docmind.generation.fingerprint import fingerprint
from docmind.generation.judge import JudgementError, judge
from docmind.generation.whole import Whole
from docmind.models.vocabulary import unread_letters
from docmind.protocols import LLM, Answerer, Progress, Retriever
from docmind.retrieval.searcher import Searcher, quiet
from docmind.retrieval.strategies import Strategy
from docmind.types import Answer, Completion, Question, Ranking, Usage

logger = logging.getLogger(__name__)

IN_A_ROW = 3
"""Questions that end in an error, one after another, before a run ends: a wrong key, a server out of reach, a spent quota or
a judge that does not keep to the form would leave the rest without a verdict too, after minutes of waiting and paying."""

ROWS, RECORD, REFERENCE = "latest.answers.jsonl", "latest.answers.json", "answers.json"
"""The files of a run in its folder: what it goes on from, what it found, and the committed one."""


@dataclass(frozen=True, slots=True)
class AnswersRequest:
    """Who answers and who judges, and which questions.

    `strategy` finds the passages; `provider` is one of ANSWERERS and `model` its model, the default if None. `judge` is
    None where spans decide. Of the questions, `sample` are drawn by type with a seed, and of those the first `limit` are
    asked; None means all. `anew` uses no earlier row: a gate trusts no file that can be edited.
    """

    strategy: Strategy
    provider: str = Extractive.name
    model: str | None = None
    judge: LLM | None = None
    limit: int | None = None
    sample: int | None = None
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Spent:
    """`usage` was paid to `model`, named as by LLM.name."""

    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Settled:
    """A question has its `row`; `again`: it is of an earlier run."""

    row: Row
    again: bool


Observe = Callable[[Spent | Settled], object]
"""Told of each event as it happens, in the order of asking."""


@dataclass(slots=True)
class Tally:
    """An observer that counts. Handed in, it tells what an interrupted run has cost."""

    spent: dict[str, Usage] = field(default_factory=dict)
    reused: int = 0

    def __call__(self, event: Spent | Settled) -> None:
        """Count `event`."""
        if isinstance(event, Spent):
            self.spent[event.model] = self.spent.get(event.model, Usage()) + event.usage
        else:
            self.reused += event.again


@dataclass(frozen=True, slots=True)
class AnswersRun:
    """What was found: a row a question of `questions`, in their order, and the record of them. `spent` are tokens by model,
    `reused` how many rows are of an earlier run."""

    questions: tuple[Question, ...]
    rows: tuple[Row, ...]
    record: AnswersRecord
    spent: Mapping[str, Usage]
    reused: int

    @property
    def failed(self) -> tuple[Row, ...]:
        """The rows of questions that ended in an error."""
        return tuple(row for row in self.rows if row.error)

    @property
    def answerable(self) -> frozenset[str]:
        """The ids of the questions that have gold."""
        return frozenset(question.id for question in self.questions if question.gold)

    @property
    def mixed(self) -> tuple[str, ...]:
        """What stands in one table though servers say that several models made it, in words; () where all is of one."""
        kinds = {"Answers": [row.served for row in self.rows], "Verdicts": [row.judged_by for row in self.rows]}
        counts = {kind: Counter(filter(None, names)) for kind, names in kinds.items()}
        return tuple(
            f"{kind} of {len(models)} models stand in one table, though one name was asked for: "
            f"{', '.join(f'{name} ({n})' for name, n in sorted(models.items()))}. Move {ROWS} away to ask all of them anew."
            for kind, models in counts.items()
            if len(models) > 1
        )

    def save(
        self,
        folder: Path,
        *,
        reference: bool = False,
        grades: Path | None = None,
        graded: Sequence[Mapping[str, str]] = (),
        comment: str = "",
    ) -> None:
        """Write the record to `folder`, with `reference` as the committed one too; the gate's `comment`, if there is one; and,
        if there is a verdict, a sheet of answers to `grades`, where those of `graded` that have a grade stay. All or none;
        raises StorageError."""
        files = {folder / RECORD: written(self.record, seal=False)}
        if comment:
            files[folder / COMMENT] = comment
        if reference:
            files[folder / REFERENCE] = written(self.record, seal=True)
        if grades and any(row.verdict for row in self.rows):
            right = {q.id: q.answer if q.answer or not q.gold else "(see the evidence)" for q in self.questions}
            files[grades] = sheet(self.rows, right, graded)
        write_atomic(files)


def clear(folder: Path) -> None:
    """Take away the comment of an earlier run, before any work: its verdict would be taken for this one's."""
    (folder / COMMENT).unlink(missing_ok=True)


def save_failure(folder: Path, error: str, code: int) -> None:
    """Write the comment on a run that `error` ended with this exit code to `folder`. Raises StorageError."""
    write_atomic({folder / COMMENT: failed(error, code)})


def answer_questions(
    searcher: Searcher,
    key: AnswerKey,
    request: AnswersRequest,
    folder: Path,
    *,
    progress: Progress = quiet,
    observe: Observe | None = None,
) -> AnswersRun:
    """Answer and judge the questions of `key`, of the documents of `searcher`; rows are read from `folder` and written there
    as they are made.

    Raises UsageError where a model would judge itself, or where the searcher's model gives no token vectors for extractive
    answers, which passages shown whole are not; IncompleteError where IN_A_ROW questions, one after another, end in
    an error. A single one that does is a row without a verdict.
    """
    from docmind.index.build import version

    asked = _chosen(key, request)
    answering = answerer(request.provider, searcher, request.strategy, request.model)
    if answering.name == Whole.name:
        raise UsageError(
            f"{searcher.embedder.id} gives no token vectors, so there are no extractive answers to judge. Use the default "
            "profile, or a language model."
        )
    judging = request.judge
    if judging:
        check_judge(judging.name, answering.name)
    tally = Tally()

    def note(event: Spent | Settled) -> None:
        tally(event)
        if observe:
            observe(event)

    if unread := unread_letters(
        (document.text for document in searcher.documents.values()), searcher.embedder.tokenizer
    ):
        logger.warning("%s", unread)
    rules, judge_name = fingerprint(), judging.name if judging else span_judge()
    retriever = searcher.retriever(request.strategy)
    # An extractive answer comes of the token vectors in the index, as well as of its passages.
    made_by = f"{rules} {version(searcher.embedder)}" if request.provider == Extractive.name else rules
    asking = _Asking(retriever, answering, judging, judge_name, made_by, folder / ROWS, note)
    rows = asking.all(asked, progress, anew=request.anew)
    record = AnswersRecord(
        fingerprint=Fingerprint(
            questions=dict(question_hashes(asked, searcher.documents)),
            strategy=request.strategy.name,
            answerer=answering.name,
            judge=judging.name if judging else "span",
            code=rules,
            served=_distinct(row.served for row in rows),
            judged_by=_distinct(row.judged_by for row in rows),
        ),
        summary=summary(rows, asked, ANSWER_METRICS),
        verdicts={row.id: row.verdict for row in sorted(rows, key=lambda row: row.id)},
    )
    return AnswersRun(asked, tuple(rows), record, tally.spent, tally.reused)


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names) - {""}))


def _chosen(key: AnswerKey, request: AnswersRequest) -> tuple[Question, ...]:
    drawn = stratified(key.questions, request.sample) if request.sample else key.questions
    return drawn[: request.limit]


@dataclass(slots=True)
class _Asking:
    """Asks, judges and writes row by row, so that an interrupted run goes on where it stopped."""

    retriever: Retriever
    answerer: Answerer
    judge: LLM | None
    judge_name: str
    rules: str
    file: Path
    observe: Observe
    in_a_row: int = 0
    kept: dict[str, Row] = field(default_factory=dict)

    def all(self, questions: Sequence[Question], progress: Progress, *, anew: bool) -> list[Row]:
        """A row a question, in their order. Verdicts, and answers that want another judgement, are used again where
        nothing they come from changed, unless `anew`. What ended in an error before is asked last, so that it does not keep
        a run from the rest. Raises IncompleteError where IN_A_ROW others, one after another, end in one."""
        there = read_rows(self.file)
        self.kept = {row.key: row for row in there}
        known = Kept(() if anew else there)
        failed = {id_ for id_, row in {row.id: row for row in there}.items() if row.error}
        rows: dict[str, Row] = {}
        with progress("answering", len(questions)) as advance:
            for question in sorted(questions, key=lambda question: question.id in failed):
                rows[question.id] = self._one(question, known)
                if self.in_a_row >= IN_A_ROW and question.id not in failed:
                    settled = sum(row.verdict is not None for row in rows.values())
                    raise IncompleteError(
                        f"{IN_A_ROW} questions one after another ended in an error, {question.id} last: "
                        f"{rows[question.id].error} "
                        f"{settled} of {len(questions)} have a verdict, which is kept. Run the same command again: it goes "
                        "on from there."
                    )
                advance(1)
        return [rows[question.id] for question in questions]

    def _one(self, question: Question, known: Kept) -> Row:
        ranking = self.retriever.retrieve(question.query, PASSAGES)
        given = tuple((passage.hit.chunk.id, passage.hit.text) for passage in passages(ranking))
        keys = Keys(question, self.answerer.name, self.judge_name, self.rules, given)
        if found := known.verdict(keys):
            said = found.said(ranking, self.answerer.name)
            row = found.model_copy(update={"metrics": self._measured(question, said, ranking)})
            self.in_a_row = 0
        else:
            answered = known.answer(keys)
            row = self._made(keys, ranking, answered.said(ranking, self.answerer.name) if answered else None)
        self._keep(row)
        self.observe(Settled(row, again=found is not None))
        return row

    def _keep(self, row: Row) -> None:
        known = self.kept.get(row.key)
        if known is None or row != known.model_copy(update={"seconds": row.seconds}):
            append_line(self.file, row.model_dump_json())
            self.kept[row.key] = row

    def _made(self, keys: Keys, ranking: Ranking, answer: Answer | None) -> Row:
        question = keys.question
        told: dict[str, object]
        metrics: dict[str, float | None] = {}
        judged_by = ""

        def heard(reply: Completion) -> None:
            nonlocal judged_by
            judged_by = reply.served
            if self.judge:
                self._spend(self.judge.name, reply.usage)

        try:
            if answer is None:
                answer = self.answerer.answer(question.query, ranking)
                self._spend(self.answerer.name, answer.usage)
            metrics = self._measured(question, answer, ranking)
            if self.judge is None or not answer.citations:  # abstained or unsupported: no judge is needed to tell
                told = {"verdict": span_verdict(question, answer)}
            else:  # what was paid is kept, whatever becomes of the judgement
                unjudged = keys.of(answer.served)
                self._keep(Row.of(question, unjudged, answer, metrics=metrics, error="It is not judged yet."))
                told = dict(judge(self.judge, question, answer, heard))
        except JudgementError as error:
            told = {"error": str(error), "raw": error.raw}
        except LanguageModelError as error:
            paid = self.judge if answer is not None else None
            self._spend(paid.name if paid else self.answerer.name, error.usage)
            told = {"error": str(error)}
        self.in_a_row = self.in_a_row + 1 if "error" in told else 0
        of = keys.of(answer.served if answer else "", judged_by)
        return Row.of(question, of, answer, metrics=metrics, judged_by=judged_by, **told)

    def _measured(self, question: Question, answer: Answer | None, ranking: Ranking) -> dict[str, float | None]:
        """Of an answer that cites what is not among the passages none is defined, as where there is no answer."""
        if answer is None:
            return {}
        shown = tuple(passage.hit for passage in passages(ranking))
        return measured(JudgedAnswer.of(question, answer, shown), by_model=self.judge is not None)

    def _spend(self, model: str, usage: Usage) -> None:
        if usage != Usage():
            self.observe(Spent(model, usage))
