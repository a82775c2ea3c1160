"""The verdicts on answers as a table of text in cells. Figures are taken from the summary, none is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docmind.evaluation.answers import VERDICTS
from docmind.evaluation.reports.tables import MISSING, Table, fraction, percent


def table(summary: Mapping[str, Any]) -> Table:
    """A row a group of questions: how many, how many of them judged, and each verdict in percent of those."""
    rows = [
        (f"{part}: {group}", counts)
        for part in ("answerable", "unanswerable")
        for group, counts in summary[part].items()
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
        for split, found in summary["confidence"].items()
    )
    return Table(("AUROC of the confidence", "all unanswerable", "near misses", "far ones"), rows)
