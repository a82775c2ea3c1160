"""A question's answer as it stands in latest.answers.jsonl, and the keys by which it is found again.

A Row with an `error` has no verdict and is in no rate; how many have one is told beside every rate (`judged` of `n`).
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from docmind.config import COVERED
from docmind.errors import StorageError
from docmind.evaluation.record.instrument import rule_code
from docmind.evaluation.record.layout import checksum
from docmind.evaluation.scoring.answers import span_verdict
from docmind.evaluation.scoring.form import Form, Share
from docmind.evaluation.scoring.summary import Count
from docmind.files import read_whole
from docmind.types import Answer, Citation, Question, Ranking, Span, Usage, Verdict

_log = logging.getLogger(__name__)


def span_judge() -> str:
    """Names span_verdict and its rule in a row's key, so that what another rule judged is judged anew."""
    return checksum(["span", COVERED, rule_code(), inspect.getsource(span_verdict)])


def _whole(span: tuple[str, int, int]) -> tuple[str, int, int]:
    Span(*span)  # a ValueError where it is none
    return span


class Cited(Form):
    """A citation as a row keeps it: the hit's chunk, and what of it was cited as (document, start, end)."""

    number: Annotated[int, Field(ge=1)]
    chunk: str
    spans: tuple[Annotated[tuple[str, int, int], AfterValidator(_whole)], ...]


class Row(Form):
    """A question's answer, what it rests on, and either the verdict on it or the `error` that left it without one.

    `answer_key` tells by its content whether the answer can be used again, `key` whether the verdict can. `answer` is None
    where none could be had. `reason` is a judging model's, `raw` its reply where that could not be read. `usage` are the
    tokens, in and out, that the answer cost, without its judgement; `seconds` is by step. `served` is the model that the
    server says it answered with, `judged_by` that which judged, "" where no server told one; `thought` is what the model
    thought aloud, which nobody judges. `metrics` are the answer metrics
    by name, None where one is not defined; they are made anew whenever a row is used again.
    """

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
    served: str = ""
    judged_by: str = ""
    thought: str = ""
    usage: tuple[Count, Count] = (0, 0)
    seconds: dict[str, float] = Field(default_factory=dict)
    verdict: Verdict | None = None
    reason: str | None = None
    raw: str | None = None
    error: str | None = None
    metrics: dict[str, Share | None] = Field(default_factory=dict)

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
                "served": answer.served,
                "thought": answer.thought,
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
            served=self.served,
            thought=self.thought,
            removed=self.removed,
            usage=Usage(*self.usage),
            timings=self.seconds,
            confidence=self.confidence,
            cut=self.cut,
        )


def answer_key_of(
    question: Question, answerer: str, prompt: str, passages: Iterable[tuple[str, str]], served: str = ""
) -> str:
    """A hash of all that an answer comes from: question and what was said before it, who answers, the rules for it, the
    passages, each the id of its chunk, which tells its place, and its text, and the model that was served."""
    asked = [question.id, question.text, *([turn.role, turn.text] for turn in question.history)]
    return checksum([asked, answerer, prompt, list(map(list, passages)), served])[:32]


def verdict_key_of(question: Question, answer_key: str, judge: str, served: str = "") -> str:
    """A hash of all that a verdict comes from: the answer's key, the gold, the right answer, who judges, and the model that
    was served for it."""
    gold = [[piece.doc_id, *sorted([s.doc_id, s.start, s.end] for s in piece.spans)] for piece in question.gold]
    return checksum([answer_key, gold, question.answer, judge, served])[:32]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one question's rows. Which model a server gives for a name is known only once it has answered."""

    question: Question
    answerer: str
    judge: str
    prompt: str
    passages: tuple[tuple[str, str], ...]

    def of(self, served: str = "", judged_by: str = "") -> tuple[str, str]:
        """Those of the answer and of the verdict, of the models that were served."""
        asked = answer_key_of(self.question, self.answerer, self.prompt, self.passages, served)
        return asked, verdict_key_of(self.question, asked, self.judge, judged_by)


class Kept:
    """Rows that can be used again, the newest first, of whatever model was served."""

    def __init__(self, rows: Sequence[Row]) -> None:
        """`rows` in the order in which they were written."""
        self._judged = {row.key: row for row in rows if row.verdict}
        self._answered = {row.answer_key: row for row in rows if row.answer is not None}
        self._models = dict.fromkeys((row.served, row.judged_by) for row in reversed(rows))

    def verdict(self, keys: Keys) -> Row | None:
        """The row whose verdict is on such an answer."""
        found = (self._judged.get(keys.of(*models)[1]) for models in self._models)
        return next((row for row in found if row and row.id == keys.question.id), None)

    def answer(self, keys: Keys) -> Row | None:
        """A row with such an answer."""
        found = (self._answered.get(keys.of(served)[0]) for served, _ in self._models)
        return next(filter(None, found), None)


def read_rows(path: Path) -> list[Row]:
    """The rows of `path` in their order; none where there is no file. Lines that are no row, as where a run was killed
    while it wrote, are left out with a warning. Raises StorageError where the file cannot be read."""
    if not path.exists():
        return []
    try:
        lines = read_whole(path).split(b"\n")
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
