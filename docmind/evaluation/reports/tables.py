"""The tables that every report shows, as text in cells. Figures are taken from the record, none is made.

Strategies stand in the order in which they were asked for, metrics in that of the instrument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from docmind.evaluation.record.types import Record, SliceResult
from docmind.evaluation.scoring.attribution import LostAt
from docmind.evaluation.scoring.leakage import Leakage
from docmind.evaluation.scoring.spans import is_hit
from docmind.evaluation.scoring.stats import wilson
from docmind.types import Question

MISSING = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """A header and its rows, all of one width. The first column names; the others hold figures, but with `words` the last
    holds sentences."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: bool = False


def percent(value: float | None) -> str:
    """0.833333 as "83.3"."""
    return MISSING if value is None else f"{100 * value:.1f}"


def fraction(value: float | None) -> str:
    """0.833333 as "0.833"."""
    return MISSING if value is None else f"{value:.3f}"


FIRST = {
    "hit@1": ("Hit@1", percent),
    "hit@3": ("Hit@3", percent),
    "hit@5": ("Hit@5", percent),
    "mrr@5": ("MRR@5", fraction),
}
"""The metrics that people look at first: what they are called there, and how they are told. `details` has the others."""

LADDER = ("vector", "hybrid", "rerank")
"""The modes that a chunker needs for a place in the ladder, and its steps."""


def matrix(record: Record, medians: Mapping[str, float]) -> Table:
    """A row a strategy: the metrics of FIRST, and of `medians` the milliseconds a query."""
    first = [name for name in FIRST if name in record.instrument.metrics.names]
    rows = tuple(
        (
            name,
            *(FIRST[metric][1](strategy.metric(metric)) for metric in first),
            f"{medians[name]:.1f}" if name in medians else MISSING,
        )
        for name, strategy in record.strategies.items()
    )
    return Table(("strategy", *(FIRST[metric][0] for metric in first), "ms/query"), rows)


def by_type(record: Record) -> Table | None:
    """A row a strategy with metrics: Hit@3 on each type of question, and, where a question of the type needs several
    pieces, each full@k of the record; in percent, with the 95 % interval (Wilson) of so many questions.

    The head names how many a type has. None where no strategy has a figure of a type.
    """
    known = {name: strategy for name, strategy in record.strategies.items() if strategy.by_type}
    if not known:
        return None
    columns: list[tuple[str, str, str]] = []
    for kind in sorted({kind for strategy in known.values() for kind in strategy.by_type}):
        of_it = [part for strategy in known.values() if (part := strategy.by_type.get(kind))]
        columns.append((f"{kind} ({of_it[0].n})", kind, "hit@3"))
        asked = (s.questions[question] for s in known.values() for question in record.types.get(kind, ()))
        if any(len(found.ranks) > 1 for found in asked):
            full = (name for name in record.instrument.metrics.names if name.startswith("full@"))
            columns += [(f"{kind} {name}", kind, name) for name in full]
    rows = tuple(
        (name, *(_with_interval(strategy.by_type.get(kind), metric) for _, kind, metric in columns))
        for name, strategy in known.items()
    )
    return Table(("strategy", *(head for head, _, _ in columns)), rows)


def _with_interval(part: SliceResult | None, metric: str) -> str:
    """A share of questions as "65.0 (43.3–81.9)"."""
    value = part.metrics.get(metric) if part else None
    if part is None or value is None:
        return MISSING
    low, high = wilson(round(value * part.n), part.n)
    return f"{percent(value)} ({percent(low)}–{percent(high)})"


def details(record: Record) -> Table:
    """A row a strategy: Hit@3 on each split, and every metric that the matrix does not have."""
    names = [name for name in record.instrument.metrics.names if name not in FIRST]
    splits = sorted({split for strategy in record.strategies.values() for split in strategy.by_split})
    rows = tuple(
        (
            name,
            *(percent(_hit3(strategy.by_split.get(split))) for split in splits),
            *(fraction(strategy.metric(metric)) for metric in names),
        )
        for name, strategy in record.strategies.items()
    )
    return Table(("strategy", *(f"Hit@3 {split}" for split in splits), *names), rows)


def _hit3(part: SliceResult | None) -> float | None:
    return part.metrics.get("hit@3") if part else None


def losses(record: Record) -> Table:
    """A row a strategy: its chunker's ceiling in percent, and how many questions were missed at 3, by where."""
    places = get_args(LostAt)
    rows = []
    for name, strategy in record.strategies.items():
        lost = [found.lost_at for found in strategy.questions.values()]
        counts = [lost.count(place) for place in places]
        rows.append((name, percent(strategy.ceiling), str(sum(counts)), *map(str, counts)))
    return Table(("strategy", "ceiling", "missed", *places), tuple(rows))


def leakage(found: Leakage) -> Table:
    """A row a type: the share of words in percent, and the gaps in points."""
    gaps = found.bm25_minus_vector
    rows = tuple(
        (name, percent(share), *(f"{100 * gap[name]:+.1f}" for gap in gaps.values()))
        for name, share in found.shared_words.items()
    )
    return Table(("questions", "words in the evidence", *(f"BM25 − vector, {chunker}" for chunker in gaps)), rows)


def ladder(record: Record) -> Table | None:
    """What each step up brings: the original, which is the strategy asked for first; each chunker with vector search; then
    fusion and reranking on the best.

    Of the chunkers that have all modes of LADDER that one is best whose vector row has the highest Hit@3 on the split
    `dev`, on all questions where there is no such split; the figures are of all questions. None where there is no such
    chunker, or a row of theirs has no metrics.
    """
    by_parts: dict[tuple[str, str], str] = {}
    for name, strategy in record.strategies.items():
        by_parts.setdefault((strategy.chunker, strategy.mode), name)
    chunkers = [
        chunker
        for chunker in dict.fromkeys(strategy.chunker for strategy in record.strategies.values())
        if all((chunker, mode) in by_parts for mode in LADDER)
    ]
    original = next(iter(record.strategies), "")
    rows = {(chunker, mode): by_parts[chunker, mode] for chunker in chunkers for mode in LADDER}
    figures = {name: record.strategies[name].metric("hit@3") for name in (original, *rows.values())} if rows else {}
    known = {name: figure for name, figure in figures.items() if figure is not None}
    if not known or len(known) < len(figures):
        return None

    def chosen_by(chunker: str) -> float:
        name = rows[chunker, "vector"]
        on_dev = _hit3(record.strategies[name].by_split.get("dev"))
        return known[name] if on_dev is None else on_dev

    best = max(chunkers, key=chosen_by)
    steps = [original, *(rows[chunker, "vector"] for chunker in chunkers), rows[best, "hybrid"], rows[best, "rerank"]]
    cells = tuple(
        (
            name,
            percent(known[name]),
            f"{100 * (known[name] - known[original]):+.1f}" if name != original else "",
            fraction(record.strategies[name].metric("mrr@5")),
        )
        for name in dict.fromkeys(steps)
    )
    return Table(("strategy", "Hit@3", "against the original", "MRR@5"), cells)


def missed_by(record: Record, question: Question) -> int:
    """How many strategies have no piece of its gold among their first three; an error is no miss."""
    found = [strategy.questions[question.id] for strategy in record.strategies.values()]
    return sum(bool(outcome.ranks) and not is_hit(outcome.rank) for outcome in found)


def hardest(record: Record, questions: Sequence[Question], n: int = 15) -> Table:
    """The `n` questions that most strategies miss at 3: id, type, how many miss it, and the question."""
    missed = {q.id: missed_by(record, q) for q in questions}
    worst = sorted((q for q in questions if missed[q.id]), key=lambda q: (-missed[q.id], q.id))[:n]
    rows = ((q.id, q.type or MISSING, f"{missed[q.id]} of {len(record.strategies)}", q.text) for q in worst)
    return Table(("id", "type", "missed by", "question"), tuple(rows), words=True)
