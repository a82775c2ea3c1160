"""Two runs held against each other, as one HTML page that can be linked to: what its list is filtered by stands in its address.

Everything stands in the page itself; diff.js only hides what is filtered out. It judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from docmind.evaluation.gate.compare import Change, Comparison, Flip
from docmind.evaluation.gate.verdict import probability
from docmind.evaluation.key.dataset import Written
from docmind.evaluation.record.instrument import document_hashes
from docmind.evaluation.record.types import HitResult, Record
from docmind.evaluation.reports.excerpts import CUT, NOWHERE, excerpt
from docmind.evaluation.reports.inert import cut
from docmind.evaluation.reports.pages import listed, page
from docmind.evaluation.reports.reading import LOST_AT
from docmind.evaluation.reports.tables import FIRST, MISSING, Table, percent
from docmind.text import plural
from docmind.types import Document

BUDGET = 14_000_000
"""Characters of passages in the page; where it ends, the others are left out, and their number is told."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs, and what it is called on the page."""

    name: str
    record: Record


@dataclass(frozen=True, slots=True)
class Shown:
    """A flip as the page shows it. `text` is the question, its id where that is all that is known; `gold` pages and words;
    `lost_at` a sentence, "" for none. `place` says what stands where the evidence stood, and `passage` its text, each "" where
    it is not known."""

    strategy: str
    outcome: str
    id: str
    text: str
    type: str
    ranks: str
    gold: tuple[tuple[str, str], ...]
    lost_at: str
    place: str
    passage: str


def render(
    old: Side,
    new: Side,
    comparison: Comparison,
    questions: Sequence[Written] = (),
    documents: Mapping[str, Document] | None = None,
) -> str:
    """The page. `questions` are those of the answer key, and `documents`, by id, those that were searched, where they are at
    hand: without them there are ids alone, and places in place of passages."""
    written = {question.id: question for question in questions}
    types = {question: kind for kind, ids in new.record.types.items() for question in ids}
    telling = _Telling(written, types, _unchanged(new.record, documents or {}))
    flips = [
        telling.shown(change, outcome, flip)
        for change in comparison.changes
        for outcome, flips in (("lost", change.lost), ("gained", change.gained))
        for flip in flips
    ]
    whole = len(flips)
    flips, left_out = _within_budget(flips)
    return page(
        "diff.html",
        "address.js",
        "diff.js",
        old=old,
        new=new,
        comparison=comparison,
        differences=[told for told in comparison.differences if not told.endswith(": same")],
        figures=_figures(old.record, new.record),
        flips=flips,
        whole=whole,
        left_out=left_out,
        types=sorted({flip.type for flip in flips}),
        ids=sorted({flip.id for flip in flips}),
        percent=percent,
        points=lambda value: f"{100 * value:+.1f}",
        probability=probability,
        listed=listed,
        plural=plural,
    )


def _unchanged(record: Record, documents: Mapping[str, Document]) -> Mapping[str, Document]:
    """Those that are what the run searched: of another version a span would show other words."""
    hashes = document_hashes(documents.values())
    return {id_: document for id_, document in documents.items() if record.instrument.pages.get(id_) == hashes[id_]}


def _figures(old: Record, new: Record) -> Table:
    """A row a strategy of both: each metric of FIRST before and after, over all questions of each run."""
    names = [name for name in FIRST if name in old.instrument.metrics.names and name in new.instrument.metrics.names]
    rows = tuple(
        (
            strategy,
            *(
                f"{FIRST[name][1](old.strategies[strategy].metric(name))} → {FIRST[name][1](after.metric(name))}"
                for name in names
            ),
        )
        for strategy, after in new.strategies.items()
        if strategy in old.strategies
    )
    return Table(("strategy", *(FIRST[name][0] for name in names)), rows)


def _within_budget(flips: Sequence[Shown]) -> tuple[list[Shown], int]:
    """The flips, and how many passages were left out."""
    kept: list[Shown] = []
    spent = left_out = 0
    for flip in flips:
        spent += len(flip.passage)
        if flip.passage and spent > BUDGET:
            left_out += 1
            flip = replace(flip, passage="")  # noqa: PLW2901 - the same one, without it
        kept.append(flip)
    return kept, left_out


@dataclass(frozen=True, slots=True)
class _Telling:
    """What is known beside the runs: `written` questions and `types`, by id, and `documents` as they were searched."""

    written: Mapping[str, Written]
    types: Mapping[str, str]
    documents: Mapping[str, Document]

    def shown(self, change: Change, outcome: str, flip: Flip) -> Shown:
        """The flip with all that is known of it."""
        question = self.written.get(flip.question_id)
        place, passage = self._instead(flip.instead)
        return Shown(
            strategy=change.strategy,
            outcome=outcome,
            id=flip.question_id,
            text=cut(question.text, CUT) if question else flip.question_id,
            type=self.types.get(flip.question_id, MISSING),
            ranks=f"{_rank(flip.old)} → {_rank(flip.new)}",
            gold=tuple((source, cut(words, CUT)) for source, words in question.gold) if question else (),
            lost_at=f"{flip.lost_at}: {LOST_AT[flip.lost_at]}" if flip.lost_at else "",
            place=place,
            passage=passage,
        )

    def _instead(self, found: HitResult | str | None) -> tuple[str, str]:
        if found is None:
            return "", ""
        if isinstance(found, str):
            return f"chunk {found}", ""
        if not found.spans:
            return NOWHERE, ""
        spans = ", ".join(f"{start}:{end}" for start, end in found.spans)
        document = self.documents.get(found.source)
        return f"{found.source} [{spans}]", "".join(excerpt(document, found.spans, ())) if document else ""


def _rank(rank: int | None) -> str:
    return f"rank {rank}" if rank else "not found"
