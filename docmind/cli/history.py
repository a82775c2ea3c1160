"""`docmind history` and `docmind badge`: a strategy over time, and its figure of today as a picture. Nothing is computed here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from docmind.cli.common import DEFAULTS, ThresholdsOption
from docmind.cli.terminal import say, show, tell
from docmind.evaluation.gate.history import points
from docmind.evaluation.gate.thresholds import read_thresholds
from docmind.evaluation.reports.badge import METRIC, badge
from docmind.evaluation.reports.history import html, table
from docmind.files import write_atomic
from docmind.runs.history import committed, kept
from docmind.runs.retrieval import read
from docmind.text import plural

StrategyOption = Annotated[str | None, typer.Option(help="The strategy; the production one if not given.")]


def history(
    folder: Annotated[
        Path | None, typer.Argument(help="A folder of records, in place of the versions of the baseline in git.")
    ] = None,
    baseline: Annotated[Path, typer.Option(help="The file whose versions in git are told.")] = DEFAULTS.baseline,
    strategy: StrategyOption = None,
    thresholds_file: ThresholdsOption = DEFAULTS.thresholds,
    page: Annotated[Path | None, typer.Option("--html", help="Also write them to this file, with a chart.")] = None,
) -> None:
    """Tell what a strategy was worth at each commit. It judges nothing."""
    wanted = strategy or read_thresholds(thresholds_file).production
    found = kept(folder) if folder else committed(baseline)
    told = list(points(found.versions, wanted))
    source = folder or baseline
    say(f"{wanted}, {plural(len(told), 'version')} from {source}")
    show(table(told))
    for note in found.notes:
        tell(f"warning: {note}", "yellow")
    if page:
        write_atomic({page: html(told, wanted, source.as_posix(), found.notes)})
        say(f"Written to {page}.")


def badge_command(
    out: Annotated[Path, typer.Option("--out", help="The SVG file to write.")],
    record: Annotated[Path, typer.Option("--record", help="A latest.json or baseline.json.")] = DEFAULTS.baseline,
    metric: Annotated[str, typer.Option(help="Any metric of the record.")] = METRIC,
    strategy: StrategyOption = None,
    thresholds_file: ThresholdsOption = DEFAULTS.thresholds,
) -> None:
    """Draw the figure of a strategy as a badge: green where it reaches its floor, red below, grey where there is none."""
    thresholds = read_thresholds(thresholds_file) if strategy is None or thresholds_file.exists() else None
    name = strategy or (thresholds.production if thresholds else "")
    floor = thresholds.floor if thresholds and (name, metric) == (thresholds.production, METRIC) else None
    write_atomic({out: badge(read(record), name, metric, floor)})
    say(f"Written to {out}.")
