"""A figure as a badge, a small SVG picture for a README. It stands alone: no font, no script, no address but SVG's own."""

from __future__ import annotations

from fractions import Fraction
from xml.etree import ElementTree as ET

from docmind.errors import IncompleteError, UsageError
from docmind.evaluation.record.types import Record, StrategyResult
from docmind.evaluation.reports.tables import FIRST, fraction
from docmind.evaluation.scoring.spans import is_hit
from docmind.registry import unknown
from docmind.text import plural, visible

METRIC = "hit@3"
"""What a badge shows, and what a floor is of."""

LABEL = "retrieval"
GREEN, RED, GREY = "#2b7a3d", "#b3372c", "#5a6270"
"""White text on each of them has a contrast of at least 4.5 to 1 (WCAG 2.2, AA)."""

HEIGHT, PADDING, SIZE = 20, 6, 11
"""Pixels: of the badge, beside each text, and of the letters."""

WIDTHS = (
    (3.2, "ijl|'"),
    (4.3, ' .,:;!ftI/\\()[]-r"'),
    (5.9, "cksvxyzJ?"),
    (6.8, "abdeghnopqu0123456789_FLTZ*"),
    (7.8, "ABCEKPRSVXY@&"),
    (8.8, "DGHNOQU+=<>~^"),
    (11.2, "mMwW%"),
)
"""Pixels that characters take at SIZE in a common sans serif, rounded up to their group's; another takes the widest."""

_ADVANCE = {character: width for width, group in WIDTHS for character in group}


def width(text: str) -> float:
    """About how many pixels `text` takes. A viewer fits the letters to just that, whatever its font."""
    widest = max(_ADVANCE.values())
    return round(sum(_ADVANCE.get(character, widest) for character in text), 1)


def badge(record: Record, strategy: str, metric: str, floor: Fraction | None) -> str:
    """The SVG. `floor` is the least share of the answerable questions that is good enough, of METRIC; None for none.

    Raises UsageError where the record has no such strategy or metric, IncompleteError where it has no figure.
    """
    found = record[strategy]
    if found.metrics is None:
        failed = plural(len(found.errors), "question")
        raise IncompleteError(f"{strategy} has no figures: {failed} ended in an error. Run again: docmind eval.")
    if metric not in found.metrics:
        raise UsageError(unknown("metric", metric, found.metrics))
    value = found.metrics[metric]
    if value is None:
        raise IncompleteError(f"{metric} is not defined for one of the questions. Show another: --metric {METRIC}.")
    name, tell = FIRST.get(metric, (metric, fraction))
    unit = " %" if metric.startswith("hit@") else ""
    colour = GREY if floor is None else GREEN if _reached(found) >= floor else RED
    asked = plural(record.counts.answerable, "question")
    return _drawn(LABEL, f"{name} {tell(value)}{unit}", colour, f"{strategy}, {asked}")


def _reached(strategy: StrategyResult) -> Fraction:
    """The share of the answerable questions that are hits, exactly: a figure of a file is rounded."""
    ranks = [found.rank for found in strategy.questions.values() if found.ranks]
    return Fraction(sum(map(is_hit, ranks)), len(ranks))


def _drawn(label: str, message: str, colour: str, more: str) -> str:
    left, right = width(label) + 2 * PADDING, width(message) + 2 * PADDING
    told = f"{label}: {message}"
    svg = ET.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        width=f"{left + right:.1f}",
        height=str(HEIGHT),
        role="img",
        attrib={"aria-label": told},
    )
    ET.SubElement(svg, "title").text = visible(f"{told} ({more})")
    ET.SubElement(svg, "rect", width=f"{left + right:.1f}", height=str(HEIGHT), rx="3", fill=colour)
    edge = f"M3 0H{left:.1f}V{HEIGHT}H3A3 3 0 0 1 0 {HEIGHT - 3}V3A3 3 0 0 1 3 0Z"
    ET.SubElement(svg, "path", d=edge, fill="#3d434b")
    letters = ET.SubElement(
        svg, "g", fill="#fff", attrib={"font-family": "Verdana,DejaVu Sans,sans-serif", "font-size": str(SIZE)}
    )
    for x, text in ((PADDING, label), (left + PADDING, message)):
        ET.SubElement(letters, "text", x=f"{x:.1f}", y="14", textLength=f"{width(text):.1f}").text = visible(text)
    return ET.tostring(svg, encoding="unicode") + "\n"
