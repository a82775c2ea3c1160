"""`docmind eval` and `docmind diff`: scores strategies, judges the run, tells two runs apart. Nothing is computed here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from docmind.cli.common import (
    DEFAULTS,
    AcceptOption,
    BaseOption,
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
    check_outside,
    reported,
    say_built,
    say_unused,
    shown,
)
from docmind.cli.terminal import say, show, tell
from docmind.config import Settings
from docmind.corpus import load
from docmind.errors import IncompleteError, UsageError
from docmind.evaluation.gate.thresholds import read_thresholds
from docmind.evaluation.gate.verdict import Verdict, failing
from docmind.evaluation.key.dataset import read_written
from docmind.evaluation.reports.diff import flips
from docmind.evaluation.reports.diff import lines as difference
from docmind.evaluation.reports.diffpage import Side, render
from docmind.evaluation.reports.github import QUESTION_LENGTH
from docmind.evaluation.reports.inert import cut
from docmind.evaluation.reports.movements import changes, ranks
from docmind.evaluation.reports.reading import judged_by
from docmind.evaluation.reports.tables import by_type, matrix
from docmind.files import check_writable, write_atomic
from docmind.retrieval.collection import Built
from docmind.retrieval.strategies import Strategies, Strategy
from docmind.runs.base import scored, terms
from docmind.runs.retrieval import Evaluation, Loaded, compare, read
from docmind.runs.retrieval import evaluate as run_evaluation
from docmind.runs.saving import clear, save_failure
from docmind.spec import names
from docmind.text import plural


@reported(save_failure)
def evaluate(
    corpus: CorpusOption = DEFAULTS.corpus,
    questions: QuestionsOption = DEFAULTS.questions,
    out_dir: OutOption = DEFAULTS.out,
    index_dir: IndexOption = DEFAULTS.index_dir,
    profile: ProfileOption = DEFAULTS.profile,
    exclude: ExcludeOption = None,
    strategies: Annotated[
        str | None, typer.Option(help="Comma-separated names or specs; the matrix of the file if not given.")
    ] = None,
    strategies_file: StrategiesFileOption = DEFAULTS.strategies,
    metrics: Annotated[
        str | None, typer.Option(help="More metrics, comma-separated, such as recall@50,full@10.")
    ] = None,
    types: Annotated[list[str] | None, typer.Option("--type", help="Only questions of this type; repeatable.")] = None,
    ids: Annotated[list[str] | None, typer.Option("--id", help="Only this question; repeatable.")] = None,
    save_baseline: Annotated[bool, typer.Option("--save-baseline", help="Also write baseline.json.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Fail where accuracy was lost against the baseline.")] = False,
    baseline_file: Annotated[Path, typer.Option("--baseline", help="What --check compares with.")] = DEFAULTS.baseline,
    thresholds_file: ThresholdsOption = DEFAULTS.thresholds,
    record: Annotated[
        Path | None, typer.Option(help="Also write what retrievers of your own reply to this folder.")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(help="Take their replies from this folder instead of asking them.")
    ] = None,
    base: BaseOption = None,
    accept: AcceptOption = None,
    quiet: QuietOption = False,
) -> None:
    """Score the strategies against the answer key and write the results."""
    check_writable(out_dir)
    check_outside(out_dir, corpus)
    clear(out_dir)  # first of all: a verdict of an earlier run must not outlive whatever ends this one
    settings = Settings(
        corpus=corpus,
        questions=questions,
        strategies=strategies_file,
        out=out_dir,
        baseline=baseline_file,
        thresholds=thresholds_file,
        index_dir=index_dir,
        profile=profile,
        exclude=tuple(exclude or ()),
        record=record,
        replay=replay,
        base=base,
        accept=accept,
    )
    if (base or accept) and not check:
        raise UsageError("--base and --accept say what --check judges by. Give --check too.")
    known = scored(settings)
    chosen = _strategies(strategies, known)
    held = terms(settings) if check else None  # before any work: what is damaged or not there yet is told at once
    if check and save_baseline:
        raise UsageError("--check and --save-baseline together would replace what is compared with. Give one of them.")
    measured = held.thresholds if held else ()
    if save_baseline and thresholds_file.exists():  # a baseline is as deep as the rules that it will be held against
        measured = (read_thresholds(thresholds_file),)
    if save_baseline and (types or ids or not set(known.matrix) <= set(chosen)):
        raise UsageError(
            "--save-baseline needs the whole matrix and every question: leave out --strategies, --type, --id."
        )

    def observe(event: Built | Loaded) -> None:
        if isinstance(event, Loaded) and held:
            held.check(event.questions)
        if isinstance(event, Built) and not quiet:
            say_built(event)

    run = run_evaluation(
        strategies=[strategy.name for strategy in chosen],
        metrics=metrics or (),
        thresholds=measured,
        types=types or None,
        ids=ids or None,
        settings=settings,
        progress=shown(quiet),
        observe=observe,
    )
    verdict = held.verdict(run.record) if held else None
    run.judged(verdict).save(out_dir, baseline=save_baseline)
    if not quiet:
        say_unused(index_dir)
    _end(run, verdict, out_dir, save_baseline, quiet)


def _end(run: Evaluation, verdict: Verdict | None, out_dir: Path, save_baseline: bool, quiet: bool) -> None:
    """Tell what was found, and end as that asks for."""
    counts = run.record.counts
    if not quiet:
        show(matrix(run.record, run.material.medians))
        if types := by_type(run.record):
            show(types)
        asked = plural(counts.answerable, "answerable question")
        say(f"{asked}. Written to {out_dir}: latest.html to look at, latest.md, latest.json.")
    if verdict:
        _say_verdict(verdict, run)
        raise Judged(verdict.exit_code)
    if counts.errors:
        raise IncompleteError(
            f"the run is incomplete: {plural(counts.errors, 'answer')} ended in an error, and their strategies have no "
            f"metrics. {out_dir}/latest.md names them.{' So no baseline was saved.' if save_baseline else ''}"
        )


def _strategies(named: str | None, known: Strategies) -> tuple[Strategy, ...]:
    """Every part of a name is checked before any work."""
    if named is None:
        return known.matrix
    chosen = tuple(dict.fromkeys(map(known.find, names(named))))
    if not chosen:
        raise UsageError(f"--strategies {named!r} names none. Give at least one, such as headers+rerank.")
    return chosen


def diff(
    old: Annotated[Path, typer.Argument(metavar="A.json", help="A latest.json or baseline.json.")],
    new: Annotated[Path, typer.Argument(metavar="B.json", help="Another, which is held against it.")],
    page: Annotated[Path | None, typer.Option("--html", help="Also write it to this file, as a page.")] = None,
    corpus: Annotated[Path | None, typer.Option(help="The documents of B: the page then shows passages.")] = None,
    questions: Annotated[Path | None, typer.Option(help="The answer key: the page then shows questions.")] = None,
) -> None:
    """Tell which questions the second run lost and gained against the first. It judges nothing and ends with 0."""
    if not page and (corpus or questions):
        raise UsageError("--corpus and --questions are for the page. Name its file: --html FILE.")
    before, after = read(old), read(new)
    found = compare(before, after)
    for line in difference(found, after.types):
        say(line)
    if page:
        documents = {document.id: document for document in load(corpus)} if corpus else {}
        written = read_written(questions) if questions else ()
        sides = Side(old.as_posix(), before), Side(new.as_posix(), after)
        write_atomic({page: render(*sides, found, written, documents)})
        say(f"Written to {page}.")


def _say_verdict(verdict: Verdict, run: Evaluation) -> None:
    """Told even with --quiet: what the exit code says stands in words beside it."""
    for label, told in judged_by(verdict):
        tell(f"{label}: {told}")
    _say_comparison(verdict)
    _say_lost(verdict, run)
    for check in verdict.checks:
        for fall in check.falls:
            tell(f"  {check.of} of {check.strategy} fell on {fall.question_id}: rank {ranks(fall)}")
        tell(f"{check.sign}: {check.name}: {check.told}", None if check.passed else "red")
    tell(f"The gate: {verdict.headline}.", None if verdict.exit_code == 0 else "red")


def _say_lost(verdict: Verdict, run: Evaluation) -> None:
    """The questions for whose loss the gate failed."""
    lost = failing(verdict)
    questions = run.material.questions
    type_of = {question.id: question.type for question in questions if question.type is not None}
    for change in verdict.comparison.changes:
        if change.strategy in lost:
            for line in flips(change, type_of):
                tell(line)
    lost_anywhere = frozenset().union(*lost.values())
    for question in questions:
        if question.id in lost_anywhere:
            tell(f"{question.id} (line {question.line}): {cut(question.text, QUESTION_LENGTH)}")


def _say_comparison(verdict: Verdict) -> None:
    """What cannot be judged or compared, what differs, and what moved."""
    for reason in verdict.incomplete:
        tell(f"incomplete: {reason}", "red")
    for told in verdict.information:
        tell(f"for information: {told}")
    for told in verdict.comparison.differences:
        if not told.endswith(": same"):
            tell(f"differs from the baseline: {told}")
    for reason, ids in verdict.comparison.not_compared.items():
        tell(f"not compared, {reason}: {plural(len(ids), 'question')} ({', '.join(ids[:5])}{' …' * (len(ids) > 5)})")
    for told in changes(verdict):
        tell(told)
