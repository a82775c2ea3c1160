"""A strategy over time, as a table for a terminal and as an HTML page with a chart. No figure is made here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from docmind.evaluation.gate.history import METRICS, Point
from docmind.evaluation.reports.inert import cut
from docmind.evaluation.reports.pages import page
from docmind.evaluation.reports.tables import FIRST, MISSING, Table
from docmind.text import plural

TOLD = 72
"""Characters of what a commit's author said of it."""

LABEL = 72
"""Units of the chart between two dates, at least: they are as wide."""

LEFT, RIGHT, TOP, BOTTOM, BREADTH = 34, 600, 12, 232, 660

SERIES = ("hit@3", "hit@1", "mrr@5")
"""What the chart draws, the first thickest."""


def table(points: Sequence[Point], told: int = TOLD) -> Table:
    """A row a version, with at most `told` characters of what was said of it."""
    figures = (FIRST[name][0] for name in METRICS)
    header = ("version", *figures, "questions", "change", "lost", "gained", "unchanged", "differs", "what")
    return Table(header, tuple(_row(point, told) for point in points), words=True)


def _row(point: Point, told: int) -> tuple[str, ...]:
    change = point.change
    cells = [MISSING] * 4
    if change:
        lost, gained = len(change.lost), len(change.gained)
        cells = [f"{100 * (change.after - change.before) / change.n:+.1f}", str(lost), str(gained), str(change.n)]
    figures = [FIRST[name][1](point.figures.get(name)) for name in METRICS]
    said = cut(point.told, told)
    return (
        f"{point.when} {point.name}",
        *figures,
        str(point.questions) if point.questions else MISSING,
        *cells,
        ", ".join(point.parts),
        "; ".join(filter(None, (said, point.fault and f"no figures: {point.fault}"))),
    )


LEGEND = (
    "Hit@1 and Hit@3 in percent, MRR@5 as a fraction, of all questions of the version that can be answered. Change, lost and "
    "gained: Hit@3 in points against the last version before it that has figures, over the questions that are the same in both. "
    "Differs: what else was measured with than there, so that the figures above and below are not of the same thing."
)


@dataclass(frozen=True, slots=True)
class Dot:
    """A figure in the chart; `said` is its tooltip."""

    x: float
    y: float
    said: str


@dataclass(frozen=True, slots=True)
class Line:
    """A series: `kept` is the path between versions that can be compared as they are, `other` between those that cannot;
    `label_y` where its name stands."""

    name: str
    dots: tuple[Dot, ...]
    kept: str
    other: str
    label_y: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Versions from left to right at equal distances, percent upwards; MRR@5 as hundredths. `breaks` are where something else
    was measured with, each with its sentence; `days` and `levels` name the grid."""

    lines: tuple[Line, ...]
    breaks: tuple[tuple[float, str], ...]
    days: tuple[tuple[float, str], ...]
    levels: tuple[tuple[int, float], ...]


def chart(points: Sequence[Point]) -> Chart | None:
    """Of the versions with figures; None where there is none."""
    known = [point for point in points if not point.fault]
    if not known:
        return None
    values = [100 * value for point in known for name in SERIES if (value := point.figures.get(name)) is not None]
    low, high = (
        max(0, 10 * (int(min(values, default=0)) // 10) - 10),
        min(100, 10 * (int(max(values, default=90)) // 10) + 10),
    )

    def x(n: int) -> float:
        return round(
            (LEFT + RIGHT) / 2 if len(known) == 1 else LEFT + 8 + (RIGHT - LEFT - 16) * n / (len(known) - 1), 1
        )

    def y(value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (100 * value - low) / (high - low), 1)

    lines = []
    for name in SERIES:
        head, tell = FIRST[name]
        placed = [(n, p, value) for n, p in enumerate(known) if (value := p.figures.get(name)) is not None]
        if placed:
            dots = tuple(Dot(x(n), y(v), f"{p.when} {p.name}: {head} {tell(v)}") for n, p, v in placed)
            broken = [bool(point.differs) for _, point, _ in placed]
            lines.append((head, dots, _path(dots, broken, False), _path(dots, broken, True)))
    every = 1 + int(LABEL * (len(known) - 1) / (RIGHT - LEFT - 16))
    return Chart(
        lines=tuple(Line(*line, y) for line, y in zip(lines, _apart([line[1][-1].y for line in lines]), strict=True)),
        breaks=tuple(
            (round(x(n) - (x(n) - x(n - 1)) / 2, 1), f"{p.when} {p.name}: {'; '.join(p.differs)}")
            for n, p in enumerate(known)
            if p.differs
        ),
        days=tuple((x(n), known[n].when) for n in range(len(known) - 1, -1, -every))[::-1],
        levels=tuple((level, y(level / 100)) for level in range(low, high + 1, 10)),
    )


def _path(dots: Sequence[Dot], broken: Sequence[bool], wanted: bool) -> str:
    """From each dot to the next, where whether something else was measured with is as `wanted`."""
    pairs = zip(dots, dots[1:], broken[1:], strict=False)
    return "".join(f"M{a.x} {a.y}L{b.x} {b.y}" for a, b, is_broken in pairs if is_broken == wanted)


def _apart(wanted: Sequence[float], height: float = 13) -> list[float]:
    """As near to `wanted` as names of this height can stand, none over another."""
    places = dict.fromkeys(range(len(wanted)), 0.0)
    free = float(TOP)
    for left, n in enumerate(sorted(places, key=lambda n: wanted[n])):
        places[n] = min(max(free, wanted[n]), BOTTOM - height * (len(wanted) - 1 - left))
        free = places[n] + height
    return list(places.values())


def html(points: Sequence[Point], strategy: str, source: str, notes: Sequence[str] = ()) -> str:
    """The page of `strategy`, whose versions are from `source`; `notes` are sentences on what is not among them."""
    drawn = chart(points)
    unread = sum(bool(point.fault) for point in points)
    return page(
        "history.html",
        strategy=strategy,
        source=source,
        notes=notes,
        chart=drawn,
        box=(LEFT, RIGHT, TOP, BOTTOM, BREADTH),
        told=_told(points),
        table=table(points, told=160),
        legend=LEGEND,
        unread=f"{plural(unread, 'version')} without figures: not in the chart, and in the table with the reason."
        if unread
        else "",
    )


def _told(points: Sequence[Point]) -> str:
    """The chart in a sentence, for those who do not see it."""
    known = [point for point in points if not point.fault]
    if not known:
        return ""
    first, last = known[0], known[-1]
    parts = [
        f"{head} from {tell(first.figures[name])} to {tell(last.figures[name])}"
        for name, (head, tell) in ((name, FIRST[name]) for name in SERIES)
    ]
    broken = sum(bool(point.differs) for point in known)
    return (
        f"{plural(len(known), 'version')} from {first.when} to {last.when}: {', '.join(parts)}. "
        f"{plural(broken, 'time')} the key, the corpus or the metrics were changed."
    )
