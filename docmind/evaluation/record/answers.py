"""A run of answers as it stands in latest.answers.json and answers.json: its one reader and its one writer.

The second, the committed reference, is sealed: it ends with a checksum of the rest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from docmind.errors import BaselineError, IncompleteError
from docmind.evaluation.record.checking import FieldError, check_seal, load, validated, whole
from docmind.evaluation.record.layout import dumps, sealed
from docmind.evaluation.scoring.form import Form, Row
from docmind.evaluation.scoring.summary import Summary
from docmind.types import Verdict

SCHEMA = "docmind.answers/3"

REMEDY = "Restore the committed file, or make it anew: docmind answers --save-baseline."


class Fingerprint(Form):
    """What the verdicts are of: a hash of each question by id, the names of strategy, answerer and judge ("span" without a
    model), and a hash of the `code` that makes answers. `served` and `judged_by` are the models that servers say they
    answered and judged with, rising: several where a name came to mean another model."""

    questions: dict[str, str]
    strategy: str
    answerer: str
    judge: str
    code: str
    served: Row[str] = ()
    judged_by: Row[str] = ()


class AnswersRecord(Form):
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
    """The record in a sealed file. Raises IncompleteError where there is none yet, BaselineError, which names the field,
    where it cannot be read or holds something else than was written."""
    if not path.exists():
        raise IncompleteError(
            f"{path}: there are no committed answers yet. Make them: docmind answers --save-baseline."
        )
    try:
        fields = whole(load(path), SCHEMA)
        seal = fields.pop("checksum", None)
        record = validated(AnswersRecord, {name: value for name, value in fields.items() if name != "schema"})
        check_seal(fields, seal)
    except FieldError as fault:
        raise BaselineError(f"{path}: {fault} {REMEDY}") from fault
    return record
