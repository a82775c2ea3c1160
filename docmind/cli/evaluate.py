"""`docmind eval` and `docmind diff`: scores strategies, judges the run, tells two runs apart. Nothing is computed here."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

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
    check_outside,
    open_engine,
    say_built,
)
from docmind.cli.terminal import say, show, tell
from docmind.config import DEPTH, Settings
from docmind.errors import IncompleteError, StorageError, UsageError
from docmind.evaluation.gate.compare import compare
from docmind.evaluation.gate.thresholds import Thresholds, read_thresholds
from docmind.evaluation.gate.verdict import Verdict, check_must_pass, failing, judge
from docmind.evaluation.key.dataset import AnswerKey, load_questions
from docmind.evaluation.record.baseline import baseline, read_baseline, read_run
from docmind.evaluation.record.instrument import instrument
from docmind.evaluation.record.layout import dumps
from docmind.evaluation.record.results import Graded, results
from docmind.evaluation.reports import REPORTS, Material
from docmind.evaluation.reports.diff import flips
from docmind.evaluation.reports.diff import lines as difference
from docmind.evaluation.reports.github import QUESTION_LENGTH
from docmind.evaluation.reports.inert import cut
from docmind.evaluation.reports.tables import matrix
from docmind.evaluation.scoring.asking import run
from docmind.evaluation.scoring.attribution import ceiling, lost_at, winners
from docmind.evaluation.scoring.latency import latency, sample
from docmind.evaluation.scoring.leakage import leakage
from docmind.evaluation.scoring.score import answerable, score
from docmind.files import check_writable, write_atomic
from docmind.retrieval.engine import Engine
from docmind.retrieval.fingerprint import treatment
from docmind.retrieval.ranking import CANDIDATES
from docmind.retrieval.strategies import Strategies, Strategy, mode, read_strategies
from docmind.spec import names as split
from docmind.text import plural
from docmind.types import Chunk, Question, Run

OWN_REPORTS = (
    "latest.comment.md",
    "latest.annotations.txt",
    "latest.*.run",
    "latest.*.qrels",
)
"""Reports that a run may leave out, where an earlier one may have written them. Nothing else in the folder is touched."""

LATENCY_SAMPLE = 20
"""Questions of which the time is taken, a strategy; the first is asked once beforehand, to warm up."""


def evaluate(
    corpus: CorpusOption = DEFAULTS.corpus,
    questions: QuestionsOption = DEFAULTS.questions,
    out_dir: OutOption = DEFAULTS.out,
    index_dir: IndexOption = DEFAULTS.index_dir,
    profile: ProfileOption = DEFAULTS.profile,
    exclude: ExcludeOption = None,
    strategies: Annotated[str | None, typer.Option(help="Comma-separated; the matrix if not given.")] = None,
    types: Annotated[list[str] | None, typer.Option("--type", help="Only questions of this type; repeatable.")] = None,
    ids: Annotated[list[str] | None, typer.Option("--id", help="Only this question; repeatable.")] = None,
    save_baseline: Annotated[bool, typer.Option("--save-baseline", help="Also write baseline.json.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Fail where accuracy was lost against the baseline.")] = False,
    baseline_file: Annotated[Path, typer.Option("--baseline", help="What --check compares with.")] = DEFAULTS.baseline,
    thresholds_file: ThresholdsOption = DEFAULTS.thresholds,
    strategies_file: StrategiesFileOption = DEFAULTS.strategies,
    quiet: QuietOption = False,
) -> None:
    """Score the strategies against the answer key and write the results."""
    known = read_strategies(strategies_file)
    chosen = _strategies(strategies, known)
    thresholds, reference = _references(thresholds_file, known, baseline_file) if check else (None, None)
    check_writable(out_dir)
    check_outside(out_dir, corpus)
    if check and save_baseline:
        raise UsageError("--check and --save-baseline together would replace what is compared with. Give one of them.")
    if save_baseline and (types or ids or not set(known.matrix) <= set(chosen)):
        raise UsageError(
            "--save-baseline needs the whole matrix and every question: leave out --strategies, --type, --id."
        )
    settings = Settings(
        corpus=corpus,
        questions=questions,
        out=out_dir,
        strategies=strategies_file,
        index_dir=index_dir,
        profile=profile,
        exclude=tuple(exclude or ()),
    )
    with open_engine(settings, quiet, shared=True) as engine:
        key = load_questions(questions, engine.documents, types=types or (), ids=ids or ())
        answerable(key.questions)  # refuses a key without gold before any work
        if thresholds:
            check_must_pass(thresholds, key.questions)
        graded = _grade(engine, chosen, key, quiet)
        whole = [wanted for wanted, strategy in zip(chosen, graded, strict=True) if not strategy.scores.errors]
        timings = _time(engine, whole, key, quiet)
        texts = {document.id: document.text for document in engine.documents}
        found = results(
            graded,
            key.questions,
            instrument=instrument(key, engine.documents),
            treatment=treatment(engine, chosen),
            leakage=leakage(key.questions, texts, _lexical(engine, chosen, graded, key)),
            left_out=key.left_out,
        )
        verdict = judge(found, reference, thresholds) if thresholds and reference else None
        material = Material(
            results=found,
            timings=timings,
            questions=key.questions,
            texts=texts,
            relevant={s.name: _relevant(engine.chunks(s.chunker), key.questions) for s in chosen},
            key=_in_repository(questions) or questions.as_posix(),
            link=_link(questions),
            verdict=verdict,
        )
    _write(material, out_dir, save_baseline)
    if not quiet:
        show(matrix(found, timings))
        written = f"Written to {out_dir}: latest.html to look at, latest.md, latest.json."
        asked = plural(found["counts"]["answerable"], "answerable question")
        say(f"{asked}. {written}")
    if verdict:
        _say_verdict(verdict, key)
        raise Judged(verdict.exit_code)
    if errors := found["counts"]["errors"]:
        raise IncompleteError(
            f"the run is incomplete: {plural(errors, 'answer')} ended in an error, and their strategies have no metrics. "
            f"{out_dir}/latest.md names them.{' So no baseline was saved.' if save_baseline else ''}"
        )


def _strategies(named: str | None, known: Strategies) -> tuple[Strategy, ...]:
    """Every part of the name is checked before any work."""
    if named is None:
        return known.matrix
    chosen = tuple(dict.fromkeys(map(known.find, split(named))))
    if not chosen:
        raise UsageError(f"--strategies {named!r} names none. Give at least one, such as headers+rerank.")
    return chosen


def diff(
    old: Annotated[Path, typer.Argument(metavar="A.json", help="A latest.json or baseline.json.")],
    new: Annotated[Path, typer.Argument(metavar="B.json", help="Another, which is held against it.")],
) -> None:
    """Tell which questions the second run lost and gained against the first. It judges nothing and ends with 0."""
    before, after = read_run(old), read_run(new)
    try:
        lines = list(difference(compare(before, after), after["types"]))
    except (
        KeyError,
        TypeError,
        AttributeError,
        ValueError,
    ) as error:  # a latest.json has no checksum to tell an edit by
        raise StorageError(
            f"{old} or {new} is no whole run ({type(error).__name__}: {error}). Make it anew: docmind eval."
        ) from error
    for line in lines:
        say(line)


def _references(thresholds_file: Path, known: Strategies, baseline_file: Path) -> tuple[Thresholds, dict[str, Any]]:
    """Read before any work, so that what is damaged or not there yet is told at once."""
    thresholds = read_thresholds(thresholds_file)
    known.find(thresholds.production)
    return thresholds, read_baseline(baseline_file)


def _relevant(chunks: Sequence[Chunk], questions: Sequence[Question]) -> dict[str, frozenset[str]]:
    return {question.id: winners(chunks, question) for question in questions}


def _in_repository(path: Path) -> str:
    """As links and annotations name it: from the current folder, which is the repository's; "" if it lies elsewhere."""
    whole, here = path.resolve(), Path.cwd()
    return whole.relative_to(here).as_posix() if whole.is_relative_to(here) else ""


def _link(key: Path) -> str:
    """Where the files of this commit stand on the web, if a GitHub Actions job says so and the answer key is one of them."""
    parts = [os.environ.get(name) for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")]
    server, repository, commit = parts
    return f"{server}/{repository}/blob/{commit}/" if all(parts) and _in_repository(key) else ""


def _grade(engine: Engine, chosen: Sequence[Strategy], key: AnswerKey, quiet: bool) -> list[Graded]:
    count = lru_cache(maxsize=None)(engine.embedder.tokenizer.count)
    graded = []
    for wanted in chosen:
        retriever = engine.retriever(wanted)
        if not quiet:
            say_built(engine, wanted.chunker)
        with engine.progress(f"{wanted.name}: asking", len(key.questions)) as advance:
            asked = run(wanted.name, retriever, key.questions, advance=advance)
        chunks = engine.chunks(wanted.chunker)
        lost = {
            outcome.question_id: lost_at(outcome, question, chunks)
            for outcome, question in zip(asked.outcomes, key.questions, strict=True)
        }
        graded.append(Graded(asked, score(asked, key.questions, count), ceiling(chunks, key.questions), lost))
    return graded


def _lexical(
    engine: Engine, chosen: Sequence[Strategy], graded: Sequence[Graded], key: AnswerKey
) -> dict[str, tuple[Run, Run]]:
    """For each chunker with a vector strategy its runs with BM25 and with vectors. As deep as a hybrid asks, which has
    asked the same already."""
    bm25 = mode("bm25")
    return {
        s.chunker.label: (
            run("bm25", engine.retriever(Strategy("bm25", s.chunker, bm25)), key.questions, CANDIDATES),
            g.run,
        )
        for s, g in zip(chosen, graded, strict=True)
        if s.mode.name == "vector"
    }


def _time(engine: Engine, chosen: Sequence[Strategy], key: AnswerKey, quiet: bool) -> dict[str, Any]:
    queries = [question.query for question in sample(key.questions, LATENCY_SAMPLE)]
    timings = {}
    with engine.progress("taking the time", len(chosen)) as advance:
        for wanted in chosen:
            retriever = engine.parts(wanted.chunker, shared=False).mode(wanted.mode)
            retriever.retrieve(queries[0], DEPTH)
            engine.embedder.forget_queries()
            timings[wanted.name] = latency(retriever, queries, DEPTH)
            advance(1)
    return timings


def _write(material: Material, folder: Path, save_baseline: bool) -> None:
    found = material.results
    machine = {
        "system": platform.system(),
        "processor": platform.machine(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
    }
    files = {
        "latest.json": dumps(found),
        "timings.json": dumps({"schema": "docmind.timings/1", "machine": machine, "milliseconds": material.timings}),
    }
    for report in REPORTS.values():
        files |= report(material)
    if save_baseline and not found["counts"]["errors"]:
        files["baseline.json"] = dumps(baseline(found))
    write_atomic({folder / name: text for name, text in files.items()})
    for pattern in OWN_REPORTS:  # a verdict or a strategy of another run would be taken for this one's
        for earlier in folder.glob(pattern):
            if earlier.name not in files and earlier.is_file():
                earlier.unlink()


def _say_verdict(verdict: Verdict, key: AnswerKey) -> None:
    """Told even with --quiet: what the exit code says stands in words beside it."""
    for reason in verdict.incomplete:
        tell(f"incomplete: {reason}", "red")
    for told in verdict.comparison.differences:
        if not told.endswith(": same"):
            tell(f"differs from the baseline: {told}")
    for reason, names in verdict.comparison.not_compared.items():
        tell(
            f"not compared, {reason}: {plural(len(names), 'question')} ({', '.join(names[:5])}{' …' * (len(names) > 5)})"
        )
    lost = failing(verdict)
    type_of = {question.id: question.type for question in key.questions if question.type is not None}
    for change in verdict.comparison.changes:
        if change.strategy in lost:
            for line in flips(change, type_of):
                tell(line)
    lost_anywhere = frozenset().union(*lost.values())
    for question in key.questions:
        if question.id in lost_anywhere:
            tell(f"{question.id} (line {question.line}): {cut(question.text, QUESTION_LENGTH)}")
    for check in verdict.checks:
        tell(f"{check.sign}: {check.name}: {check.told}", None if check.passed else "red")
    tell(f"The gate: {verdict.headline}.", None if verdict.exit_code == 0 else "red")
