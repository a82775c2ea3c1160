"""Judges answers offline and counts verdicts: do the cited sentences cover the gold? It asks no model.

A row is one question's answer as it stands in the JSON Lines file: what was said, on what grounds, and the verdict on it.
A row with an `error` has no verdict and is in no rate; how many there are is told beside every rate (`coverage`).
"""

from __future__ import annotations

import inspect
import json
import logging
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from docmind.config import COVERED
from docmind.errors import StorageError, UsageError
from docmind.evaluation import spans, stats
from docmind.evaluation.layout import checksum
from docmind.evaluation.spans import covers
from docmind.types import Answer, Question

_log = logging.getLogger(__name__)

SCHEMA = "docmind.answers/1"

Verdict = Literal["correct", "partial", "wrong", "abstained", "unsupported"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


def span_verdict(question: Question, answer: Answer) -> Verdict:
    """What the cited spans are worth: `correct` where they cover every piece of the gold, `partial` where at least one,
    else `wrong`, as is every answer to an unanswerable question that is not `abstained`. An answer without a citation is
    `unsupported`."""
    if answer.abstained:
        return "abstained"
    if not answer.citations:
        return "unsupported"
    cited = [span for citation in answer.citations for span in citation.spans]
    covered = [covers(cited, piece) for piece in question.gold]
    if not any(covered):
        return "wrong"
    return "correct" if all(covered) else "partial"


def span_judge() -> str:
    """Names span_verdict and its rule in a row's key, so that what another rule judged is judged anew."""
    return checksum(["span", COVERED, *(inspect.getsource(part) for part in (span_verdict, spans))])


def row(question: Question, key: str, answer: Answer, verdict: Verdict | None, **judged: Any) -> dict[str, Any]:
    """The row of an answer; `key` tells by its content whether it can be used again, `judged` is what a judge adds."""
    return {
        "id": question.id,
        "key": key,
        "question": question.text,
        "answer": answer.text,
        "citations": [
            {
                "number": citation.number,
                "chunk": citation.hit.chunk.id,
                "spans": [[span.doc_id, span.start, span.end] for span in citation.spans],
            }
            for citation in answer.citations
        ],
        "removed": list(answer.removed),
        "abstained": answer.abstained,
        "confidence": answer.confidence,
        "verdict": verdict,
        "usage": [answer.usage.input_tokens, answer.usage.output_tokens],
        "seconds": {name: round(seconds, 4) for name, seconds in answer.timings.items()},
        "error": None,
        **judged,
    }


def failed_row(question: Question, key: str, error: str) -> dict[str, Any]:
    """The row of a question whose answer, or whose judgement, could not be had."""
    return {"id": question.id, "key": key, "question": question.text, "verdict": None, "error": error}


def answer_key_of(question: Question, answerer: str, judge: str, prompt: str, passages: Iterable[str]) -> str:
    """A hash of all that an answer and its verdict come from: question, what was said before it, and gold; who answers and
    who judges, the rules they are given, and the passages' texts."""
    gold = [[piece.doc_id, *sorted([s.doc_id, s.start, s.end] for s in piece.spans)] for piece in question.gold]
    asked = [question.id, question.text, question.answer, *([turn.role, turn.text] for turn in question.history)]
    return checksum([asked, gold, answerer, judge, prompt, list(passages)])[:32]


def read_rows(path: Path) -> dict[str, dict[str, Any]]:
    """The rows of `path` by key, the last one of each; none where there is no file. A line that is no row, as where a run
    was killed while it wrote, is left out with a warning. Raises StorageError where the file cannot be read."""
    if not path.exists():
        return {}
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise StorageError(
            f"{path}: the answers cannot be read: {error.strerror}. Move the file away to begin anew."
        ) from error
    rows: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)  # a line may be cut within a character, which is a ValueError too
            rows[found["key"]] = found
        except (ValueError, KeyError, TypeError):
            _log.warning("%s:%d: is no whole row, and its question is asked again.", path, number)
    return rows


def stratified(questions: Sequence[Question], n: int, seed: int = stats.SEED) -> tuple[Question, ...]:
    """`n` of `questions`, drawn with a seed, each type in proportion (largest remainders), in the order of the key."""
    if n >= len(questions):
        return tuple(questions)
    by_type: dict[str, list[Question]] = {}
    for question in questions:
        by_type.setdefault(question.type or "", []).append(question)
    shares = {kind: n * len(group) / len(questions) for kind, group in by_type.items()}
    sizes = {kind: int(share) for kind, share in shares.items()}
    for kind in sorted(shares, key=lambda kind: (sizes[kind] - shares[kind], kind))[: n - sum(sizes.values())]:
        sizes[kind] += 1
    generator = random.Random(seed)  # noqa: S311 - a sample, no secret
    drawn = {q.id for kind in sorted(by_type) for q in generator.sample(by_type[kind], sizes[kind])}
    return tuple(question for question in questions if question.id in drawn)


def summary(rows: Sequence[Mapping[str, Any]], questions: Sequence[Question]) -> dict[str, Any]:
    """Counts and rates of the verdicts on `rows`, one a question of `questions`.

    `answerable` and `unanswerable`, each whole, by type and by split: `n` questions, `judged` of them (the denominator of
    every rate), a count a verdict, and `rates`, the counts over `judged`. Unanswerable questions are by distance too:
    near where the topic is there and the fact is not, far where neither is. `confidence`: how well the answerer's own
    confidence tells answerable from unanswerable questions, as areas under the ROC curve with 95 % intervals.
    """
    by_id = {found["id"]: found for found in rows}
    answerable = [question for question in questions if question.gold]
    unanswerable = [question for question in questions if not question.gold]
    return {
        "counts": {"answerable": len(answerable), "unanswerable": len(unanswerable)},
        "answerable": {
            "all": _counts(answerable, by_id),
            **_groups(answerable, by_id, "type"),
            **_groups(answerable, by_id, "split"),
        },
        "unanswerable": {
            "all": _counts(unanswerable, by_id),
            "near": _counts([question for question in unanswerable if question.near_miss], by_id),
            "far": _counts([question for question in unanswerable if not question.near_miss], by_id),
            **_groups(unanswerable, by_id, "split"),
        },
        "confidence": {
            split or "all": _auroc(
                [q for q in answerable if split in (None, q.split)],
                [q for q in unanswerable if split in (None, q.split)],
                by_id,
            )
            for split in (None, "dev", "test")
        },
    }


def _groups(questions: Sequence[Question], rows: Mapping[str, Mapping[str, Any]], label: str) -> dict[str, Any]:
    labels = sorted({name for question in questions if (name := getattr(question, label)) is not None})
    return {name: _counts([q for q in questions if getattr(q, label) == name], rows) for name in labels}


def _counts(questions: Sequence[Question], rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    verdicts = [rows[question.id]["verdict"] for question in questions if rows[question.id]["error"] is None]
    counts: dict[str, int] = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
    rates = {verdict: count / len(verdicts) for verdict, count in counts.items()} if verdicts else None
    return {"n": len(questions), "judged": len(verdicts), **counts, "rates": rates}


def _auroc(
    answerable: Sequence[Question], unanswerable: Sequence[Question], rows: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    def sure(questions: Iterable[Question]) -> list[float]:
        values = (rows[question.id].get("confidence") for question in questions)
        return [value for value in values if value is not None]

    against = {
        "all": unanswerable,
        "near": [question for question in unanswerable if question.near_miss],
        "far": [question for question in unanswerable if not question.near_miss],
    }
    return {name: stats.auroc(sure(answerable), sure(group)) for name, group in against.items()}


def check_judge(judge: str, answerer: str) -> None:
    """Raise UsageError where a model would judge what it wrote itself."""
    if judge == answerer:
        raise UsageError(f"{judge} cannot judge its own answers. Name another model with --judge-model.")
