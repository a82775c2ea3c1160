"""Answers to be graded by hand, as a CSV file, and how far a judge agrees with those grades. It judges nothing itself."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docmind.errors import StorageError, UsageError
from docmind.evaluation.record.answerrows import Row
from docmind.evaluation.scoring import stats
from docmind.evaluation.scoring.answers import VERDICTS
from docmind.evaluation.scoring.answerstats import kappa
from docmind.files import read_whole
from docmind.types import Verdict

SIZE = 10
COLUMNS = ("key", "id", "question", "right_answer", "answer", "judge", "grade")


def sheet(rows: Sequence[Row], right: Mapping[str, str | None], kept: Sequence[Mapping[str, str]]) -> str:
    """The file to grade: SIZE random judged rows, `grade` left empty. Rows of `kept` that have a grade stay, first; others
    make way. `right` maps questions to their known answers."""
    graded = [dict(found) for found in kept if found["grade"]]
    taken = {found["key"] for found in graded}
    fresh = [row for row in rows if row.verdict and row.key not in taken]
    wanted = max(0, SIZE - len(graded))
    drawn = random.Random(stats.SEED).sample(fresh, min(wanted, len(fresh)))  # noqa: S311 - a sample, no secret
    written = io.StringIO()
    writer = csv.DictWriter(written, COLUMNS, lineterminator="\n")
    writer.writeheader()
    new = (
        {
            "key": row.key,
            "id": row.id,
            "question": row.question,
            "right_answer": right[row.id] or "(unanswerable)",
            "answer": row.answer or "",
            "judge": row.verdict or "",
            "grade": "",
        }
        for row in drawn
    )
    writer.writerows({name: _cell(text) for name, text in found.items()} for found in (*graded, *new))
    return written.getvalue()


def _cell(text: str) -> str:
    """Text that spreadsheets take for text, not for a formula, and that csv reads as it wrote it: a lone carriage return it
    takes for the end of a row."""
    text = "\n".join(text.splitlines())
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def read_sheet(path: Path) -> list[dict[str, str]]:
    """The rows of the file, none where there is no file. Raises StorageError where it is no such file or was damaged,
    UsageError where a grade is no verdict."""
    if not path.exists():
        return []
    try:
        csv.field_size_limit(2**30)  # a model's answer can be longer than csv's own limit
        text = read_whole(path).decode("utf-8-sig")  # spreadsheets write a byte order mark
        reader = csv.DictReader(io.StringIO(text, newline=""))
        rows = list(reader)
        columns = tuple(reader.fieldnames or ())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StorageError(f"{path}: cannot be read: {error}. Restore it, or move it away to begin anew.") from error
    if columns != COLUMNS:
        raise StorageError(
            f"{path}: has the columns {', '.join(columns)}; {', '.join(COLUMNS)} were expected. Restore it."
        )
    for number, found in enumerate(rows, start=2):
        if None in found or None in found.values():
            there = "more" if None in found else "fewer"
            raise StorageError(f"{path}: row {number} has {there} cells than the {len(COLUMNS)} columns. Restore it.")
        if found["judge"] not in VERDICTS:
            raise StorageError(
                f"{path}: row {number} has the judge's verdict {found['judge']!r}; one of {', '.join(VERDICTS)} was "
                "expected. Restore it: only the column 'grade' is for you."
            )
        found["grade"] = found["grade"].strip().casefold()
        if found["grade"] and found["grade"] not in VERDICTS:
            raise UsageError(
                f"{path}: row {number} has the grade {found['grade']!r}; one of {', '.join(VERDICTS)} was expected."
            )
    return rows


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a judge agrees with the hand over `n` graded answers: `raw`, the share of equal verdicts, and Cohen's kappa
    with its 95 % interval, None where it is not defined. `judge` and `grade` say how often each gives each verdict."""

    n: int
    raw: float
    kappa: float | None
    low: float | None
    high: float | None
    judge: Mapping[Verdict, int]
    grade: Mapping[Verdict, int]

    @property
    def telling(self) -> bool:
        """Whether kappa says anything: where one side gives one verdict alone, it is 0 or not defined, however far they
        agree."""
        return min(sum(map(bool, side.values())) for side in (self.judge, self.grade)) > 1


def agreement(rows: Sequence[Mapping[str, str]]) -> Agreement | None:
    """That of `judge` and `grade` over the graded rows. None where nothing is graded."""
    pairs = [(found["judge"], found["grade"]) for found in rows if found["grade"]]
    found = kappa(pairs)
    if not found:
        return None
    judge, grade = ({verdict: side.count(verdict) for verdict in VERDICTS} for side in zip(*pairs, strict=True))
    return Agreement(len(pairs), found["agreement"] or 0.0, found["value"], found["low"], found["high"], judge, grade)
