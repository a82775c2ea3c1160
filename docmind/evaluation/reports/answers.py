"""The verdicts on answers as a table of text in cells. Figures are taken from the summary, none is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from docmind.evaluation.reports.tables import MISSING, Table, fraction, percent
from docmind.evaluation.scoring.answers import VERDICTS


def table(summary: Mapping[str, Any]) -> Table:
    """A row a group of questions: how many, how many of them judged, and each verdict in percent of those."""
    rows = [
        (f"{part}: {group}", counts)
        for part in ("answerable", "unanswerable")
        for group, counts in _groups(summary[part])
        if counts["n"]
    ]
    return Table(
        ("questions", "n", "judged", *VERDICTS),
        tuple(
            (
                name,
                str(counts["n"]),
                str(counts["judged"]),
                *(percent((counts["rates"] or {}).get(v)) for v in VERDICTS),
            )
            for name, counts in rows
        ),
    )


def confidence(summary: Mapping[str, Any]) -> Table:
    """A row a split: the areas under the ROC curve by which confidence tells answerable from unanswerable questions."""

    def area(found: Mapping[str, Any] | None) -> str:
        return f"{fraction(found['value'])} ({found['low']:.2f}–{found['high']:.2f})" if found else MISSING

    rows = tuple(
        (split, *(area(found[group]) for group in ("all", "near", "far")))
        for split, found in _groups(summary["confidence"])
    )
    return Table(("AUROC of the confidence", "all unanswerable", "near misses", "far ones"), rows)


def _groups(part: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """`all`, then what stands by type, distance or split. A type may have the name of a split, and yet be told apart."""
    yield "all", part["all"]
    for label, groups in part.items():
        if label != "all":
            for name, found in groups.items():
                yield f"{label.removeprefix('by_')} {name}", found
