"""A run of answers as it stands in latest.answers.json and answers.json: its one reader and its one writer.

The second, the committed reference, is sealed: it ends with a checksum of the rest.
"""

from __future__ import annotations

import reprlib
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError, model_validator

from docmind.errors import BaselineError, IncompleteError
from docmind.evaluation.record.layout import dumps
from docmind.evaluation.record.results import read_object, sealed, unbroken
from docmind.evaluation.scoring.summary import Model, Summary
from docmind.types import Verdict

SCHEMA = "docmind.answers/3"

REMEDY = "Restore the committed file, or make it anew: docmind answers --save-baseline."


class Fingerprint(Model):
    """What the verdicts are of: a hash of each question by id, the names of strategy, answerer and judge ("span" without a
    model), and a hash of the `code` that makes answers."""

    questions: dict[str, str]
    strategy: str
    answerer: str
    judge: str
    code: str


class AnswersRecord(Model):
    """A run of answers. `verdicts` are by question, rising; None where it ended in an error."""

    fingerprint: Fingerprint
    summary: Summary
    verdicts: dict[str, Verdict | None]

    @model_validator(mode="after")
    def _of_its_questions(self) -> Self:
        if odd := sorted(self.verdicts.keys() ^ self.fingerprint.questions.keys()):
            raise ValueError(
                f"verdicts: one for each of fingerprint.questions was expected; {odd[0]!r} is in one alone"
            )
        return self


def written(record: AnswersRecord, *, seal: bool) -> str:
    """The text of the file; with `seal` that of the reference. The same record gives the same bytes."""
    found: dict[str, Any] = {"schema": SCHEMA, **record.model_dump()}
    return dumps(sealed(found) if seal else found)


def read_reference(path: Path) -> AnswersRecord:
    """The record in a sealed file. Raises IncompleteError where there is none yet, StorageError where it cannot be read,
    BaselineError, which names the field, where it holds something else than was written."""
    if not path.exists():
        raise IncompleteError(
            f"{path}: there are no committed answers yet. Make them: docmind answers --save-baseline."
        )
    found = unbroken(path, read_object(path, (SCHEMA,), REMEDY), REMEDY)
    try:
        return AnswersRecord.model_validate({key: found[key] for key in found if key not in ("schema", "checksum")})
    except ValidationError as error:
        raise BaselineError(f"{path}: {_told(error)}. {REMEDY}") from error


def _told(error: ValidationError) -> str:
    """The first fault: field, what stands there, what was expected; and how many there are beside it."""
    first, *others = error.errors()
    also = f" (and {len(others)} more)" if others else ""
    expected = first["msg"].removeprefix("Value error, ")
    field = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f"{field} is missing{also}"
    if first["type"] == "value_error":
        return f"{f'{field}.' if field else ''}{expected}{also}"
    return f"{field} is {reprlib.repr(first['input'])}: {expected}{also}"
