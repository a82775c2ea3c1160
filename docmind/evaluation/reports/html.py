"""Results as one HTML page that opens from disk: tables, a picture, and the questions with what was found. No network.

The page is page.html, filled in by pages.py. The questions are data in the page, which page.js shows as text.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import PurePath
from typing import Any, get_args
from urllib.parse import quote

from docmind.evaluation.gate.compare import Comparison
from docmind.evaluation.gate.verdict import probability
from docmind.evaluation.record.types import HitResult, QuestionResult, StrategyResult
from docmind.evaluation.reports.excerpts import CUT, NOWHERE, Ranges, excerpt
from docmind.evaluation.reports.inert import cut
from docmind.evaluation.reports.material import Material, Report
from docmind.evaluation.reports.movements import moved, ranks
from docmind.evaluation.reports.pages import as_json, listed, page
from docmind.evaluation.reports.reading import FIGURES, LOST_AT, smallest_drop
from docmind.evaluation.reports.sections import about, sections
from docmind.evaluation.reports.tables import MISSING, Table, matrix, missed_by, percent
from docmind.evaluation.scoring.attribution import LostAt
from docmind.evaluation.scoring.spans import WON_WITHIN
from docmind.text import plural
from docmind.types import Document, Question, Span, merge

PAGE_MEGABYTES = 15
"""The page stays under this: a browser reads it in a second, and it can still be mailed."""

BUDGET = (PAGE_MEGABYTES - 1) * 1_000_000
"""Bytes of data about questions; the rest is room for all else, some 10 KB and a row a strategy in three tables."""

SHADES = 7
"""Of the heat map, the best the last. page.css has a colour for each."""

LOST = (None, *get_args(LostAt), "error")
"""Where a question was lost, by the number that stands for it in the data."""


def render(material: Material) -> dict[str, str]:
    """`latest.html`."""
    record = material.record
    names = list(record.strategies)
    scored = {name: value for name, s in record.strategies.items() if (value := s.metric("hit@3")) is not None}
    shown, data = matrix(record, material.medians), _data(material, names)
    filled = page(
        "page.html",
        "address.js",
        "page.js",
        data=data,
        counts=record.counts,
        errors=[(name, failed) for name, s in record.strategies.items() if (failed := _failed(s))],
        verdict=material.verdict,
        about=about(material),
        notes=material.notes,
        sections=list(sections(material)),
        production=material.verdict.production if material.verdict else None,
        matrix=shown,
        shades=_shades(shown),
        shade_count=SHADES,
        scatter=_scatter(scored, material.medians),
        names=names,
        best=max(scored, key=lambda name: scored[name], default=None),
        types=sorted({row["type"] for row in data["questions"]}),
        splits=sorted({row["split"] for row in data["questions"]}),
        left_out=sum("hits" not in row for row in data["questions"]),
        page_megabytes=PAGE_MEGABYTES,
        percent=percent,
        plural=plural,
        points=lambda value: f"{100 * value:+.1f}",
        probability=probability,
        listed=listed,
        in_pieces=lambda text: text.split("`"),
        figures=FIGURES,
        smallest_drop=smallest_drop,
        moved=moved(material.verdict) if material.verdict else None,
        ranks=ranks,
    )
    return {"latest.html": filled}


REPORT = Report(render, ("latest.html",))


def _failed(strategy: StrategyResult) -> list[tuple[str, str]]:
    """The questions that ended in an error, with its text."""
    return [(id_, cut(error, CUT)) for id_, error in strategy.errors.items()]


def _shades(table: Table) -> list[list[int | None]]:
    """A shade for each figure of the matrix, from the worst to the best of the page. All shares of 1 are on one scale."""
    worth = [[_worth(*cell) for cell in zip(table.header[1:], row[1:], strict=True)] for row in table.rows]
    shares = [value for row in worth for value in row[:-1] if value is not None]
    times = [row[-1] for row in worth if row[-1] is not None]
    return [[*(_shade(value, shares) for value in row[:-1]), _shade(row[-1], times)] for row in worth]


def _worth(column: str, cell: str) -> float | None:
    """The more the better: percent, and for milliseconds their negative logarithm."""
    if cell == MISSING:
        return None
    if column == "ms/query":
        return -math.log(max(float(cell), 0.1))
    return 100 * float(cell) if column == "MRR@5" else float(cell)


def _shade(value: float | None, among: Sequence[float]) -> int | None:
    if value is None:
        return None
    low, high = min(among), max(among)
    return round((SHADES - 1) * (value - low) / (high - low)) if high > low else SHADES - 1


def _scatter(scored: Mapping[str, float], medians: Mapping[str, float]) -> dict[str, Any] | None:
    """Where everything stands in the picture of latency (logarithmic) against Hit@3; None where nothing was timed.

    Labels stand in a column beside the plot, a line to each point, so that none covers another however many there are.
    A point is `front` where every other strategy is slower or less accurate, or equal in both.
    """
    timed = [(medians[name], 100 * hit3, name) for name, hit3 in scored.items() if name in medians]
    if not timed:
        return None
    left, right, top, label = 34, 236, 10, 15
    bottom = top + max(190, label * len(timed))
    times, hits = [ms for ms, _, _ in timed], [hit for _, hit, _ in timed]
    fast, slow = min(times) / 1.3, max(times) * 1.3
    low, high = max(0, 10 * (min(hits) // 10) - 5), min(100, 10 * (max(hits) // 10) + 10)

    def x(ms: float) -> float:
        return round(left + (right - left) * math.log(ms / fast) / math.log(slow / fast), 1)

    def y(hit: float) -> float:
        return round(bottom - (bottom - top) * (hit - low) / (high - low), 1)

    points = []
    free = float(top)
    for n, (ms, hit, name) in enumerate(sorted(timed, key=lambda point: (-point[1], point[0])), start=1):
        free = min(max(free, y(hit)), bottom - label * (len(timed) - n))
        front = not any(t <= ms and h >= hit and (t, h) != (ms, hit) for t, h, _ in timed)
        point = {"x": x(ms), "y": y(hit), "label_y": free, "front": front}
        points.append({**point, "name": name, "label": cut(name, 22), "ms": ms, "hit": hit})
        free += label
    steps = [digit * 10.0**power for power in range(-3, 6) for digit in (1, 2, 5)]
    return {
        "points": points,
        "box": (left, right, top, bottom),
        "times": [(f"{step:g}", x(step)) for step in steps if fast <= step <= slow],
        "hits": [(step, y(step)) for step in range(0, 101, 10) if low <= step <= high],
    }


def _data(material: Material, names: Sequence[str]) -> dict[str, Any]:
    """What page.js reads: by question its outcomes, in the order of `strategies`, and what was found, as numbers of
    `passages` with scores. Those that most strategies miss come first; where BUDGET ends, the others have no `hits`."""
    strategies = list(material.record.strategies.values())
    changed = _changed(material.verdict.comparison, names) if material.verdict else {}
    questions = sorted(material.questions, key=lambda question: (-missed_by(material.record, question), question.id))
    rows = [_row(material, question, strategies, changed.get(question.id, {})) for question in questions]
    passages = _Passages(material.documents)
    spent = len(as_json(rows))
    for question, row in zip(questions, rows, strict=True):
        before = len(passages.shown)
        gold = _gold(question, material.documents)
        hits = [_found(strategy.questions[question.id], passages, gold) for strategy in strategies]
        spent += len(as_json(hits)) + len(as_json(passages.shown[before:]))
        if spent > BUDGET:
            del passages.shown[before:]
            break
        row["hits"] = hits
    return {
        "strategies": names,
        "lost": LOST,
        "told": LOST_AT,
        "key": f"{material.link}{quote(PurePath(material.key).as_posix())}" if material.link else "",
        "questions": rows,
        "passages": passages.shown,
    }


def _changed(comparison: Comparison, names: Sequence[str]) -> Mapping[str, Mapping[int, int]]:
    """By question that flipped, the old rank by strategy's number; 0 where there was none."""
    old: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for change in comparison.changes:
        for flip in (*change.lost, *change.gained):
            old[flip.question_id][names.index(change.strategy)] = flip.old or 0
    return old


def _row(
    material: Material, question: Question, strategies: Sequence[StrategyResult], old: Mapping[int, int]
) -> dict[str, Any]:
    found = [strategy.questions[question.id] for strategy in strategies]
    return {
        "id": question.id,
        "text": cut(question.text, CUT),
        "type": question.type or MISSING,
        "split": question.split or MISSING,
        "line": question.line,
        "missed": missed_by(material.record, question),
        "gold": [
            (piece.doc_id, "") if piece.doc_id is not None else _evidence(piece.spans[0], material.documents)
            for piece in question.gold
        ],
        "ranks": [outcome.rank or 0 for outcome in found],
        "lost": [LOST.index("error" if outcome.error is not None else outcome.lost_at) for outcome in found],
        "old": old,
    }


def _evidence(span: Span, documents: Mapping[str, Document]) -> tuple[str, str]:
    return span.doc_id, cut(documents[span.doc_id].text[span.start : span.end], CUT)


def _gold(question: Question, documents: Mapping[str, Document]) -> Mapping[str, Ranges]:
    """By page, where all alternatives of all pieces stand."""
    spans = [span for piece in question.gold for span in piece.spans]
    whole = [documents.get(piece.doc_id) for piece in question.gold if piece.doc_id is not None]
    spans += [Span(document.id, 0, len(document.text)) for document in whole if document and document.text]
    return {page: [(s.start, s.end) for s in found] for page, found in groupby(merge(spans), lambda s: s.doc_id)}


def _found(outcome: QuestionResult, passages: _Passages, gold: Mapping[str, Ranges]) -> str | list[list[float]]:
    """The first hits, each a passage's number and a score; of an error its text."""
    if outcome.error is not None:
        return cut(outcome.error, CUT)
    hits = outcome.hits[:WON_WITHIN]
    return [[passages.number(hit, gold.get(hit.source, ())), float(f"{hit.score:.4g}")] for hit in hits]


class _Passages:
    """What hits show, once each, as `[page, plain, gold, plain, …]`: every second text is gold."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self.shown: list[list[str]] = []
        self._documents = documents
        self._numbers: dict[tuple[object, ...], int] = {}

    def number(self, hit: HitResult, gold: Ranges) -> int:
        """A chunk may be shown with other gold, or with other context: it is then another passage."""
        marked = tuple((a, b) for a, b in gold if any(a < end and b > start for start, end in hit.spans))
        key = (hit.chunk, *hit.spans, "gold", *marked)
        if key not in self._numbers:
            self._numbers[key] = len(self.shown)
            turns = excerpt(self._documents[hit.source], hit.spans, marked) if hit.spans else [""]
            self.shown.append([hit.source or NOWHERE, *turns])
        return self._numbers[key]
