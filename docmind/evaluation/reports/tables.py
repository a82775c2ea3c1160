"""The tables that every report shows, as text in cells. Figures are taken from results, none is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docmind.types import Question

CONTENDERS = ("fixed_500", "semantic", "headers")
MATRIX = ("s0_original", *(f"{chunker}+{mode}" for chunker in CONTENDERS for mode in ("vector", "hybrid", "rerank")))
"""The strategies that the ladder climbs, and the order in which tables show them."""

MISSING = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """A header and its rows, all of one width. The first column names; the others hold figures."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def percent(value: float | None) -> str:
    """0.833333 as "83.3"."""
    return MISSING if value is None else f"{100 * value:.1f}"


def fraction(value: float | None) -> str:
    """0.833333 as "0.833"."""
    return MISSING if value is None else f"{value:.3f}"


def matrix(results: Mapping[str, Any], timings: Mapping[str, Any]) -> Table:
    """A row a strategy: Hit@1, @3 and @5 in percent, MRR@5, Hit@3 by type, milliseconds a query (p50)."""
    types = sorted({kind for s in results["strategies"].values() for kind in s["by_type"]})
    rows = []
    for name in order(results):
        found = results["strategies"][name]
        metrics = found["metrics"] or {}
        spent = timings.get(name)
        rows.append(
            (
                name,
                *(percent(metrics.get(metric)) for metric in ("hit@1", "hit@3", "hit@5")),
                fraction(metrics.get("mrr@5")),
                *(percent(found["by_type"].get(kind, {}).get("hit@3")) for kind in types),
                f"{spent['query']['p50']:.1f}" if spent else MISSING,
            )
        )
    return Table(("strategy", "Hit@1", "Hit@3", "Hit@5", "MRR@5", *types, "ms/query"), tuple(rows))


def details(results: Mapping[str, Any]) -> Table:
    """A row a strategy: the other metrics, and Hit@3 on each split."""
    names = ("hit@10", "mrr@10", "ndcg@10", "recall@5", "full@5", "span_precision@5", "span_recall@5", "span_iou@5")
    splits = sorted({split for s in results["strategies"].values() for split in s["by_split"]})
    rows = []
    for name in order(results):
        found = results["strategies"][name]
        metrics = found["metrics"] or {}
        rows.append(
            (
                name,
                *(percent(found["by_split"].get(split, {}).get("hit@3")) for split in splits),
                *(fraction(metrics.get(metric)) for metric in (*names, "hit@1000tok")),
            )
        )
    return Table(("strategy", *(f"Hit@3 {split}" for split in splits), *names, "hit@1000tok"), tuple(rows))


def losses(results: Mapping[str, Any]) -> Table:
    """A row a strategy: its chunker's ceiling in percent, and how many questions were missed at 3, by where."""
    places = ("chunking", "candidates", "fusion", "rerank")
    rows = []
    for name in order(results):
        found = results["strategies"][name]
        lost = [question["lost_at"] for question in found["questions"].values()]
        counts = [lost.count(place) for place in places]
        rows.append((name, percent(found["ceiling"]), str(sum(counts)), *map(str, counts)))
    return Table(("strategy", "ceiling", "missed", *places), tuple(rows))


def leakage(results: Mapping[str, Any]) -> Table:
    """A row a type: the share of words in percent, and the gaps in points."""
    found = results["leakage"]
    gaps = found["bm25_minus_vector"]
    rows = tuple(
        (name, percent(share), *(f"{100 * gap[name]:+.1f}" for gap in gaps.values()))
        for name, share in found["shared_words"].items()
    )
    return Table(("questions", "words in the evidence", *(f"BM25 − vector, {chunker}" for chunker in gaps)), rows)


def ladder(results: Mapping[str, Any]) -> Table | None:
    """What each step up brings: the original, each chunker with vector search, then fusion and reranking on the best.

    The chunker is chosen by Hit@3 of its vector row on the split `dev`, on all questions where there is no such split;
    the figures are of all questions. None where the run lacks one of the rows or its metrics.
    """
    found = results["strategies"]
    if any(name not in found or found[name]["metrics"] is None for name in MATRIX):
        return None

    def chosen_by(chunker: str) -> float:
        row = found[f"{chunker}+vector"]
        value: float = row["by_split"].get("dev", row["metrics"])["hit@3"]
        return value

    best = max(CONTENDERS, key=chosen_by)
    steps = ["s0_original", *(f"{chunker}+vector" for chunker in CONTENDERS), f"{best}+hybrid", f"{best}+rerank"]
    original = found["s0_original"]["metrics"]["hit@3"]
    rows = []
    for name in steps:
        metrics = found[name]["metrics"]
        gain = 100 * (metrics["hit@3"] - original)
        rows.append(
            (
                name,
                percent(metrics["hit@3"]),
                f"{gain:+.1f}" if name != "s0_original" else "",
                fraction(metrics["mrr@5"]),
            )
        )
    return Table(("strategy", "Hit@3", "against the original", "MRR@5"), tuple(rows))


def hardest(results: Mapping[str, Any], questions: Sequence[Question], n: int = 15) -> Table:
    """The `n` questions that most strategies miss at 3: id, type, how many miss it, and the question."""
    strategies = results["strategies"].values()
    missed = {q.id: sum(s["questions"][q.id]["lost_at"] is not None for s in strategies) for q in questions}
    worst = sorted((q for q in questions if missed[q.id]), key=lambda q: (-missed[q.id], q.id))[:n]
    total = len(results["strategies"])
    rows = ((q.id, q.type or MISSING, f"{missed[q.id]} of {total}", q.text) for q in worst)
    return Table(("id", "type", "missed by", "question"), tuple(rows))


def order(results: Mapping[str, Any]) -> list[str]:
    """The strategies as people read them: those of the matrix in its order, then the others by name."""
    known = [name for name in MATRIX if name in results["strategies"]]
    return known + [name for name in results["strategies"] if name not in known]
