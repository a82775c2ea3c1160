"""The verdicts on answers and their metrics as tables of text in cells. Figures are taken from the summary, none is made."""

from __future__ import annotations

from docmind.evaluation.reports.tables import MISSING, Table, fraction, percent
from docmind.evaluation.scoring.answers import VERDICTS
from docmind.evaluation.scoring.summary import Area, Counts, Mean, Summary


def table(summary: Summary) -> Table:
    """A row a group of questions: how many, how many of them judged, each verdict in percent of those, and the mean of each
    answer metric, with how many answers it is of where that is not all."""
    metrics = tuple(summary.answerable.all.metrics)
    groups = [
        (f"{part}: {name}", counts)
        for part, found in (("answerable", summary.answerable), ("unanswerable", summary.unanswerable))
        for name, counts in found.groups()
        if counts.n
    ]
    return Table(
        ("questions", "n", "judged", *VERDICTS, *metrics),
        tuple((name, *_figures(counts, metrics)) for name, counts in groups),
    )


def _figures(counts: Counts, metrics: tuple[str, ...]) -> tuple[str, ...]:
    return (
        str(counts.n),
        str(counts.judged),
        *(percent(counts.rates[verdict] if counts.rates else None) for verdict in VERDICTS),
        *(_mean(counts.metrics[name], counts.n) for name in metrics),
    )


def _mean(mean: Mean, n: int) -> str:
    return fraction(mean.value) + (f" (of {mean.scored})" if 0 < mean.scored < n else "")


def confidence(summary: Summary) -> Table:
    """A row a split: the areas under the ROC curve by which confidence tells answerable from unanswerable questions."""

    def shown(area: Area | None) -> str:
        return f"{fraction(area.value)} ({area.low:.2f}–{area.high:.2f})" if area else MISSING

    rows = tuple(
        (name, shown(areas.all), shown(areas.near), shown(areas.far)) for name, areas in summary.confidence.groups()
    )
    return Table(("AUROC of the confidence", "all unanswerable", "near misses", "far ones"), rows)
