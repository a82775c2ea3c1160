"""`docmind index`: builds indexes, and nothing else."""

from __future__ import annotations

from typing import Annotated

import typer

from docmind.chunking import CHUNKERS
from docmind.cli.common import (
    DEFAULTS,
    CorpusOption,
    ExcludeOption,
    IndexOption,
    ProfileOption,
    QuietOption,
    open_engine,
    say_built,
)
from docmind.config import Settings


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
    with open_engine(settings, quiet) as engine:
        for name in names:
            engine.index(name)
            if not quiet:
                say_built(engine, name)
