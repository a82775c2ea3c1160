"""The tables that stand between marks in README.md, eval/README.md and pages of docs/, made from results/. It tests nothing."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

from docmind.evaluation.gate.thresholds import read_thresholds
from docmind.evaluation.record.answers import read_reference
from docmind.evaluation.record.baseline import read_baseline
from docmind.evaluation.record.timings import read_bench
from docmind.evaluation.record.types import Record
from docmind.evaluation.reports.markdown import table
from docmind.evaluation.reports.tables import Table, by_type, fraction, hardest, ladder, leakage, matrix, percent
from docmind.evaluation.scoring.answers import VERDICTS
from docmind.types import Gold, Question

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))


@cache
def baseline() -> Record:
    return read_baseline(ROOT / "results" / "baseline.json")


@cache
def result(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "results" / name).read_text(encoding="utf-8"))


def counts() -> str:
    found, pages = baseline().counts, len(baseline().instrument.pages)
    return f"{found.answerable} answerable questions and {found.unanswerable} unanswerable ones on {pages} pages."


def strategies() -> str:
    return table(matrix(baseline(), read_bench(ROOT / "results" / "bench.json", "corpus")))


def splits() -> str:
    production = read_thresholds(ROOT / "eval" / "thresholds.yaml").production
    found = baseline().strategies[production].by_split
    rows = (
        (split, str(p.n), *(percent(p.metrics[m]) for m in ("hit@1", "hit@3", "hit@5")), fraction(p.metrics["mrr@5"]))
        for split, p in found.items()
    )
    return table(Table((production, "questions", "Hit@1", "Hit@3", "Hit@5", "MRR@5"), tuple(rows)))


def bench() -> str:
    header = (
        "corpus",
        "pages",
        "cold build against a plain LangChain pipeline",
        "cold `eval`",
        "warm `eval`",
        "peak memory",
        "of the plain one",
    )
    rows = (
        (
            name,
            str(found["pages"]),
            f"{found['plain_over_cold_index']:.1f} times faster",
            f"{found['cold_eval_seconds']:.0f} s",
            f"{found['warm_eval_seconds']:.0f} s",
            f"{found['cold_peak_mb']:,.0f} MB",
            f"{found['plain_peak_mb']:,.0f} MB",
        )
        for name, found in result("bench.json")["corpora"].items()
    )
    lines = [header, ("---", *("---:" for _ in header[1:])), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def answers() -> str:
    found = read_reference(ROOT / "results" / "answers.json").summary
    groups = {
        "answerable": found.answerable.by_split["test"],
        "unanswerable": found.unanswerable.by_split["test"],
    }
    rows = tuple(
        (name, str(part.n), *(percent(part.rates[v] if part.rates else None) for v in VERDICTS))
        for name, part in groups.items()
    )
    areas = found.confidence.by_split["test"]
    told = "; ".join(
        f"{name} {area.value:.2f} ({area.low:.2f} to {area.high:.2f})"
        for name, area in (("all", areas.all), ("near", areas.near), ("far", areas.far))
        if area
    )
    return (
        table(Table(("on the test half, percent", "questions", *VERDICTS), rows))
        + f"\n\nHow well their confidence tells answerable from unanswerable questions (AUROC with a 95 % interval): {told}."
    )


def hardest_questions() -> str:
    """The baseline knows what was missed, the key the words; where the gold stands does not matter."""
    lines = (ROOT / "eval" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [Question(q["id"], q["question"], (Gold(doc_id=""),), q["type"]) for q in map(json.loads, lines)]
    return table(hardest(baseline(), asked, n=10))


def rates() -> str:
    import gate_rates

    return table(gate_rates.shown(result("gate_rates.json")["rows"]))


def rules() -> str:
    found = result("side_by_side.json")
    tools = ("docmind", "docmind, three keys", "rag-ci", "toolkit-rag-quality")
    rows = (
        (
            str(row["questions"]),
            f"{100 * row['churn']:.0f} %",
            f"{100 * row['drop']:.0f} points" if row["drop"] else "none",
            *(f"{100 * row[tool] / found['changes']:.1f}" for tool in tools),
        )
        for row in found["rows"]
    )
    return table(Table(("questions", "churn", "true drop of Hit@3", *tools), tuple(rows)))


def environments() -> str:
    rows = (
        (
            f"{name} {made['version']}",
            str(made["megabytes"]),
            f"{made['install_seconds']:.0f}",
            f"{made['demo_seconds']:.1f}" if "demo_seconds" in made else "–",
        )
        for name, made in result("side_by_side.json")["environments"].items()
    )
    return table(Table(("tool", "MB", "seconds to install", "seconds of its demo"), tuple(rows)))


README = {
    "counts": counts,
    "matrix": strategies,
    "types": lambda: table(by_type(baseline())),
    "ladder": lambda: table(ladder(baseline())),
    "splits": splits,
    "hardest": hardest_questions,
    "bench": bench,
}
ANSWERS = {"answers": answers}
SIDE = {"rules": rules, "environments": environments}
KEY = {"leakage": lambda: table(leakage(baseline().leakage)), "rates": rates}
"""By mark, what stands there."""
