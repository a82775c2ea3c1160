"""Writes what an evaluation leaves behind: its record, its times, its reports, and a baseline if one is wanted."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from docmind.evaluation.record.baseline import baseline as reference
from docmind.evaluation.record.reading import earlier_strategies
from docmind.evaluation.record.timings import Machine, Timings, dumps_timings
from docmind.evaluation.record.writing import dumps
from docmind.evaluation.reports import REPORTS, Material
from docmind.files import write_atomic


def save(material: Material, folder: Path, *, baseline: bool = False) -> None:
    """Write all files to `folder`, whole or not at all, and take away reports of an earlier run that this one has not: a
    verdict or a strategy of another run would be taken for this one's. Nothing else there is touched."""
    record = material.record
    files = {
        "latest.json": dumps(record),
        "timings.json": dumps_timings(Timings(machine=machine(), milliseconds=dict(material.timings))),
    }
    for report in REPORTS.values():
        files |= report.render(material)
    if baseline and not record.counts.errors:
        files["baseline.json"] = dumps(reference(record))
    told = (*earlier_strategies(folder / "latest.json"), *record.strategies)
    write_atomic({folder / name: text for name, text in files.items()})
    stale = frozenset().union(*(report.names(told) for report in REPORTS.values())) - files.keys()
    for path in folder.iterdir():
        if path.name in stale and path.is_file():
            path.unlink()


def machine() -> Machine:
    """Where times were taken."""
    return Machine(
        system=platform.system(),
        processor=platform.machine(),
        cpus=os.cpu_count(),
        python=platform.python_version(),
    )


def in_repository(path: Path) -> str:
    """As links and annotations name it: from the current folder, which is the repository's; "" if it lies elsewhere."""
    whole, here = path.resolve(), Path.cwd()
    return whole.relative_to(here).as_posix() if whole.is_relative_to(here) else ""


def link(path: Path) -> str:
    """Where the files of this commit stand on the web, if a GitHub Actions job says so and `path` is one of them; else ""."""
    parts = [os.environ.get(name) for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")]
    server, repository, commit = parts
    return f"{server}/{repository}/blob/{commit}/" if all(parts) and in_repository(path) else ""
