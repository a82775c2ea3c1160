"""Writes what an evaluation leaves behind: its record, its times, its reports, and a baseline if one is wanted."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path

from docmind.evaluation.record.baseline import baseline as reference
from docmind.evaluation.record.reading import earlier_strategies
from docmind.evaluation.record.timings import Machine, Timings, dumps_timings
from docmind.evaluation.record.writing import dumps
from docmind.evaluation.reports import REPORTS, Material
from docmind.files import write_atomic

GIT_SECONDS = 10
"""Seconds that git has to say what is checked out; a report without it is still one."""


def clear(folder: Path) -> None:
    """Take away the reports of an earlier run, before any work: where this one ends without a verdict, one of another run
    would be taken for its own. Its record, latest.json, which holds no verdict, stays. Raises StorageError."""
    write_atomic({}, instead_of=_reports(folder))


def save(material: Material, folder: Path, *, baseline: bool = False) -> None:
    """Write all files to `folder`, whole or not at all, in place of every report of an earlier run: a verdict or a strategy of
    another run would be taken for this one's. Nothing else there is touched.

    The record comes first, and earlier reports go before it: where this process is killed, what there is of reports is of
    the run that latest.json tells of.
    """
    record = material.record
    files = {
        "latest.json": dumps(record),
        "timings.json": dumps_timings(Timings(machine=machine(), milliseconds=dict(material.timings))),
    }
    for report in REPORTS.values():
        files |= report.render(material)
    if baseline and not record.counts.errors:
        files["baseline.json"] = dumps(reference(record))
    earlier = _reports(folder, record.strategies)
    write_atomic({folder / name: text for name, text in files.items()}, instead_of=earlier)


def _reports(folder: Path, strategies: Iterable[str] = ()) -> frozenset[Path]:
    """Where reports of `strategies`, and of the run before in `folder`, may stand."""
    told = (*earlier_strategies(folder / "latest.json"), *strategies)
    return frozenset(folder / name for report in REPORTS.values() for name in report.names(told))


def save_failure(folder: Path, error: str, code: int) -> None:
    """Write the reports of a run that `error` ended with this exit code to `folder`: what a pull request is
    shown. Raises StorageError."""
    files = {name: text for report in REPORTS.values() for name, text in report.failed(error, code).items()}
    write_atomic({folder / name: text for name, text in files.items()})


def machine() -> Machine:
    """Where times were taken."""
    return Machine(
        system=platform.system(),
        processor=platform.machine(),
        cpus=os.cpu_count(),
        python=platform.python_version(),
    )


def commit() -> str:
    """What is checked out in the current folder, short, with "-dirty" where tracked files were changed since; "" where git
    cannot say."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=GIT_SECONDS, check=True)  # noqa: S603 - no input
        return done.stdout.strip()
    except (OSError, subprocess.SubprocessError):  # there is no git, or no repository
        return ""


def in_repository(path: Path) -> str:
    """As links and annotations name it: from the current folder, which is the repository's; "" if it lies elsewhere."""
    whole, here = path.resolve(), Path.cwd()
    return whole.relative_to(here).as_posix() if whole.is_relative_to(here) else ""


def link(path: Path) -> str:
    """Where the files of this commit stand on the web, if a GitHub Actions job says so and `path` is one of them; else ""."""
    parts = [os.environ.get(name) for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")]
    server, repository, commit = parts
    return f"{server}/{repository}/blob/{commit}/" if all(parts) and in_repository(path) else ""
