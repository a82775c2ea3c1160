"""Figures as charts and shaded tables, drawn by Altair and pandas from what they are handed. No figure is made here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import altair as alt
    from pandas.io.formats.style import Styler

LIGHT, DEEP = (247, 248, 244), (127, 174, 159)
"""The shades of the worst and the best figure, red, green and blue."""

ROW = 30
"""Pixels a strategy takes."""


def heat(header: Sequence[str], rows: Sequence[Sequence[str]], falling: str) -> Styler:
    """A table of texts, each column of figures shaded from its worst to its best; in `falling`, less is better."""
    import pandas as pd

    table = pd.DataFrame(rows, columns=list(header)).set_index(header[0])

    def shades(column: pd.Series[Any]) -> list[str]:
        figures = pd.to_numeric(column, errors="coerce")
        if column.name == falling:
            figures = -figures.pow(1 / 3)  # so that one slow strategy leaves the others apart
        low, high = figures.min(), figures.max()
        return [
            "" if pd.isna(f) or low == high else f"background-color: {_mixed((f - low) / (high - low))}"
            for f in figures
        ]

    return table.style.apply(shades)


class Percent(NamedTuple):
    """A share of questions in percent, and its 95 % interval."""

    percent: float
    low: float
    high: float


def by_type(shares: Mapping[str, Mapping[str, Percent]]) -> alt.LayerChart:
    """Percent by strategy and type of question, as a grid; the intervals are in the tooltips."""
    import altair as alt

    cells = [
        {"strategy": strategy, "type": kind, **share._asdict()}
        for strategy, found in shares.items()
        for kind, share in found.items()
    ]
    top = alt.Axis(orient="top", labelAngle=-25, labelOverlap=False, labelLimit=140)
    grid = alt.Chart(alt.InlineData(values=cells)).encode(
        x=alt.X("type:N", title=None, axis=top),
        y=alt.Y("strategy:N", title=None, sort=list(shares), axis=alt.Axis(labelOverlap=False, labelLimit=140)),
    )
    figure = alt.Text("percent:Q", format=".1f")
    ends = (("percent", "percent"), ("low", "95 % interval from"), ("high", "to"))
    tooltip = ["strategy:N", "type:N", *(alt.Tooltip(f"{end}:Q", format=".1f", title=said) for end, said in ends)]
    colour = alt.Color("percent:Q", legend=None, scale=alt.Scale(range=[_mixed(0), _mixed(1)]))
    squares = grid.mark_rect(stroke="white").encode(color=colour, tooltip=tooltip)
    layers: alt.LayerChart = (squares + grid.mark_text().encode(text=figure)).properties(height=ROW * len(shares) + 60)
    return layers


class Timed(NamedTuple):
    """How long a strategy takes, and what it finds."""

    strategy: str
    chunker: str
    mode: str
    ms: float
    percent: float


def latency(points: Sequence[Timed]) -> alt.Chart:
    """Milliseconds and percent as a plane, milliseconds on a logarithmic axis: colour tells the chunker, shape the mode."""
    import altair as alt

    cells = [point._asdict() for point in points]
    ticks = alt.Axis(values=[n * 10**e for e in range(-1, 5) for n in (1, 2, 5)], format="~g")
    colours = alt.Scale(range=["#d9a441", "#2f6f62", "#8a8f8c", "#a2432b", "#6a7fa8"])
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=cells), height=ROW * len(points) + 60)
        .mark_point(size=130, filled=True, opacity=0.9)
        .encode(
            x=alt.X("ms:Q", title="ms a query, p50", scale=alt.Scale(type="log", nice=False, padding=25), axis=ticks),
            y=alt.Y("percent:Q", title="Hit@3, %", scale=alt.Scale(zero=False, padding=15)),
            color=alt.Color("chunker:N", title=None, scale=colours, legend=alt.Legend(orient="top", columns=2)),
            shape=alt.Shape("mode:N", title=None, legend=alt.Legend(orient="bottom")),
            tooltip=["strategy:N", alt.Tooltip("ms:Q", format=".1f"), alt.Tooltip("percent:Q", format=".1f")],
        )
    )
    return chart


class Dated(NamedTuple):
    """A figure of a version, which is named by its day first; `differs` says what else it was measured with than the one
    before, "" for nothing."""

    version: str
    metric: str
    percent: float
    differs: str


def history(figures: Sequence[Dated]) -> alt.LayerChart:
    """Percent by version in the order given, a line a metric; an upright where something else was measured with."""
    import altair as alt

    cells = [figure._asdict() for figure in figures]
    versions = list(dict.fromkeys(figure.version for figure in figures))
    days = alt.Axis(labelExpr="slice(datum.label, 0, 10)", labelAngle=0, labelOverlap=True)
    base = alt.Chart(alt.InlineData(values=cells), height=260).encode(
        x=alt.X("version:O", title=None, sort=versions, axis=days)
    )
    hues = alt.Scale(range=["#2f6f62", "#a2432b", "#6a7fa8"])
    lines = base.mark_line(point=True).encode(
        y=alt.Y("percent:Q", title="%", scale=alt.Scale(zero=False, padding=15)),
        color=alt.Color("metric:N", title=None, scale=hues, legend=alt.Legend(orient="top")),
        strokeDash=alt.StrokeDash("metric:N", title=None),
        tooltip=["version:N", "metric:N", alt.Tooltip("percent:Q", format=".1f"), "differs:N"],
    )
    breaks = base.mark_rule(strokeDash=[2, 3], color="#5b6664").encode(tooltip=["version:N", "differs:N"])
    layers: alt.LayerChart = breaks.transform_filter("datum.differs != ''") + lines
    return layers


def _mixed(share: float) -> str:
    """The colour that lies `share` of the way from LIGHT to DEEP."""
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(LIGHT, DEEP, strict=True))
