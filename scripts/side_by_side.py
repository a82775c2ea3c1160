"""DocMind beside rag-ci and toolkit-rag-quality, on the same simulated changes: writes results/side_by_side.json.

Each tool is installed by pip into an environment of its own, and judges by its rule as shipped. A change is simulated as
gate_rates.py does it, around the production strategy of the committed baseline, on all of its questions and on samples of
them. rag-ci is given each question's recall@10, its default; toolkit-rag-quality qrels and a run at its default k = 5, each piece
of evidence a document; DocMind the ranks, with the committed rules, whose floors are the sample's own figures less five
points, as they are the baseline's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from gate_rates import Simulated, broken
from rich.console import Console

from docmind.config import Settings
from docmind.evaluation.gate.thresholds import Thresholds, read_thresholds
from docmind.evaluation.record.baseline import read_baseline
from docmind.evaluation.record.layout import dumps
from docmind.evaluation.record.types import Record
from docmind.evaluation.scoring.stats import SEED
from docmind.files import write_atomic

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results/side_by_side.json"
SIZES = (50, 150, 300)
CELLS = ((0.02, 0.0), (0.05, 0.0), (0.02, 0.03), (0.02, 0.05), (0.02, 0.10))
"""Churn, and a true drop of Hit@3 beside it."""

CHANGES = 200
DEPTH = 10

RAG_CI = """
import json, sys
from ragci.baseline import decide
from ragci.runner import CaseResult, RunRecord

def record(ranks):
    scores = [sum(r is not None and r <= 10 for r in each) / len(each) for each in ranks]
    cases = [CaseResult(case_id=f"q{i:03}", status="ok", scores={"recall@10": s}) for i, s in enumerate(scores)]
    return RunRecord(golden_hash="k", config={}, primary_metric="recall@10", case_results=cases)

found = json.load(open(sys.argv[1]))
before = record(found["before"])
print(json.dumps([not decide(before, record(after)).passed for after in found["after"]]))
"""

TOOLKIT = """
import json, sys
from toolkit_rag_quality.compare import CompareBudget, compare_reports
from toolkit_rag_quality.retrieval import score_run

def report(ranks):
    qrels, run = {}, {}
    for i, each in enumerate(ranks):
        listed = [f"other-{place}" for place in range(10)]
        for piece, rank in enumerate(each):
            if rank is not None and rank <= 10:  # of two pieces in one passage the second stands behind the first
                place = next(p for p in [*range(rank - 1, 10), *range(rank)] if listed[p].startswith("other"))
                listed[place] = f"piece-{piece}"
        qrels[f"q{i:03}"] = {f"piece-{piece}": 1 for piece in range(len(each))}
        run[f"q{i:03}"] = listed
    return score_run(qrels=qrels, run=run)

found = json.load(open(sys.argv[1]))
before = report(found["before"])
# The p-values are told and decide nothing without --alpha, so a hundred draws do.
print(json.dumps([
    not compare_reports(baseline=before, candidate=report(after), budget=CompareBudget(), n_resamples=100)["passed"]
    for after in found["after"]
]))
"""


@dataclass(frozen=True, slots=True)
class Tool:
    """What pip is given, the Python that it needs, and the program that judges."""

    package: str
    python: str
    judges: str


def sample(baseline: Record, production: str, n: int) -> Record:
    """The baseline with `n` answerable questions of each strategy, drawn by type in proportion."""
    found = baseline.strategies[production].questions
    asked = [name for name, outcome in found.items() if outcome.ranks]
    if n >= len(asked):
        return baseline
    generator = Random(SEED)  # noqa: S311 - a draw of questions, no secret
    of_type = {kind: [name for name in ids if name in set(asked)] for kind, ids in baseline.types.items()}
    shares = {kind: n * len(names) / len(asked) for kind, names in of_type.items()}
    sizes = {kind: int(share) for kind, share in shares.items()}
    for kind in sorted(shares, key=lambda kind: sizes[kind] - shares[kind])[: n - sum(sizes.values())]:
        sizes[kind] += 1  # the largest remainders
    kept = {name for kind, names in of_type.items() for name in generator.sample(names, sizes[kind])}
    strategies = {
        name: one.model_copy(update={"questions": {q: outcome for q, outcome in one.questions.items() if q in kept}})
        for name, one in baseline.strategies.items()
    }
    types = {kind: tuple(name for name in ids if name in kept) for kind, ids in baseline.types.items()}
    return baseline.model_copy(update={"strategies": strategies, "types": types})


def fitted(thresholds: Thresholds, found: Simulated) -> Thresholds:
    """The committed rules with the floors of this sample: its figures less five points."""
    floors = tuple(
        rule.model_copy(update={"at_least": max(0.0, float(found.worth(rule.measure).mean()) - 0.05)})
        for rule in thresholds.min
    )
    return thresholds.model_copy(
        update={
            "min_hit_at_3": max(0.0, float(found.hits(3).mean()) - 0.05),
            "min": floors,
            "must_pass": tuple(name for name in thresholds.must_pass if name in found.questions),
        }
    )


def judged(tools: Mapping[str, tuple[Tool, Path]], folder: Path, console: Console) -> list[dict[str, Any]]:
    """A row a size, churn and drop: how many of CHANGES each tool fails."""
    settings = Settings()
    thresholds = read_thresholds(settings.thresholds)
    baseline = read_baseline(settings.baseline)
    rows = []
    for n in SIZES:
        part = sample(baseline, thresholds.production, n)
        found = Simulated.of(part, thresholds.production)
        held = fitted(thresholds, found)
        generator = np.random.default_rng(SEED)
        for churn, drop in CELLS:
            drawn = found.dropped(found.churned(churn, generator), "hit@3", drop, generator)[:CHANGES]
            rules = broken(part, held, found, drawn)
            three = [
                rule for name, rule in rules.items() if name in ("floor", "regression") or name.startswith("must_pass")
            ]
            given = folder / "changes.json"
            after = [[found.ranks[i] for i in run] for run in drawn]
            given.write_text(json.dumps({"before": list(found.ranks), "after": after}), encoding="utf-8")
            row = {
                "questions": len(found.questions),
                "churn": churn,
                "drop": drop,
                "docmind": int(np.logical_or.reduce(list(rules.values())).sum()),
                "docmind, three keys": int(np.logical_or.reduce(three).sum()),
            }
            for name, (tool, python) in tools.items():
                done = subprocess.run([python, "-c", tool.judges, given], capture_output=True, text=True, check=True)
                row[name] = sum(json.loads(done.stdout))
            rows.append(row)
            console.print(row)
    return rows


def installed(package: Sequence[str], python: str, place: Path) -> tuple[Path, float, int]:
    """The Python of an environment with that package, the seconds it took to make it, and its megabytes, pip included."""
    started = time.perf_counter()
    subprocess.run([python, "-m", "venv", place], check=True)
    own = place / "bin/python"
    subprocess.run([own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *package], check=True)
    seconds = time.perf_counter() - started
    size = sum(path.lstat().st_size for path in place.rglob("*") if path.is_file())
    return own, seconds, round(size / 1e6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default="python3.12", help="A Python from 3.12 on, which rag-ci needs.")
    options = parser.parse_args()
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        tools = {
            "rag-ci": Tool("rag-ci", options.python, RAG_CI),
            "toolkit-rag-quality": Tool("toolkit-rag-quality", options.python, TOOLKIT),
        }
        made, environments = {}, {}
        for name, tool in tools.items():
            console.print(f"installing {name}")
            python, seconds, size = installed([tool.package], tool.python, place / name)
            which = subprocess.run(
                [python, "-c", f"from importlib.metadata import version; print(version({tool.package!r}))"],
                capture_output=True, text=True, check=True,
            ).stdout.strip()  # fmt: skip
            made[name] = (tool, python)
            environments[name] = {"version": which, "megabytes": size, "install_seconds": seconds}
        console.print("installing the core of docmind")
        python, seconds, size = installed([str(ROOT)], options.python, place / "docmind")
        started = time.perf_counter()
        subprocess.run([python, "-m", "docmind.cli", "demo"], capture_output=True, check=True, cwd=place)
        environments["docmind"] = {
            "version": version("docmind"), "megabytes": size, "install_seconds": seconds,
            "demo_seconds": time.perf_counter() - started,
        }  # fmt: skip
        started = time.perf_counter()
        subprocess.run([made["rag-ci"][1].parent / "rag-ci", "demo"], capture_output=True, check=False, cwd=place)
        environments["rag-ci"]["demo_seconds"] = time.perf_counter() - started
        found = {
            "schema": "docmind.side_by_side/1",
            "changes": CHANGES,
            "environments": environments,
            "rows": judged(made, place, console),
        }
    write_atomic({RESULTS: dumps(found)})


if __name__ == "__main__":
    sys.exit(main())
