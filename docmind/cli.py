"""The `docmind` command. It joins the parts and shows what they do; nothing is computed here.

Exit codes: 0 done, and passed where there was a gate; 1 the gate failed; 2 a wrong option, bad input, a damaged or
missing file, a model out of reach, a full disk; 3 nothing to score, not comparable, or a question that ended in an
error; 130 interrupted. Where several apply, the first of 2, 3, 1.
"""

from __future__ import annotations

import errno
import logging
import os
import platform
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table as RichTable

from docmind.chunking import CHUNKERS
from docmind.config import DEPTH, MATRIX, Profile, Settings, Strategy, strategy
from docmind.errors import DocMindError, IncompleteError, UsageError
from docmind.evaluation.attribution import ceiling, lost_at, winners
from docmind.evaluation.baseline import baseline, read_baseline, read_run
from docmind.evaluation.compare import compare
from docmind.evaluation.dataset import AnswerKey, load_questions
from docmind.evaluation.gate import Verdict, check_must_pass, judge
from docmind.evaluation.instrument import instrument
from docmind.evaluation.latency import latency, sample
from docmind.evaluation.layout import dumps
from docmind.evaluation.reports import REPORTS, Material
from docmind.evaluation.reports.diff import lines as difference
from docmind.evaluation.reports.tables import Table, matrix, plural
from docmind.evaluation.results import Graded, results
from docmind.evaluation.run import run
from docmind.evaluation.score import answerable, score
from docmind.evaluation.thresholds import Thresholds, read_thresholds
from docmind.files import check_writable, write_atomic
from docmind.models import load as load_models
from docmind.protocols import Advance
from docmind.retrieval import MODES
from docmind.retrieval.engine import Engine
from docmind.retrieval.engine import quiet as no_progress
from docmind.retrieval.fingerprint import treatment
from docmind.types import Chunk, Question

DEFAULTS = Settings()

INTERRUPTED = 130

LATENCY_SAMPLE = 20
"""Questions of which the time is taken, a strategy; the first is asked once beforehand, to warm up."""


class _Judged(Exception):
    """How a command ends that has told a verdict; `code` is the verdict's exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _Console(Console):
    """Shows text as it is. Whoever reads may leave early, as `| head` does: that changes neither the run nor its end."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def on_broken_pipe(self) -> None:
        self.quiet = True
        # Python itself would meet the broken pipe again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


out = _Console()
err = _Console(stderr=True)

app = typer.Typer(
    help="DocMind measures retrieval for RAG and keeps it from getting worse.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

CorpusOption = Annotated[Path, typer.Option(help="Folder of documents.")]
IndexOption = Annotated[
    Path, typer.Option(help="Folder of indexes and the vector cache; it can be deleted at any time.")
]
ProfileOption = Annotated[
    Profile, typer.Option(help="The models: default needs no download, hub fetches its own once.")
]
ExcludeOption = Annotated[
    list[str] | None, typer.Option(help="Leave out pages whose path matches, such as 'drafts/*'.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Show no progress and no table; warnings and errors stay.")]


@app.callback()
def _root() -> None:
    """DocMind measures retrieval for RAG and keeps it from getting worse."""


@app.command("index")
def index(
    chunkers: Annotated[list[str] | None, typer.Argument(help="Chunkers to index with; all of them if none.")] = None,
    corpus: CorpusOption = DEFAULTS.corpus,
    index_dir: IndexOption = DEFAULTS.index_dir,
    profile: ProfileOption = DEFAULTS.profile,
    exclude: ExcludeOption = None,
    quiet: QuietOption = False,
) -> None:
    """Build the index of each chunker, embedding only what the cache does not hold."""
    names = list(dict.fromkeys(chunkers or CHUNKERS))
    for name in names:
        CHUNKERS[name]  # refuses an unknown one before any work
    settings = Settings(corpus=corpus, index_dir=index_dir, profile=profile, exclude=tuple(exclude or ()))
    with _engine(settings, quiet) as engine:
        for name in names:
            engine.index(name)
            if not quiet:
                _say_built(engine, name)


@app.command("eval")
def evaluate(
    corpus: CorpusOption = DEFAULTS.corpus,
    questions: Annotated[Path, typer.Option(help="The answer key, a JSON Lines file.")] = DEFAULTS.questions,
    out_dir: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = DEFAULTS.out,
    index_dir: IndexOption = DEFAULTS.index_dir,
    profile: ProfileOption = DEFAULTS.profile,
    exclude: ExcludeOption = None,
    strategies: Annotated[str | None, typer.Option(help="Comma-separated; the matrix of ten if not given.")] = None,
    types: Annotated[list[str] | None, typer.Option("--type", help="Only questions of this type; repeatable.")] = None,
    ids: Annotated[list[str] | None, typer.Option("--id", help="Only this question; repeatable.")] = None,
    save_baseline: Annotated[bool, typer.Option("--save-baseline", help="Also write baseline.json.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Fail where accuracy was lost against the baseline.")] = False,
    baseline_file: Annotated[Path, typer.Option("--baseline", help="What --check compares with.")] = DEFAULTS.baseline,
    thresholds_file: Annotated[
        Path, typer.Option("--thresholds", help="What --check holds the run to.")
    ] = DEFAULTS.thresholds,
    quiet: QuietOption = False,
) -> None:
    """Score the strategies against the answer key and write the results."""
    chosen = _strategies(strategies)
    thresholds, reference = _references(thresholds_file, baseline_file) if check else (None, None)
    check_writable(out_dir)
    if out_dir.resolve().is_relative_to(corpus.resolve()):
        raise UsageError(
            f"--out {out_dir} lies in the corpus {corpus}, and the report would be indexed. Name another folder."
        )
    if save_baseline and (types or ids or not set(MATRIX) <= set(chosen)):
        raise UsageError(
            "--save-baseline needs the whole matrix and every question: leave out --strategies, --type, --id."
        )
    settings = Settings(
        corpus=corpus,
        questions=questions,
        out=out_dir,
        index_dir=index_dir,
        profile=profile,
        exclude=tuple(exclude or ()),
    )
    with _engine(settings, quiet) as engine:
        key = load_questions(questions, engine.documents, types=types or (), ids=ids or ())
        answerable(key.questions)  # refuses a key without gold before any work
        if thresholds:
            check_must_pass(thresholds, key.questions)
        graded = _grade(engine, chosen, key, quiet)
        whole = [wanted for wanted, strategy in zip(chosen, graded, strict=True) if not strategy.scores.errors]
        timings = _time(engine, whole, key, quiet)
        found = results(
            graded,
            key.questions,
            instrument=instrument(key, engine.documents),
            treatment=treatment(engine, chosen, load_models(profile).fingerprint()),
            left_out=key.left_out,
        )
        verdict = judge(found, reference, thresholds) if thresholds and reference else None
        material = Material(
            results=found,
            timings=timings,
            questions=key.questions,
            texts={document.id: document.text for document in engine.documents},
            relevant={s.name: _relevant(engine.chunks(s.chunker), key.questions) for s in chosen},
            key=str(questions),
            link=_link(),
            verdict=verdict,
        )
    _write(material, out_dir, save_baseline)
    if not quiet:
        _show(matrix(found, timings))
        written = f"Written to {out_dir}/latest.json and latest.md."
        asked = plural(found["counts"]["answerable"], "answerable question")
        out.print(f"{asked}. {written}", soft_wrap=True)
    if verdict:
        _say_verdict(verdict)
        raise _Judged(verdict.exit_code)
    if errors := found["counts"]["errors"]:
        raise IncompleteError(
            f"the run is incomplete: {plural(errors, 'answer')} ended in an error, and their strategies have no metrics. "
            f"{out_dir}/latest.md names them.{' So no baseline was saved.' if save_baseline else ''}"
        )


def _strategies(named: str | None) -> tuple[Strategy, ...]:
    """Every part of the name is checked before any work."""
    if named is None:
        return MATRIX
    chosen = tuple(dict.fromkeys(strategy(name.strip()) for name in named.split(",") if name.strip()))
    if not chosen:
        raise UsageError(f"--strategies {named!r} names none. Give at least one, such as headers+rerank.")
    for wanted in chosen:
        CHUNKERS[wanted.chunker], MODES[wanted.mode]
    return chosen


@app.command("diff")
def diff(
    old: Annotated[Path, typer.Argument(metavar="A.json", help="A latest.json or baseline.json.")],
    new: Annotated[Path, typer.Argument(metavar="B.json", help="Another, which is held against it.")],
) -> None:
    """Tell which questions the second run lost and gained against the first. It judges nothing and ends with 0."""
    before, after = read_run(old), read_run(new)
    for line in difference(compare(before, after), after["types"]):
        out.print(line, soft_wrap=True)


def _references(thresholds_file: Path, baseline_file: Path) -> tuple[Thresholds, dict[str, Any]]:
    """Read before any work, so that what is damaged or not there yet is told at once."""
    thresholds = read_thresholds(thresholds_file)
    _strategies(thresholds.production)
    return thresholds, read_baseline(baseline_file)


def _relevant(chunks: Sequence[Chunk], questions: Sequence[Question]) -> dict[str, frozenset[str]]:
    return {question.id: winners(chunks, question) for question in questions}


def _link() -> str:
    """Where the files of this commit stand on the web, if a GitHub Actions job says so."""
    parts = [os.environ.get(name) for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")]
    server, repository, commit = parts
    return f"{server}/{repository}/blob/{commit}/" if all(parts) else ""


def _grade(engine: Engine, chosen: Sequence[Strategy], key: AnswerKey, quiet: bool) -> list[Graded]:
    count = lru_cache(maxsize=None)(engine.embedder.tokenizer.count)
    graded = []
    for wanted in chosen:
        retriever = engine.retriever(wanted)
        if not quiet and wanted.chunker in engine.built:
            _say_built(engine, wanted.chunker)
        with engine.progress(f"{wanted.name}: asking", len(key.questions)) as advance:
            asked = run(wanted.name, retriever, key.questions, advance=advance)
        chunks = engine.chunks(wanted.chunker)
        lost = {
            outcome.question_id: lost_at(outcome, question, chunks)
            for outcome, question in zip(asked.outcomes, key.questions, strict=True)
        }
        graded.append(Graded(asked, score(asked, key.questions, count), ceiling(chunks, key.questions), lost))
    return graded


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


def _say_built(engine: Engine, chunker: str) -> None:
    """Once an index: what of it had to be embedded."""
    if built := engine.built.pop(chunker, None):
        windows = f"; {built.windows} windows embedded to find its breaks" if built.windows else ""
        found = built.chunks - built.embedded
        _tell(f"{chunker}: {built.chunks} chunks, {built.embedded} embedded, {found} from the cache{windows}")


def _show(table: Table) -> None:
    """Where a terminal is too narrow, the words of the header are folded; names and figures stay whole."""
    shown = RichTable(box=SIMPLE_HEAD, padding=0, show_edge=False)
    names, *figures = table.header
    shown.add_column(names, no_wrap=True)
    for header in figures:
        shown.add_column(header, justify="right", overflow="fold", min_width=len("100.0"))
    for row in table.rows:
        shown.add_row(*row)
    if not out.is_terminal:  # then there is no width to keep to
        shown.width = out.measure(shown, options=out.options.update(max_width=1000)).maximum
    out.print(shown, crop=False)


def _say_verdict(verdict: Verdict) -> None:
    """Told even with --quiet: what the exit code says stands in words beside it."""
    signs = {True: "pass", False: "FAIL", None: "not judged"}
    for reason in verdict.incomplete:
        _tell(f"incomplete: {reason}", "red")
    for told in verdict.comparison.differences:
        if not told.endswith(": same"):
            _tell(f"differs from the baseline: {told}")
    for reason, names in verdict.comparison.not_compared.items():
        _tell(
            f"not compared, {reason}: {plural(len(names), 'question')} ({', '.join(names[:5])}{' …' * (len(names) > 5)})"
        )
    for check in verdict.checks:
        _tell(f"{signs[check.passed]}: {check.name}: {check.told}", None if check.passed else "red")
    _tell(f"The gate {verdict.headline}.", None if verdict.exit_code == 0 else "red")


@contextmanager
def _engine(settings: Settings, quiet: bool) -> Iterator[Engine]:
    engine = Engine(settings, load_models(settings.profile), no_progress if quiet else _progress, shared=True)
    try:
        yield engine
    finally:
        engine.close()


@contextmanager
def _progress(what: str, total: int) -> Iterator[Advance]:
    name, numbers = TextColumn("{task.description:<24}"), MofNCompleteColumn()
    columns = (name, BarColumn(), numbers, TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as shown:
        task = shown.add_task(what, total=total)
        yield lambda done: shown.advance(task, done)


def _tell(text: str, style: str | None = None) -> None:
    """A line on stderr, however long: a path that is broken in two could not be searched for or clicked."""
    err.print(text, style=style, soft_wrap=True)


class _Warnings(logging.Handler):
    """Tells what is logged, above a progress bar that may be shown."""

    def emit(self, record: logging.LogRecord) -> None:
        _tell(f"{record.levelname.lower()}: {self.format(record)}", "yellow")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv`, by default the process's own, and return its exit code."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[_Warnings()])
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal that knows ASCII alone gets "?" for the rest
            stream.reconfigure(errors="replace")
    try:
        app(args=argv, prog_name="docmind")
        sys.stdout.flush()
        return 0
    except SystemExit as end:  # how Typer ends, having told of a wrong option itself
        if end.code == INTERRUPTED:
            _tell("interrupted; what was embedded is kept, and the next run goes on from there")
        # Typer's 1 is a reader that left early; to us it means that a gate failed.
        return 2 if end.code == 1 else int(end.code or 0)
    except _Judged as judged:
        return judged.code
    except DocMindError as error:
        _tell(f"error: {error}", "red")
        return error.exit_code
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:  # files tell it as a StorageError
            out.on_broken_pipe()
            _tell("error: standard output cannot be written: no space is left there. What files there are stay.", "red")
            return 2
        # Python would end with 1, which means that a gate failed.
        traceback.print_exc()
        _tell("This is a fault of DocMind, not of your input. Please report it, with the lines above.")
        return 2


if __name__ == "__main__":
    sys.exit(main())
