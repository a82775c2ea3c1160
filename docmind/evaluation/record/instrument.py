"""The instrument's half of a fingerprint: all that a figure depends on beside the strategies. It compares nothing."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock

from docmind.config import COVERED
from docmind.evaluation.key.dataset import AnswerKey
from docmind.evaluation.record.layout import checksum
from docmind.evaluation.record.types import GoldRule, Instrument, MetricsRule
from docmind.evaluation.scoring import metrics, spans
from docmind.evaluation.scoring.measures import Measure, depth
from docmind.types import Chunk, Document, Hit, Question, Span, merge, overlap


def instrument(key: AnswerKey, documents: Sequence[Document], measures: Sequence[Measure]) -> Instrument:
    """Of the questions asked, the documents searched, whatever the order of either, and what was measured."""
    return Instrument(
        answer_key=key.sha256,
        pages=document_hashes(documents),
        questions=question_hashes(key.questions, {document.id: document for document in documents}),
        gold_rule=GoldRule(covered=COVERED, code=rule_code()),
        metrics=MetricsRule(names=tuple(m.name for m in measures), depth=depth(measures), code=_metrics_code()),
    )


def document_hashes(documents: Iterable[Document]) -> dict[str, str]:
    """A hash of each document's text, by its id, rising."""
    return {document.id: _sha256(document.text) for document in sorted(documents, key=lambda document: document.id)}


def question_hashes(questions: Iterable[Question], documents: Mapping[str, Document]) -> dict[str, str]:
    """A hash of each question, by its id, rising."""
    texts = {doc_id: document.text for doc_id, document in documents.items()}
    return {question.id: _question(question, texts) for question in sorted(questions, key=lambda q: q.id)}


def _question(question: Question, texts: Mapping[str, str]) -> str:
    """Of what is asked and what answers it: pages and words, not offsets, so that an edit elsewhere changes nothing."""
    return checksum(
        {
            "text": question.text,
            "history": [[turn.role, turn.text] for turn in question.history],
            "doc_ids": None if question.doc_ids is None else sorted(question.doc_ids),
            "gold": [
                {
                    "grade": piece.grade,
                    "document": piece.doc_id,
                    "alternatives": sorted([s.doc_id, texts[s.doc_id][s.start : s.end]] for s in piece.spans),
                }
                for piece in question.gold
            ],
        }
    )


DECIDES = (spans, Span, Chunk.shown.fget, Hit.shown.fget, merge, overlap)  # type: ignore[attr-defined]
"""What decides whether a hit covers a piece: what it shows, and the arithmetic on spans."""

_PARSING = Lock()
"""To find a class, inspect parses its module; Python 3.11 can raise SystemError where two threads parse at once."""


def rule_code() -> str:
    """A hash of the code that decides what counts. Line ends do not count, here and below: a checkout on Windows has
    others."""
    with _PARSING:
        return _sha256("".join(inspect.getsource(part) for part in DECIDES))


def _metrics_code() -> str:
    files = sorted(Path(metrics.__file__).parent.glob("*.py"))
    return _sha256("".join(path.read_text(encoding="utf-8") for path in files))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
