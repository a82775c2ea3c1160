"""What there is to tell of a run, in the order in which people read it: the same in latest.md and in latest.html.

Texts are plain but for names in backticks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from docmind.evaluation.record.types import Record
from docmind.evaluation.reports.foreign import retrievers, steps
from docmind.evaluation.reports.material import Material
from docmind.evaluation.reports.reading import judged_by
from docmind.evaluation.reports.tables import (
    Table,
    by_type,
    details,
    hardest,
    ladder,
    leakage,
    losses,
    matrix,
    missed_by,
    percent,
)
from docmind.evaluation.scoring.stats import wilson
from docmind.text import plural


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, what its tables say, and the tables."""

    title: str
    told: str
    tables: tuple[Table, ...] = ()


def about(material: Material) -> str:
    """When, at which commit and from which files the run was made; what is not known is left out."""
    parts = (
        ("made", material.made),
        ("at commit", material.commit),
        ("from", material.corpus and f"{material.corpus} ({plural(len(material.record.instrument.pages), 'page')})"),
        ("and", material.key),
    )
    told = " ".join(f"{word} {value}" for word, value in parts if value)
    return f"{told[:1].upper()}{told[1:]}."


def sections(material: Material) -> Iterator[Section]:
    """All of them; "All strategies" is there always, and its first table is the matrix."""
    record = material.record
    if terms := tuple(judged_by(material.verdict)) if material.verdict else ():
        yield Section(
            "Judged by the branch it goes to",
            "Thresholds, strategies and baseline are those of that branch; what a change would have them be is a proposal, which "
            "counts where somebody accepts it.",
            (Table(("what counts", ""), terms, words=True),),
        )
    if rungs := ladder(record):
        yield Section(
            "The ladder",
            "Each chunker with plain vector search; then, on the one that is best on `dev` (on all questions where the key "
            "has no such split), fusion with BM25 and reranking. Hit@3 in percent of the answerable questions.",
            (rungs,),
        )
    yield Section(
        "All strategies",
        "Hit@k in percent; ms/query is the median on this machine, one query at a time, model included. In the second table "
        "the columns of splits are Hit@3 in percent, the others fractions of 1.",
        (matrix(record, material.medians), details(record)),
    )
    if types := by_type(record):
        yield Section(
            "By type of question",
            "Hit@3 in percent, behind it the 95 % interval (Wilson) of so many questions, their number in the head. Where "
            "questions of a type need several pieces, Hit@3 asks for any of them, and full@k for all.",
            (types,),
        )
    yield Section(
        "Where questions are lost",
        "The ceiling is the share of questions that some single chunk of the chunker can win. A miss is counted where the "
        "last chunk that could have won it fell out.",
        (losses(record),),
    )
    if foreign := retrievers(record):
        searched = steps(record)
        told = (
            "How they are reached, and how much of what they brought stands in the documents: the rest covers nothing."
        )
        if searched:
            told += (
                " Where a system searches in several steps, the union of its steps is what is graded everywhere else."
            )
        yield Section("Retrievers of other systems", told, (foreign, searched) if searched else (foreign,))
    worst = hardest(record, material.questions)
    if worst.rows:
        by_all = sum(missed_by(record, question) == len(record.strategies) for question in material.questions)
        told = f"{plural(by_all, 'question')} no strategy wins at 3. The first {len(worst.rows)} by misses, then by id."
        yield Section("The hardest questions", told, (worst,))
    if record.leakage:
        yield Section(
            "How much the questions give away",
            "The share of a question's content words, stemmed, that stand in its evidence, in percent; and by how many points "
            "of Hit@3 BM25 does better than vectors, by chunker. The higher, the more a question is answered by its own words.",
            (leakage(record.leakage),),
        )
    yield Section("How much is noise", _noise(record))


def _noise(record: Record) -> str:
    n = record.counts.answerable
    text = f"One question is worth {100 / n:.2f} points."
    scored = {name: value for name, s in record.strategies.items() if (value := s.metric("hit@3")) is not None}
    if scored:
        best = max(scored, key=lambda name: scored[name])
        low, high = wilson(round(scored[best] * n), n)
        text += (
            f" The best row, `{best}`, has Hit@3 {percent(scored[best])} with a 95 % interval from {percent(low)} to "
            f"{percent(high)} (Wilson), if the questions are a random sample of those that people ask; rows of one run "
            f"share their questions, so that differences between rows are surer than the rows are."
        )
    return text + (
        " The same commit gives the same figures on one kind of CPU; on another, scores differ in the seventh digit "
        "and near-ties can swap."
    )
