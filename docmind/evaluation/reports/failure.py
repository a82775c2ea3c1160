"""A verdict in plain lines, for the text of a test that fails: the verdict, the checks that failed, the flips."""

from __future__ import annotations

from collections.abc import Iterator

from docmind.evaluation.gate.compare import Change, Flip
from docmind.evaluation.gate.verdict import Verdict, failing
from docmind.evaluation.reports.excerpts import in_brief
from docmind.evaluation.reports.inert import cut
from docmind.evaluation.reports.material import Material
from docmind.text import plural, visible

QUESTION_LENGTH = 160
PASSAGE_LENGTH = 200

MOST = 20
"""Flips of each kind that are told of a strategy; of the others their number."""


def text(material: Material, verdict: Verdict) -> str:
    """All of it. Of the strategies those come that failed, else, where none did, all with flips."""
    return visible("\n".join(_lines(material, verdict)))


def _lines(material: Material, verdict: Verdict) -> Iterator[str]:
    yield f"The gate: {verdict.headline}."
    yield from (f"incomplete: {reason}" for reason in verdict.incomplete)
    yield from (f"{check.sign}: {check.name}: {check.told}" for check in verdict.checks if not check.passed)
    for told in verdict.comparison.differences:
        if not told.endswith(": same"):
            yield f"differs from the baseline: {told}"
    failed = failing(verdict)
    for change in verdict.comparison.changes:
        if change.strategy in failed or not failed:
            yield from _flips(material, change)


def _flips(material: Material, change: Change) -> Iterator[str]:
    asked = {question.id: question.text for question in material.questions}
    for verb, flips in (("lost", change.lost), ("gained", change.gained)):
        if flips:
            yield f"{change.strategy} {verb} {plural(len(flips), 'question')}:"
        for flip in flips[:MOST]:
            question = cut(" ".join(asked[flip.question_id].split()), QUESTION_LENGTH)
            yield f"  {flip.question_id}: {_rank(flip.old)} → {_rank(flip.new)}: {question}"
            yield from _instead(material, flip)
        if len(flips) > MOST:
            yield f"  and {len(flips) - MOST} more"


def _instead(material: Material, flip: Flip) -> Iterator[str]:
    if flip.instead is not None:
        told = in_brief(flip.instead, material.documents, PASSAGE_LENGTH)
        yield f"    in its place: {': '.join(filter(None, told))}"


def _rank(rank: int | None) -> str:
    return f"rank {rank}" if rank else "not found"
