"""The instrument's half of a fingerprint: all that a figure depends on beside the strategies. It compares nothing."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path

from docmind.config import COVERED, DEPTH, TOKEN_BUDGET
from docmind.evaluation.key.dataset import AnswerKey
from docmind.evaluation.record.layout import checksum
from docmind.evaluation.record.types import GoldRule, Instrument, MetricsRule
from docmind.evaluation.scoring import metrics, spans
from docmind.types import Document, Question, merge, overlap


def instrument(key: AnswerKey, documents: Sequence[Document]) -> Instrument:
    """Of the questions asked and the documents searched, whatever the order of either."""
    texts = {document.id: document.text for document in documents}
    return Instrument(
        answer_key=key.sha256,
        pages={doc_id: _sha256(text) for doc_id, text in sorted(texts.items())},
        questions={q.id: _question(q, texts) for q in sorted(key.questions, key=lambda q: q.id)},
        gold_rule=GoldRule(depth=DEPTH, covered=COVERED, code=_rule_code()),
        metrics=MetricsRule(names=tuple(metrics.METRICS), token_budget=TOKEN_BUDGET, code=_metrics_code()),
    )


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


def _rule_code() -> str:
    """Line ends do not count, here and below: a checkout on Windows has others."""
    return _sha256("".join(inspect.getsource(part) for part in (spans, merge, overlap)))


def _metrics_code() -> str:
    files = sorted(Path(metrics.__file__).parent.glob("*.py"))
    return _sha256("".join(path.read_text(encoding="utf-8") for path in files))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
