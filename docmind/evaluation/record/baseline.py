"""The committed reference that later runs are compared with: ranks and chunk ids, no text. It compares nothing."""

from __future__ import annotations

from pathlib import Path

from docmind.errors import IncompleteError
from docmind.evaluation.record.consistency import DISPLACING
from docmind.evaluation.record.reading import read_record
from docmind.evaluation.record.types import QuestionResult, Record, StrategyResult


def baseline(record: Record) -> Record:
    """The reference for `record`: as it is, but a question has only its `ranks` and, if it is answerable, the ids of its
    first three chunks. Raises IncompleteError where a question ended in an error."""
    if errors := record.counts.errors:
        raise IncompleteError(
            f"no baseline was saved: {errors} questions ended in an error, so there is nothing to hold later runs "
            "against. Mend what the errors name and run again."
        )
    strategies = {name: _strategy(strategy) for name, strategy in record.strategies.items()}
    return record.model_copy(update={"kind": "baseline", "strategies": strategies})


def _strategy(strategy: StrategyResult) -> StrategyResult:
    kept = {
        name: QuestionResult(
            ranks=found.ranks, chunks=tuple(hit.chunk for hit in found.hits[:DISPLACING]) if found.ranks else ()
        )
        for name, found in strategy.questions.items()
    }
    return strategy.model_copy(update={"questions": kept})


def read_baseline(path: Path) -> Record:
    """What `baseline` gave, from its file. Raises IncompleteError where there is none yet, BaselineError where it is cut
    off, edited, of an earlier version or something else."""
    if not path.exists():
        raise IncompleteError(
            f"{path}: there is no baseline. Name one with --baseline, or make it: docmind eval --save-baseline, which "
            "writes it to the folder --out."
        )
    return read_record(path, ("baseline",))
