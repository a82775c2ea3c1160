"""What several commands share: options, how progress is shown, and how a verdict ends a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

import docmind
from docmind.cli.terminal import progress, say, tell
from docmind.config import Profile, Settings
from docmind.errors import DocMindError, StorageError, UsageError
from docmind.generation.answer import ANSWERERS
from docmind.index import upkeep
from docmind.llm import PROVIDERS
from docmind.protocols import Progress
from docmind.registry import unknown
from docmind.retrieval.collection import Built
from docmind.retrieval.searcher import ignore
from docmind.retrieval.searcher import quiet as no_progress
from docmind.text import plural

DEFAULTS = Settings()

CorpusOption = Annotated[Path, typer.Option(help="Folder of documents.")]
QuestionsOption = Annotated[Path, typer.Option(help="The answer key, a JSON Lines file.")]
OutOption = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
IndexOption = Annotated[
    Path, typer.Option(help="Folder of indexes and the vector cache; it can be deleted at any time.")
]
ProfileOption = Annotated[
    Profile, typer.Option(help="The models: default needs no download, hub fetches its own once.")
]
ExcludeOption = Annotated[
    list[str] | None, typer.Option(help="Leave out pages whose path matches, such as 'drafts/*'.")
]
ThresholdsOption = Annotated[Path, typer.Option("--thresholds", help="What --check holds the run to.")]
StrategiesFileOption = Annotated[
    Path, typer.Option("--strategies-file", help="Names strategies, and says which are scored.")
]
BaseOption = Annotated[
    str | None,
    typer.Option("--base", metavar="REF", help="Judge by the thresholds, strategies and baseline of this git commit."),
]
AcceptOption = Annotated[
    str | None,
    typer.Option("--accept", metavar="WHO", help="Judge by the files here in spite of --base, as WHO accepts."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Show no progress and no table; warnings and errors stay.")]


def _tell_version(wanted: bool) -> None:
    if wanted:
        say(f"docmind {docmind.__version__}")
        raise typer.Exit


def version(
    _: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Tell the version and leave.")
    ] = False,
) -> None:
    """DocMind measures retrieval for RAG and keeps it from getting worse."""


class Judged(Exception):  # noqa: N818 - how a command ends, no error
    """How a command ends that has told a verdict; `code` is the verdict's exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def reported(write: Callable[[Path, str, int], object]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Of a command with the options `out_dir`, `corpus` and `check`: where an error ends a gate, `write` is given the folder,
    the error's message and the exit code, for those who do not see the terminal. The error goes on."""

    def reporting(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**options: Any) -> None:
            try:
                command(**options)
            except (Judged, KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # a panic of a library that is written in Rust is no Exception
                if options["check"] and not _within(options["out_dir"], options["corpus"]):
                    _write(error, lambda told, code: write(options["out_dir"], told, code))
                raise

        return run

    return reporting


def _write(error: BaseException, write: Callable[[str, int], object]) -> None:
    told, code = f"A fault of DocMind, {type(error).__name__}: {error}. The log has more.", 2
    if isinstance(error, DocMindError):
        told, code = str(error), error.exit_code
    try:
        write(told, code)
    except StorageError as unwritten:
        tell(f"warning: the error stands in no report: {unwritten}", "yellow")


def _within(out_dir: Path, corpus: Path) -> bool:
    return out_dir.resolve().is_relative_to(corpus.resolve())


def shown(quiet: bool) -> Progress:
    """How long steps are shown."""
    return no_progress if quiet else progress


def told(quiet: bool) -> Callable[[Built], object]:
    """How indexes are told of."""
    return ignore if quiet else say_built


def check_answerer(name: str, model: str | None = None) -> str:
    """Who answers by that name: of a provider its model. Raises UsageError where nobody does, LanguageModelError where a
    key is missing; before an index is built."""
    if name not in ANSWERERS:
        raise UsageError(unknown("provider", name, ANSWERERS))
    return PROVIDERS[name](model).name if name in PROVIDERS else name


def check_outside(out_dir: Path, corpus: Path) -> None:
    """Raise UsageError where results would be written among the documents."""
    if _within(out_dir, corpus):
        raise UsageError(
            f"--out {out_dir} lies in the corpus {corpus}, and the report would be indexed. Name another folder."
        )


def say_built(built: Built) -> None:
    """What of an index had to be embedded, or that it was there."""
    windows = f"; {built.windows} windows embedded to find its breaks" if built.windows else ""
    found = built.chunks - built.embedded
    took = "index found" if built.there else f"{built.embedded} embedded, {found} from the cache"
    tell(f"{built.chunker}: {built.chunks} chunks, {took}{windows}")


def say_unused(index_dir: Path) -> None:
    """What of the indexes can go, if there is any."""
    if found := upkeep.unused(index_dir):
        tell(f"{unneeded(found)} in {index_dir} that no last run used. To remove: docmind index --prune")


def unneeded(found: Mapping[Path, int]) -> str:
    """Indexes and their bytes in words."""
    megabytes = sum(found.values()) / 1e6
    return f"{plural(len(found), 'index').replace('indexs', 'indexes')}, {megabytes:,.1f} MB,"
