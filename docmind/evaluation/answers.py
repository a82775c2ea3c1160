"""Judges answers offline and counts verdicts: do the cited sentences cover the gold? It asks no model.

A Row is one question's answer as it stands in the JSON Lines file. One with an `error` has no verdict and is in no rate;
how many have one is told beside every rate (`judged` of `n`).
"""

from __future__ import annotations

import inspect
import logging
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from docmind.config import COVERED
from docmind.errors import StorageError, UsageError
from docmind.evaluation import spans, stats
from docmind.evaluation.layout import checksum
from docmind.evaluation.spans import covers
from docmind.types import Answer, Citation, Question, Ranking, Span, Usage, Verdict

_log = logging.getLogger(__name__)

SCHEMA = "docmind.answers/2"

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


def _whole(span: tuple[str, int, int]) -> tuple[str, int, int]:
    Span(*span)  # a ValueError where it is none
    return span


Count = Annotated[int, Field(ge=0)]


class Cited(BaseModel):
    """A citation as a row keeps it: the hit's chunk, and what of it was cited as (document, start, end)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    number: Annotated[int, Field(ge=1)]
    chunk: str
    spans: tuple[Annotated[tuple[str, int, int], AfterValidator(_whole)], ...]


class Row(BaseModel):
    """A question's answer, what it rests on, and either the verdict on it or the `error` that left it without one.

    `answer_key` tells by its content whether the answer can be used again, `key` whether the verdict can. `answer` is None
    where none could be had. `reason` is a judging model's, `raw` its reply where that could not be read. `usage` are the
    tokens, in and out, that the answer cost, without its judgement; `seconds` is by step.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: str
    key: str
    answer_key: str
    question: str
    answer: str | None = None
    citations: tuple[Cited, ...] = ()
    removed: tuple[int, ...] = ()
    abstained: bool = False
    confidence: Annotated[float, Field(allow_inf_nan=False)] | None = None
    cut: bool = False
    model: str = ""
    usage: tuple[Count, Count] = (0, 0)
    seconds: dict[str, float] = {}
    verdict: Verdict | None = None
    reason: str | None = None
    raw: str | None = None
    error: str | None = None

    @model_validator(mode="after")
    def _judged_or_failed(self) -> Self:
        if (self.verdict is None) == (self.error is None) or (self.verdict and self.answer is None):
            raise ValueError("an answer with a verdict, or an error, was expected")
        return self

    @classmethod
    def of(cls, question: Question, keys: tuple[str, str], answer: Answer | None, **judged: Any) -> Row:
        """The row of `answer`; `keys` are those of the answer and of the verdict, `judged` is what became of it."""
        told: dict[str, Any] = {}
        if answer:
            told = {
                "answer": answer.text,
                "citations": tuple(
                    Cited(
                        number=citation.number,
                        chunk=citation.hit.chunk.id,
                        spans=tuple((span.doc_id, span.start, span.end) for span in citation.spans),
                    )
                    for citation in answer.citations
                ),
                "removed": answer.removed,
                "abstained": answer.abstained,
                "confidence": answer.confidence,
                "cut": answer.cut,
                "model": answer.model,
                "usage": (answer.usage.input_tokens, answer.usage.output_tokens),
                "seconds": {name: round(seconds, 4) for name, seconds in answer.timings.items()},
            }
        return cls(id=question.id, answer_key=keys[0], key=keys[1], question=question.text, **told, **judged)

    def said(self, ranking: Ranking, answerer: str) -> Answer | None:
        """The answer itself, from the passages that it was made from. None where there is none, or where it cites what is
        not among them."""
        hits = {hit.chunk.id: hit for hit in ranking.hits}
        if self.answer is None or any(cited.chunk not in hits for cited in self.citations):
            return None
        return Answer(
            text=self.answer,
            citations=tuple(
                Citation(cited.number, hits[cited.chunk], tuple(Span(*span) for span in cited.spans))
                for cited in self.citations
            ),
            abstained=self.abstained,
            ranking=ranking,
            answerer=answerer,
            model=self.model,
            removed=self.removed,
            usage=Usage(*self.usage),
            timings=self.seconds,
            confidence=self.confidence,
            cut=self.cut,
        )


def answer_key_of(question: Question, answerer: str, prompt: str, passages: Iterable[tuple[str, str]]) -> str:
    """A hash of all that an answer comes from: question and what was said before it, who answers, the rules for it, and
    the passages, each the id of its chunk, which tells its place, and its text."""
    asked = [question.id, question.text, *([turn.role, turn.text] for turn in question.history)]
    return checksum([asked, answerer, prompt, list(map(list, passages))])[:32]


def verdict_key_of(question: Question, answer_key: str, judge: str) -> str:
    """A hash of all that a verdict comes from: the answer's key, the gold, the right answer, and who judges."""
    gold = [[piece.doc_id, *sorted([s.doc_id, s.start, s.end] for s in piece.spans)] for piece in question.gold]
    return checksum([answer_key, gold, question.answer, judge])[:32]


def read_rows(path: Path) -> list[Row]:
    """The rows of `path` in their order; none where there is no file. Lines that are no row, as where a run was killed
    while it wrote, are left out with a warning. Raises StorageError where the file cannot be read."""
    if not path.exists():
        return []
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise StorageError(
            f"{path}: the answers cannot be read: {error.strerror}. Move the file away to begin anew."
        ) from error
    rows, odd = [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            rows.append(Row.model_validate_json(line))
        except ValidationError:
            odd.append(number)
    if odd:
        others = f", nor are {len(odd) - 1} lines after it" if odd[1:] else ""
        _log.warning("%s:%d: is no whole row%s. What is missing is asked again.", path, odd[0], others)
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


def summary(rows: Sequence[Row], questions: Sequence[Question]) -> dict[str, Any]:
    """Counts and rates of the verdicts on `rows`, one a question of `questions`.

    `answerable` and `unanswerable`, each `all`, `by_type` (answerable ones) or `by_distance` (unanswerable ones: near where
    the topic is there and the fact is not, far where neither is), and `by_split`: `n` questions, `judged` of them (the
    denominator of every rate), a count a verdict, and `rates`, the counts over `judged`. `confidence`, of `all` and
    `by_split`: how well the answerer's own confidence tells answerable from unanswerable questions, as areas under the ROC
    curve with 95 % intervals, against all unanswerable questions, near and far ones.
    """
    found = {row.id: row for row in rows}
    answerable = [question for question in questions if question.gold]
    unanswerable = [question for question in questions if not question.gold]
    splits = sorted({question.split for question in questions if question.split is not None})
    return {
        "counts": {"answerable": len(answerable), "unanswerable": len(unanswerable)},
        "answerable": {
            "all": _counts(answerable, found),
            "by_type": _groups(answerable, found, "type"),
            "by_split": _groups(answerable, found, "split"),
        },
        "unanswerable": {
            "all": _counts(unanswerable, found),
            "by_distance": {name: _counts(group, found) for name, group in _by_distance(unanswerable).items()},
            "by_split": _groups(unanswerable, found, "split"),
        },
        "confidence": {
            "all": _auroc(answerable, unanswerable, found),
            "by_split": {
                split: _auroc(
                    [q for q in answerable if q.split == split], [q for q in unanswerable if q.split == split], found
                )
                for split in splits
            },
        },
    }


def _by_distance(unanswerable: Sequence[Question]) -> dict[str, list[Question]]:
    return {
        "near": [question for question in unanswerable if question.near_miss],
        "far": [question for question in unanswerable if not question.near_miss],
    }


def _groups(questions: Sequence[Question], rows: Mapping[str, Row], label: str) -> dict[str, Any]:
    labels = sorted({name for question in questions if (name := getattr(question, label)) is not None})
    return {name: _counts([q for q in questions if getattr(q, label) == name], rows) for name in labels}


def _counts(questions: Sequence[Question], rows: Mapping[str, Row]) -> dict[str, Any]:
    verdicts = [verdict for question in questions if (verdict := rows[question.id].verdict)]
    counts: dict[str, int] = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
    rates = {verdict: count / len(verdicts) for verdict, count in counts.items()} if verdicts else None
    return {"n": len(questions), "judged": len(verdicts), **counts, "rates": rates}


def _auroc(answerable: Sequence[Question], unanswerable: Sequence[Question], rows: Mapping[str, Row]) -> dict[str, Any]:
    def sure(questions: Iterable[Question]) -> list[float]:
        return [value for question in questions if (value := rows[question.id].confidence) is not None]

    against = {"all": unanswerable, **_by_distance(unanswerable)}
    return {name: stats.auroc(sure(answerable), sure(group)) for name, group in against.items()}


def check_judge(judge: str, answerer: str) -> None:
    """Raise UsageError where a model would judge what it wrote itself."""
    if judge == answerer:
        raise UsageError(f"{judge} cannot judge its own answers. Name another model with --judge-model.")
