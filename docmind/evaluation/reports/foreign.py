"""The tables about retrievers that are not DocMind's own: how much of what they brought is in the documents, and their steps."""

from __future__ import annotations

from collections.abc import Iterator

from docmind.evaluation.record.types import Record
from docmind.evaluation.reports.tables import MISSING, Table, percent
from docmind.evaluation.scoring.spans import best, is_hit
from docmind.text import plural


def retrievers(record: Record) -> Table | None:
    """A row a foreign strategy; None where there is none."""
    rows = []
    for name, strategy in record.strategies.items():
        if (found := strategy.foreign) is None:
            continue
        share = found.unplaced / found.passages if found.passages else None
        unstable = f"{len(found.unstable)} of {found.asked_again}" if found.asked_again else MISSING
        rows.append(
            (name, found.kind, str(found.passages), str(found.unplaced), percent(share), str(found.few), unstable)
        )
    head = (
        "strategy",
        "reached by",
        "passages",
        "in no document",
        "of all, %",
        "questions with too few",
        "changed when asked again",
    )
    return Table(head, tuple(rows)) if rows else None


def notes(record: Record) -> Iterator[str]:
    """Sentences on what limits the figures of foreign strategies."""
    for name, strategy in record.strategies.items():
        if (found := strategy.foreign) is None:
            continue
        if found.unplaced:
            yield (
                f"{name}: {found.unplaced} of {plural(found.passages, 'passage')} are in none of the documents and cover "
                f"nothing, such as {'; '.join(map(repr, found.examples))}"
            )
        if found.unstable:
            yield (
                f"{name}: of {found.asked_again} questions that were asked twice {len(found.unstable)} got other passages the "
                f"second time ({', '.join(found.unstable[:5])}), so its figures move without any change"
            )
        if found.few:
            yield f"{name}: {plural(found.few, 'question')} got fewer passages than were asked for; nothing stands in their place"


def steps(record: Record) -> Table | None:
    """A row a step of each strategy that searches in several: how many answerable questions had it, its own Hit@3 on them,
    and of how many it was the first to find the evidence. None where there is no such strategy."""
    rows = []
    for name, strategy in record.strategies.items():
        stepped = [found for found in strategy.questions.values() if found.steps and found.ranks]
        first = [next((i for i, s in enumerate(q.steps) if best(s.ranks) is not None), None) for q in stepped]
        for place in range(max((len(found.steps) for found in stepped), default=0)):
            ranks = [best(found.steps[place].ranks) for found in stepped if place < len(found.steps)]
            hits = sum(map(is_hit, ranks))
            rows.append((name, str(place + 1), str(len(ranks)), percent(hits / len(ranks)), str(first.count(place))))
    return (
        Table(("strategy", "step", "questions", "Hit@3 of the step", "found the evidence first"), tuple(rows))
        if rows
        else None
    )
