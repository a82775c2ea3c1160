"""The committed reference that later runs are compared with: ranks and chunk ids, no text. It compares nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docmind.errors import IncompleteError
from docmind.evaluation.record import results
from docmind.evaluation.record.results import read_object, sealed, unbroken

SCHEMA = "docmind.baseline/1"
DISPLACING = 3
"""How many chunk ids are kept a question: those that stand where a lost one might have stood."""

_REMEDY = "Restore the committed file, or make it anew: docmind eval --save-baseline."


def baseline(run: Mapping[str, Any]) -> dict[str, Any]:
    """The reference for `run`, the object of latest.json: as it is, but a question has only its `ranks` and its first
    three `chunks`, and `checksum` is that of all the rest. Raises IncompleteError where a question ended in an error."""
    if errors := run["counts"]["errors"]:
        raise IncompleteError(
            f"no baseline was saved: {errors} questions ended in an error, so there is nothing to hold later runs "
            "against. Mend what the errors name and run again."
        )
    reference = {
        **run,
        "schema": SCHEMA,
        "strategies": {name: _strategy(strategy) for name, strategy in run["strategies"].items()},
    }
    return sealed(reference)


def _strategy(strategy: Mapping[str, Any]) -> dict[str, Any]:
    questions = {
        question_id: {"ranks": found["ranks"], "chunks": [hit["chunk"] for hit in found["hits"][:DISPLACING]]}
        for question_id, found in strategy["questions"].items()
    }
    return {**strategy, "questions": questions}


def read_baseline(path: Path) -> dict[str, Any]:
    """What `baseline` gave, from its file. Raises IncompleteError where there is none yet, StorageError where it is cut
    off, edited or something else."""
    if not path.exists():
        raise IncompleteError(
            f"{path}: there is no baseline. Name one with --baseline, or make it: docmind eval --save-baseline, which "
            "writes it to the folder --out."
        )
    return unbroken(path, read_object(path, (SCHEMA,), _REMEDY), _REMEDY)


def read_run(path: Path) -> dict[str, Any]:
    """What `results` or `baseline` gave, from its file, as the schema in it says. Raises StorageError where it cannot be
    read, is cut off, edited or something else."""
    found = read_object(path, (results.SCHEMA, SCHEMA), "Name a latest.json or a baseline.json.")
    return found if found["schema"] == results.SCHEMA else unbroken(path, found, _REMEDY)
