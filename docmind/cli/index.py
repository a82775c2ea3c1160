"""`docmind index`: builds indexes, and nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from docmind.cli.common import (
    DEFAULTS,
    CorpusOption,
    ExcludeOption,
    IndexOption,
    ProfileOption,
    QuietOption,
    say_unused,
    shown,
    told,
    unneeded,
)
from docmind.cli.terminal import tell
from docmind.config import Settings
from docmind.index import upkeep
from docmind.models import load as load_models
from docmind.retrieval.searcher import Searcher
from docmind.retrieval.strategies import chunker, read_strategies


def index(
    chunkers: Annotated[
        list[str] | None, typer.Argument(help="Chunkers, such as headers(size=300); those of the matrix if none.")
    ] = None,
    corpus: CorpusOption = DEFAULTS.corpus,
    index_dir: IndexOption = DEFAULTS.index_dir,
    profile: ProfileOption = DEFAULTS.profile,
    exclude: ExcludeOption = None,
    prune: Annotated[bool, typer.Option("--prune", help="Then remove the indexes that no last run used.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Build the index of each chunker, embedding only what the cache does not hold."""
    matrix = (
        [each.chunker for each in read_strategies(DEFAULTS.strategies).matrix if not each.foreign]
        if not chunkers
        else []
    )
    wanted = dict.fromkeys([*map(chunker, chunkers or ()), *matrix])
    settings = Settings(corpus=corpus, index_dir=index_dir, profile=profile, exclude=tuple(exclude or ()))
    with Searcher(settings, load_models(profile), shown(quiet), told(quiet)) as searcher:
        for part in wanted:
            searcher.collection(part).index  # noqa: B018 - it is built when it is first asked for
    if prune:
        tell(f"{unneeded(upkeep.prune(index_dir))} removed from {index_dir}")
    elif not quiet:
        say_unused(index_dir)
