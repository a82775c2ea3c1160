"""`docmind demo`: a change to a small search, and the gate that stops it. All of it is made and measured on the spot."""

from __future__ import annotations

import json
import sys
import tempfile
from importlib import resources
from pathlib import Path

from docmind.cli.terminal import say, show
from docmind.config import Settings
from docmind.demo import handbook
from docmind.evaluation.gate.compare import Flip
from docmind.evaluation.reports.inert import cut
from docmind.evaluation.reports.tables import matrix
from docmind.runs.retrieval import Evaluation
from docmind.runs.retrieval import evaluate as run_evaluation
from docmind.text import plural

BEFORE, AFTER = "SIZE = 600", "SIZE = 300"

THRESHOLDS = """production: mine
min_hit_at_3: 0.9     # its floor
max_regression_pp: 3  # points of Hit@3 that may be lost
"""

SHOWN = 400
"""Characters of a passage."""


def demo() -> None:
    """Watch a regression being caught: no model, no key, three seconds. Nothing is left behind."""
    with tempfile.TemporaryDirectory(prefix="docmind-demo-") as folder:
        _play(Path(folder))


def _play(folder: Path) -> None:
    handbook.make(folder)
    (folder / "thresholds.yaml").write_text(THRESHOLDS, encoding="utf-8")
    search = folder / "search.py"
    command = [sys.executable, str(search), str(folder / "pages")]
    (folder / "strategies.yaml").write_text(
        json.dumps({"strategies": {"mine": {"command": command}}}), encoding="utf-8"
    )
    code = resources.files("docmind.demo").joinpath("search.py").read_text(encoding="utf-8")
    pages = plural(len(handbook.OFFICES), "page")
    say(f"Made {pages}, an answer key, and a search of thirty lines that knows nothing of DocMind.")

    say(f"\n1. The search as it is: {BEFORE}, characters of a chunk.", "bold")
    search.write_text(code, encoding="utf-8")
    before = _evaluate(folder)
    before.save(folder, baseline=True)
    show(matrix(before.record, before.material.medians))

    say(f"\n2. Somebody halves the chunks: {AFTER}.", "bold")
    search.write_text(code.replace(BEFORE, AFTER), encoding="utf-8")
    after = _evaluate(folder)
    show(matrix(after.record, after.material.medians))

    say("\n3. The gate: the same questions, before and after.", "bold")
    verdict = after.check()
    for check in verdict.checks:
        say(f"{check.sign}: {check.told}", None if check.passed else "red")
    say(f"In CI this ends with exit code {verdict.exit_code}, and the pull request waits.")
    [change] = verdict.comparison.changes
    if change.lost:
        _show_loss(after, change.lost[0])
    say("\nNothing of this was recorded or kept. Your own search under the same gate: docmind init", "bold")


def _evaluate(folder: Path) -> Evaluation:
    settings = Settings(
        corpus=folder / "pages",
        questions=folder / "questions.jsonl",
        strategies=folder / "strategies.yaml",
        thresholds=folder / "thresholds.yaml",
        baseline=folder / "baseline.json",
        index_dir=folder / "index",
    )
    return run_evaluation(settings=settings)


def _show_loss(run: Evaluation, flip: Flip) -> None:
    """One question, its evidence, and what its reader gets now."""
    question = next(question for question in run.material.questions if question.id == flip.question_id)
    texts = run.material.documents
    gold = question.gold[0].spans[0]
    say(f"\nOne of them: {question.text}", "bold")
    say(
        f"The evidence, which stood at rank {flip.old}: “{texts[gold.doc_id].text[gold.start : gold.end]}” ({gold.doc_id})"
    )
    hit = run["mine"].questions[question.id].hits[(flip.old or 1) - 1]
    start, end = hit.spans[0]
    say(f"What stands there now ({hit.source}): “{cut(' '.join(texts[hit.source].text[start:end].split()), SHOWN)}”")
