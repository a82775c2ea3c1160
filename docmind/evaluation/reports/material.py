"""What every report draws on. It computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docmind.evaluation.gate.verdict import Verdict
from docmind.types import Document, Question


@dataclass(frozen=True, slots=True)
class Material:
    """`results` is the object of latest.json (results.py); `timings` maps strategies to milliseconds (latency.py);
    `documents` maps ids to the documents; `key` is the path of the answer key, and `link` a web address that a path
    of the repository follows, "" where there is none. `relevant` maps strategies and questions to the ids of the chunks
    that cover a piece. `verdict` is None where nothing was compared."""

    results: Mapping[str, Any]
    timings: Mapping[str, Any]
    questions: Sequence[Question]
    documents: Mapping[str, Document]
    relevant: Mapping[str, Mapping[str, frozenset[str]]]
    key: str
    link: str = ""
    verdict: Verdict | None = None


Report = Callable[[Material], Mapping[str, str]]
"""The files of a report, as texts by name; none where there is nothing to tell."""
