"""`docmind answers`: every question through retrieval and generation, and a verdict on each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from docmind.cli.common import (
    DEFAULTS,
    CorpusOption,
    ExcludeOption,
    IndexOption,
    Judged,
    OutOption,
    ProfileOption,
    QuestionsOption,
    QuietOption,
    StrategiesFileOption,
    ThresholdsOption,
    check_answerer,
    check_outside,
    open_engine,
)
from docmind.cli.terminal import progress, say, show, tell
from docmind.config import Settings
from docmind.errors import IncompleteError, LanguageModelError, UsageError
from docmind.evaluation.gate.answers import judge_answers, read_reference
from docmind.evaluation.gate.thresholds import AnswerThresholds, read_thresholds
from docmind.evaluation.gate.verdict import Check, exit_code
from docmind.evaluation.key.dataset import AnswerKey, load_questions
from docmind.evaluation.record.answers import SCHEMA, Row, answer_key_of, read_rows, span_judge, verdict_key_of
from docmind.evaluation.record.grades import agreement, read_sheet, sheet
from docmind.evaluation.record.instrument import instrument
from docmind.evaluation.record.layout import dumps
from docmind.evaluation.record.results import sealed
from docmind.evaluation.reports.answers import confidence, table
from docmind.evaluation.scoring.answers import VERDICTS, check_judge, span_verdict, stratified, summary
from docmind.files import append_line, check_writable, write_atomic
from docmind.generation.answer import ANSWERERS, answerer
from docmind.generation.context import PASSAGES, passages
from docmind.generation.extractive import Extractive
from docmind.generation.fingerprint import fingerprint
from docmind.generation.judge import JudgementError, judge
from docmind.llm import PROVIDERS
from docmind.llm.prices import cost
from docmind.protocols import LLM, Answerer, Retriever
from docmind.retrieval.strategies import read_strategies
from docmind.text import plural
from docmind.types import Answer, Question, Ranking, Usage

JUDGES = {"mistral": "mistral-large-latest"}
"""The model that judges, by provider, where none is named: one that is larger than the one that answers."""

IN_A_ROW = 3
"""Questions that end in an error, one after another, before a run ends: a wrong key, a server out of reach, a spent quota or
a judge that does not keep to the form would leave the rest without a verdict too, after minutes of waiting and paying."""


def answers(
    corpus: CorpusOption = DEFAULTS.corpus,
    questions: QuestionsOption = DEFAULTS.questions,
    out_dir: OutOption = DEFAULTS.out,
    index_dir: IndexOption = DEFAULTS.index_dir,
    profile: ProfileOption = DEFAULTS.profile,
    exclude: ExcludeOption = None,
    strategy: Annotated[
        str | None, typer.Option(help="Which finds the passages; the production one if not given.")
    ] = None,
    provider: Annotated[str, typer.Option(help=f"Who answers: {', '.join(ANSWERERS)}.")] = Extractive.name,
    model: Annotated[str | None, typer.Option(help="The provider's model, if not its default.")] = None,
    judge_kind: Annotated[
        Literal["span", "llm"], typer.Option("--judge", help="Offline by spans, or a model.")
    ] = "span",
    judge_provider: Annotated[str, typer.Option(help="Provider of the judging model.")] = "mistral",
    judge_model: Annotated[
        str | None, typer.Option(help=f"The judging model; of mistral {JUDGES['mistral']} if not given.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Only so many, drawn by type with a seed.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Fail where answers became worse.")] = False,
    save_baseline: Annotated[bool, typer.Option("--save-baseline", help="Also write answers.json.")] = False,
    baseline_file: Annotated[Path, typer.Option("--baseline", help="What --check compares with.")] = DEFAULTS.answers,
    thresholds_file: ThresholdsOption = DEFAULTS.thresholds,
    strategies_file: StrategiesFileOption = DEFAULTS.strategies,
    grades_file: Annotated[
        Path | None,
        typer.Option("--grades", help=f"Answers to grade by hand, a CSV file: {DEFAULTS.grades}, or in --out."),
    ] = None,
    show_agreement: Annotated[
        bool, typer.Option("--agreement", help="Only tell how far the judge agrees with the grades.")
    ] = False,
    quiet: QuietOption = False,
) -> None:
    """Answer every question, judge the answers, and write the verdicts."""
    grades = grades_file or _own_sheet(questions, out_dir)
    if show_agreement:
        _show_agreement(grades)
        return
    check_answerer(provider, model)
    check_writable(out_dir)
    check_outside(out_dir, corpus)
    every = limit is None and sample is None
    graded = every and not check  # a gate, or a part of the key, has no sheet to grade
    if graded:
        check_writable(grades.parent)
    kept = read_sheet(grades) if graded else []
    thresholds = read_thresholds(thresholds_file) if check or strategy is None else None
    bounds = _bounds(thresholds.answers if thresholds else None, thresholds_file) if check else None
    reference = read_reference(baseline_file) if check else None
    _check_gate(check, save_baseline, whole=every and provider == Extractive.name and judge_kind == "span")
    wanted = read_strategies(strategies_file).find(strategy or (thresholds.production if thresholds else ""))
    llm = _judge(judge_provider, judge_model) if judge_kind == "llm" else None
    settings = Settings(
        corpus=corpus,
        questions=questions,
        strategies=strategies_file,
        index_dir=index_dir,
        profile=profile,
        exclude=tuple(exclude or ()),
    )
    with open_engine(settings, quiet) as engine:
        key = load_questions(questions, engine.documents)
        asked = _chosen(key, limit, sample)
        retriever = engine.retriever(wanted)
        answering = answerer(provider, engine, wanted.name, model)
        if llm:
            check_judge(llm.name, answering.name)
        judged_by = llm.name if llm else span_judge()
        run = _Run(retriever, answering, llm, judged_by, fingerprint(), out_dir / "latest.answers.jsonl")
        try:
            rows = run.all(asked, quiet, anew=check or save_baseline)
        finally:  # an interrupted run has cost something too
            if not quiet:
                _show_spent(run)
        hashes = instrument(replace(key, questions=asked), engine.documents)["questions"]
        found: dict[str, Any] = {
            "schema": SCHEMA,
            "fingerprint": {
                "questions": hashes,
                "strategy": wanted.name,
                "answerer": answering.name,
                "judge": llm.name if llm else "span",
                "code": run.rules,
            },
            "summary": summary(rows, asked),
            "verdicts": {row.id: row.verdict for row in sorted(rows, key=lambda row: row.id)},
        }
    files = {out_dir / "latest.answers.json": dumps(found)}
    if save_baseline:
        files[out_dir / "answers.json"] = dumps(sealed(found))
    if graded and any(row.verdict for row in rows):
        files[grades] = sheet(
            rows, {q.id: q.answer if q.answer or not q.gold else "(see the evidence)" for q in asked}, kept
        )
    write_atomic(files)
    if not quiet:
        _show(found["summary"], run, rows)
    if bounds and reference:
        _end(judge_answers(found, reference, bounds, {question.id for question in asked if question.gold}))
    if failed := [row for row in rows if row.error]:
        raise IncompleteError(
            f"{plural(len(failed), 'question')} ended in an error, {failed[0].id} first: {failed[0].error} "
            "Run the same command again: only these are asked again."
        )


@dataclass(slots=True)
class _Run:
    """Asks, judges and writes row by row, so that an interrupted run goes on where it stopped."""

    retriever: Retriever
    answerer: Answerer
    judge: LLM | None
    judged_by: str
    rules: str
    file: Path
    spent: dict[str, Usage] = field(default_factory=dict)
    reused: int = 0
    in_a_row: int = 0
    kept: dict[str, Row] = field(default_factory=dict)

    def all(self, questions: Sequence[Question], quiet: bool, *, anew: bool) -> list[Row]:
        """A row a question, in their order. Verdicts, and answers that want another judgement, are used again where
        nothing they come from changed; with `anew` none is, since a gate trusts no file that can be edited. What ended in an
        error before is asked last, so that it does not keep a run from the rest. Raises IncompleteError where IN_A_ROW
        others, one after another, end in one."""
        self.kept = {row.key: row for row in read_rows(self.file)}
        known = () if anew else self.kept.values()
        judged = {row.key: row for row in known if row.verdict}
        answered = {row.answer_key: row for row in known if row.answer is not None}
        failed = {row.id for row in self.kept.values() if row.error}
        rows: dict[str, Row] = {}
        with nullcontext(lambda done: None) if quiet else progress("answering", len(questions)) as advance:
            for question in sorted(questions, key=lambda question: question.id in failed):
                rows[question.id] = self._one(question, judged, answered)
                if self.in_a_row >= IN_A_ROW and question.id not in failed:
                    there = sum(row.verdict is not None for row in rows.values())
                    raise IncompleteError(
                        f"{IN_A_ROW} questions one after another ended in an error, {question.id} last: "
                        f"{rows[question.id].error} "
                        f"{there} of {len(questions)} have a verdict, which is kept. Run the same command again: it goes "
                        "on from there."
                    )
                advance(1)
        return [rows[question.id] for question in questions]

    def _one(self, question: Question, judged: Mapping[str, Row], answered: Mapping[str, Row]) -> Row:
        ranking = self.retriever.retrieve(question.query, PASSAGES)
        given = [(passage.hit.chunk.id, passage.hit.text) for passage in passages(ranking)]
        asked = answer_key_of(question, self.answerer.name, self.rules, given)
        key = verdict_key_of(question, asked, self.judged_by)
        if (found := judged.get(key)) and found.id == question.id:
            self.reused += 1
            self.in_a_row = 0
            return found
        said = answered[asked].said(ranking, self.answerer.name) if asked in answered else None
        row = self._made(question, ranking, (asked, key), said)
        self._keep(row)
        return row

    def _keep(self, row: Row) -> None:
        known = self.kept.get(row.key)
        if known is None or row != known.model_copy(update={"seconds": row.seconds}):
            append_line(self.file, row.model_dump_json())
            self.kept[row.key] = row

    def _made(self, question: Question, ranking: Ranking, keys: tuple[str, str], answer: Answer | None) -> Row:
        told: dict[str, Any]
        try:
            if answer is None:
                answer = self.answerer.answer(question.query, ranking)
                self._spend(answer.model, answer.usage)
            if self.judge is None or not answer.citations:  # abstained or unsupported: no judge is needed to tell
                told = {"verdict": span_verdict(question, answer)}
            else:  # what was paid is kept, whatever becomes of the judgement
                self._keep(Row.of(question, keys, answer, error="It is not judged yet."))
                told = dict(judge(self.judge, question, answer, self._spend))
        except JudgementError as error:
            told = {"error": str(error), "raw": error.raw}
        except LanguageModelError as error:
            self._spend(error.model, error.usage)
            told = {"error": str(error)}
        self.in_a_row = self.in_a_row + 1 if "error" in told else 0
        return Row.of(question, keys, answer, **told)

    def _spend(self, model: str, usage: Usage) -> None:
        self.spent[model] = self.spent.get(model, Usage()) + usage


def _own_sheet(questions: Path, out_dir: Path) -> Path:
    """The handbook's grades are committed beside its key; those of other questions lie with their results."""
    handbook = (questions, out_dir) == (DEFAULTS.questions, DEFAULTS.out)
    return DEFAULTS.grades if handbook else out_dir / DEFAULTS.grades.name


def _check_gate(check: bool, save_baseline: bool, *, whole: bool) -> None:
    if check and save_baseline:
        raise UsageError("--check and --save-baseline together would replace what is compared with. Give one of them.")
    if (check or save_baseline) and not whole:
        raise UsageError(
            "--check and --save-baseline are of the extractive answers to every question, judged by spans."
        )


def _judge(provider: str, model: str | None) -> LLM:
    if model is None and provider in PROVIDERS and provider not in JUDGES:
        raise UsageError(f"--judge-provider {provider} needs --judge-model: name a model that judges well.")
    return PROVIDERS[provider](model or JUDGES.get(provider))


def _chosen(key: AnswerKey, limit: int | None, sample: int | None) -> tuple[Question, ...]:
    drawn = stratified(key.questions, sample) if sample else key.questions
    return drawn[:limit]


def _bounds(found: AnswerThresholds | None, path: Path) -> AnswerThresholds:
    if found is None:
        raise UsageError(f"{path}: has no key 'answers', which --check holds the answers to. Add it.")
    return found


def _show(counts: dict[str, Any], run: _Run, rows: Sequence[Row]) -> None:
    show(table(counts))
    if counts["confidence"]["all"]["all"]:
        show(confidence(counts))
    say(f"Written to {run.file} and {run.file.with_suffix('.json')}.")
    if cut := sum(row.cut for row in rows):
        say(f"{plural(cut, 'answer')} cut at the model's limit of tokens.")
    if run.judge is None and run.answerer.name != Extractive.name:
        say(
            "Judged by spans: whether the passages that the model cites hold the evidence, not what its words say. "
            "--judge llm reads the words."
        )


def _show_spent(run: _Run) -> None:
    if run.reused:
        say(f"{plural(run.reused, 'verdict')} used again from an earlier run.")
    for model, usage in run.spent.items():
        if usage != Usage():
            price = cost(model, usage)
            dollars = "cost unknown" if price is None else f"about ${price:.4f} at list prices"
            say(f"{model}: {usage.input_tokens} tokens in, {usage.output_tokens} out, {dollars}.")


def _end(checks: tuple[Check, ...]) -> None:
    for check in checks:
        tell(f"{check.sign}: {check.told}", None if check.passed else "red")
    code = exit_code(checks)
    tell(
        f"The gate on answers {'passed' if code == 0 else 'failed' if code == 1 else 'could not judge the whole run'}."
    )
    raise Judged(code)


def _show_agreement(grades: Path) -> None:
    if not grades.exists():
        raise IncompleteError(f"{grades} is not there. docmind answers writes it; --grades names another.")
    found = agreement(read_sheet(grades))
    if found is None:
        raise IncompleteError(
            f"{grades}: nothing is graded yet. Write a verdict into the column 'grade': {', '.join(VERDICTS)}."
        )
    used = [sum(1 for counts in found["counts"].values() if counts[rater]) for rater in ("judge", "grade")]
    value = (
        f"{found['value']:.2f} (95 % interval {found['low']:.2f} to {found['high']:.2f}, bootstrap)"
        if min(used) > 1
        else "says nothing: one side gives one verdict alone"
    )
    say(f"{plural(found['n'], 'graded answer')}; raw agreement {100 * found['agreement']:.0f} %; Cohen's kappa {value}")
    for verdict, counts in found["counts"].items():
        say(f"  {verdict}: judge {counts['judge']}, by hand {counts['grade']}")
