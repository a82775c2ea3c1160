"""What an answer metric may look at: an answer beside what is known to be right. It computes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from docmind.types import Answer, Gold, Hit, Question, Span


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """One question's answer.

    `reference` is the answer that is known to be right, None where the key has none or the question is unanswerable, as it
    is without `gold`. `cited` holds for each citation the spans that it names, `shown` the passages that the answerer was
    given, best first.
    """

    question: str
    reference: str | None
    text: str
    abstained: bool
    cited: tuple[tuple[Span, ...], ...]
    gold: tuple[Gold, ...]
    shown: tuple[Hit, ...]

    @classmethod
    def of(cls, question: Question, answer: Answer, shown: tuple[Hit, ...]) -> JudgedAnswer:
        """`answer`, which was made from the passages `shown`, beside what the key says of `question`."""
        return cls(
            question=question.text,
            reference=question.answer if question.gold else None,
            text=answer.text,
            abstained=answer.abstained,
            cited=tuple(citation.spans for citation in answer.citations),
            gold=question.gold,
            shown=shown,
        )


@dataclass(frozen=True, slots=True)
class AnswerMetric:
    """`measure` is a pure function to [0, 1]. None: not defined for this answer, which is no score and in no mean.

    `needs_judge`: only a model can tell it, so that it is defined for none where answers are judged by spans.
    """

    measure: Callable[[JudgedAnswer], float | None]
    needs_judge: bool = False
