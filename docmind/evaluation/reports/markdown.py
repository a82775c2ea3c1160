"""Results as a Markdown page: what sections.py tells, with its tables."""

from __future__ import annotations

from docmind.evaluation.record.types import Record
from docmind.evaluation.reports import inert
from docmind.evaluation.reports.material import Material, Report
from docmind.evaluation.reports.sections import about, sections
from docmind.evaluation.reports.tables import Table
from docmind.text import plural


def render(material: Material) -> dict[str, str]:
    """`latest.md`."""
    parts = ["# Retrieval results", _counts(material.record), inert.markdown(about(material))]
    parts += [f"**Note:** {inert.markdown(note)}" for note in material.notes]
    for section in sections(material):
        parts += [f"## {section.title}", section.told, *map(table, section.tables)]
    return {"latest.md": "\n\n".join(parts) + "\n"}


REPORT = Report(render, ("latest.md",))


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


def table(shown: Table) -> str:
    """A table of Markdown, its figures flush right."""
    last = len(shown.header) - 1
    rule = ("---:" if n > 0 and not (shown.words and n == last) else "---" for n in range(last + 1))
    header, *rows = (tuple(map(inert.markdown, row)) for row in (shown.header, *shown.rows))
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))
