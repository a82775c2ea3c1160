"""Results as a Markdown page: the ladder, the whole matrix, where questions were lost, the hardest ones, and the noise."""

from __future__ import annotations

from docmind.evaluation.record.types import Record
from docmind.evaluation.reports import inert
from docmind.evaluation.reports.material import Material, Report
from docmind.evaluation.reports.tables import (
    Table,
    by_type,
    details,
    hardest,
    ladder,
    leakage,
    losses,
    matrix,
    percent,
)
from docmind.evaluation.scoring.stats import wilson
from docmind.text import plural


def render(material: Material) -> dict[str, str]:
    """`latest.md`."""
    record = material.record
    parts = ["# Retrieval results", _counts(record)]
    if steps := ladder(record):
        parts += [
            "## The ladder",
            "Each chunker with plain vector search; then, on the one that is best on `dev` (on all questions where "
            "the key has no such split), fusion with BM25 and reranking. Hit@3 in percent of the answerable questions.",
            table(steps),
        ]
    parts += [
        "## All strategies",
        "Hit@k in percent; ms/query is the median on this machine, one query at a time, model included. In the second table "
        "the columns of splits are Hit@3 in percent, the others fractions of 1.",
        table(matrix(record, material.medians)),
        table(details(record)),
    ]
    if types := by_type(record):
        parts += ["## By type of question", _TYPES, table(types)]
    parts += [
        "## Where questions are lost",
        "The ceiling is the share of questions that some single chunk of the chunker can win. A miss is counted where "
        "the last chunk that could have won it fell out.",
        table(losses(record)),
    ]
    worst = hardest(record, material.questions)
    if worst.rows:
        lost = sum(all(s.questions[q.id].lost_at for s in record.strategies.values()) for q in material.questions)
        told = f"{plural(lost, 'question')} no strategy wins at 3. The first {len(worst.rows)} by misses, then by id:"
        parts += ["## The hardest questions", told, table(worst)]
    if record.leakage:
        parts += ["## How much the questions give away", _LEAKAGE, table(leakage(record.leakage))]
    return {"latest.md": "\n\n".join([*parts, "## How much is noise", _noise(record)]) + "\n"}


REPORT = Report(render, ("latest.md",))

_TYPES = (
    "Hit@3 in percent, behind it the 95 % interval (Wilson) of so many questions, their number in the head. Where questions "
    "of a type need several pieces, Hit@3 asks for any of them, and full@k for all."
)

_LEAKAGE = (
    "The share of a question's content words, stemmed, that stand in its evidence, in percent; and by how many points of "
    "Hit@3 BM25 does better than vectors, by chunker. The higher, the more a question is answered by its own words."
)


def _counts(record: Record) -> str:
    counts = record.counts
    text = f"{plural(counts.answerable, 'answerable question')}."
    if counts.unanswerable:
        text += f" {plural(counts.unanswerable, 'unanswerable question')} beside them count in no figure here."
    if counts.left_out:
        text += f" **A filter left out {plural(counts.left_out, 'question')} of the answer key.**"
    if counts.errors:
        text += f" **Incomplete: {plural(counts.errors, 'answer')} ended in an error**; a strategy with errors has no metrics."
        for name, strategy in record.strategies.items():
            for question_id, error in strategy.errors.items():
                text += f"\n\n- `{name}`, `{question_id}`: {inert.markdown(error)}"
    return text


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


def table(shown: Table) -> str:
    """A table of Markdown, its figures flush right."""
    rule = ("---", *("---:" for _ in shown.header[1:]))
    rows = [shown.header, rule, *(tuple(map(inert.markdown, row)) for row in shown.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
