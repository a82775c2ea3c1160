"""A run file of TREC: `trec: run.txt`, six columns a line. Its ids name documents, and whole documents are what was found."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from docmind.errors import UsageError
from docmind.foreign.declared import Declared
from docmind.foreign.linewise import lines, read
from docmind.foreign.reply import Asked, Passage, Reply, ReplyError

FORM = "question Q0 document rank score tag"


class TrecSource:
    """The order is that of trec_eval: by score, falling, equal ones by the document's id, falling; the rank column does not
    count. Ids may be percent-encoded."""

    live = False

    def __init__(self, declared: Declared) -> None:
        """Raises StorageError where the file cannot be read, UsageError where a line is none of a run."""
        path = Path(declared.trec or "")
        data = read(path, "trec")
        self._sha256 = hashlib.sha256(data).hexdigest()
        found: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for number, line in lines(path, data):
            try:
                question, document, score = _columns(line)
                if document in found[question]:
                    raise ValueError(f"the document {document!r} stands twice for question {question!r}")
                found[question][document] = score
            except ValueError as fault:
                raise UsageError(f"{path}: line {number}: {fault}. A line is: {FORM}.") from None
        self._found = {name: _ranked(scores) for name, scores in found.items()}

    @property
    def treatment(self) -> Mapping[str, str]:
        """The hash of the file."""
        return {"sha256": self._sha256}

    def ask(self, asked: Asked) -> Reply:
        """Raises ReplyError for a question that is not in the file."""
        if asked.id not in self._found:
            raise ReplyError("the run has no line for this question")
        return Reply(self._found[asked.id])

    def close(self) -> None:
        """There is nothing to let go of."""


def _columns(line: bytes) -> tuple[str, str, float]:
    """Question, document and score. Raises ValueError, which says what is wrong."""
    parts = line.decode("utf-8").split()
    if len(parts) != 6:
        raise ValueError(f"{len(parts)} columns were found, 6 were expected")
    question, _, document, _, written, _ = parts
    try:
        score = float(written)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"the score {written!r} is no finite number")
    return unquote(question), unquote(document), score


def _ranked(scores: Mapping[str, float]) -> tuple[Passage, ...]:
    by_id = sorted(scores, reverse=True)
    return tuple(Passage(source=name, score=scores[name]) for name in sorted(by_id, key=lambda name: -scores[name]))
