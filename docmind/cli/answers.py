"""`docmind answers`: every question through retrieval and generation, and a verdict on each answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

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
    reported,
    shown,
)
from docmind.cli.terminal import say, show, tell
from docmind.config import Settings
from docmind.errors import IncompleteError, UsageError
from docmind.evaluation.gate.answers import differences, judge_answers
from docmind.evaluation.gate.check import Check, exit_code
from docmind.evaluation.gate.thresholds import AnswerThresholds, read_thresholds
from docmind.evaluation.key.dataset import load_questions
from docmind.evaluation.record.answers import read_reference
from docmind.evaluation.record.grades import agreement, read_sheet
from docmind.evaluation.reports.answers import VERDICT, comment, confidence, table
from docmind.evaluation.scoring.answers import VERDICTS
from docmind.files import check_writable
from docmind.generation.answer import ANSWERERS
from docmind.generation.extractive import Extractive
from docmind.generation.judge import judging_model
from docmind.llm import PROVIDERS
from docmind.llm.prices import cost
from docmind.models import load as load_models
from docmind.retrieval.searcher import Searcher
from docmind.retrieval.strategies import read_strategies
from docmind.runs.answers import RECORD, ROWS, AnswersRequest, AnswersRun, Tally, answer_questions, clear, save_failure
from docmind.text import plural
from docmind.types import Usage

JUDGES = ", ".join(f"of {name} {provider.judge}" for name, provider in PROVIDERS.items() if provider.judge)


@reported(save_failure)
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
    judge_model: Annotated[str | None, typer.Option(help=f"The judging model; {JUDGES} if not given.")] = None,
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
    clear(out_dir)
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
    judge = judging_model(judge_provider, judge_model) if judge_kind == "llm" else None
    settings = Settings(
        corpus=corpus,
        questions=questions,
        strategies=strategies_file,
        index_dir=index_dir,
        profile=profile,
        exclude=tuple(exclude or ()),
    )
    request = AnswersRequest(wanted, provider, model, judge, limit, sample, anew=check or save_baseline)
    tally = Tally()
    with Searcher(settings, load_models(profile), shown(quiet), shared=True) as searcher:
        key = load_questions(questions, searcher.documents.values(), why_left_out=searcher.why_left_out)
        try:
            run = answer_questions(searcher, key, request, out_dir, progress=shown(quiet), observe=tally)
        finally:  # an interrupted run has cost something too
            if not quiet:
                _show_spent(tally)
    checks: tuple[Check, ...] = ()
    changed: tuple[str, ...] = ()
    if bounds and reference:
        checks = judge_answers(run.record, reference, bounds, run.answerable)
        changed = differences(reference.fingerprint, run.record.fingerprint)
    run.save(
        out_dir,
        reference=save_baseline,
        grades=grades if graded else None,
        graded=kept,
        comment=comment(checks, changed) if checks else "",
    )
    if not quiet:
        _show(run, request, out_dir)
    if checks:
        _end(checks, changed)
    if failed := run.failed:
        raise IncompleteError(
            f"{plural(len(failed), 'question')} ended in an error, {failed[0].id} first: {failed[0].error} "
            "Run the same command again: only these are asked again."
        )


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


def _bounds(found: AnswerThresholds | None, path: Path) -> AnswerThresholds:
    if found is None:
        raise UsageError(f"{path}: has no key 'answers', which --check holds the answers to. Add it.")
    return found


def _show(run: AnswersRun, request: AnswersRequest, folder: Path) -> None:
    counts = run.record.summary
    show(table(counts))
    if counts.confidence.all.all:
        show(confidence(counts))
    say(f"Written to {folder / ROWS} and {folder / RECORD}.")
    for mixed in run.mixed:
        tell(f"warning: {mixed}", "yellow")
    if aloud := sum(bool(row.thought) for row in run.rows):
        say(
            f"{plural(aloud, 'answer')} with thoughts of the model before or in it, which are kept apart and not judged."
        )
    if cut := sum(row.cut for row in run.rows):
        say(f"{plural(cut, 'answer')} cut at the model's limit of tokens.")
    if request.judge is None and request.provider != Extractive.name:
        say(
            "Judged by spans: whether the passages that the model cites hold the evidence, not what its words say. "
            "--judge llm reads the words."
        )


def _show_spent(tally: Tally) -> None:
    if tally.reused:
        say(f"{plural(tally.reused, 'verdict')} used again from an earlier run.")
    for name, usage in tally.spent.items():
        say(
            f"{name.partition('/')[2]}: {usage.input_tokens} tokens in, {usage.output_tokens} out, {_price(name, usage)}."
        )


def _price(name: str, usage: Usage) -> str:
    price = cost(name, usage)
    return "cost unknown" if price is None else f"about ${price:.4f} at list prices"


def _end(checks: tuple[Check, ...], changed: tuple[str, ...]) -> None:
    for told in changed:
        if not told.endswith(": same"):
            tell(f"differs from the committed answers: {told}")
    for check in checks:
        tell(f"{check.sign}: {check.told}", None if check.passed else "red")
    code = exit_code(checks)
    tell(f"The gate on answers {VERDICT[code]}.")
    raise Judged(code)


def _show_agreement(grades: Path) -> None:
    if not grades.exists():
        raise IncompleteError(f"{grades} is not there. docmind answers writes it; --grades names another.")
    found = agreement(read_sheet(grades))
    if found is None:
        raise IncompleteError(
            f"{grades}: nothing is graded yet. Write a verdict into the column 'grade': {', '.join(VERDICTS)}."
        )
    value = (
        f"{found.kappa:.2f} (95 % interval {found.low:.2f} to {found.high:.2f}, bootstrap)"
        if found.telling
        else "says nothing: one side gives one verdict alone"
    )
    say(f"{plural(found.n, 'graded answer')}; raw agreement {100 * found.raw:.0f} %; Cohen's kappa {value}")
    for verdict in VERDICTS:
        say(f"  {verdict}: judge {found.judge[verdict]}, by hand {found.grade[verdict]}")
