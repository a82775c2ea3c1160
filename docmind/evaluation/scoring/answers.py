"""Judges answers offline and counts verdicts: do the cited sentences cover the gold? It asks no model."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, get_args

from docmind.errors import UsageError
from docmind.evaluation.scoring import stats
from docmind.evaluation.scoring.spans import covers
from docmind.types import Answer, Question, Verdict

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


class JudgedAnswer(Protocol):
    """What is counted of an answer. `verdict` is None where it ended in an error."""

    @property
    def id(self) -> str: ...

    @property
    def verdict(self) -> Verdict | None: ...

    @property
    def confidence(self) -> float | None: ...


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


def summary(rows: Sequence[JudgedAnswer], questions: Sequence[Question]) -> dict[str, Any]:
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


def _groups(questions: Sequence[Question], rows: Mapping[str, JudgedAnswer], label: str) -> dict[str, Any]:
    labels = sorted({name for question in questions if (name := getattr(question, label)) is not None})
    return {name: _counts([q for q in questions if getattr(q, label) == name], rows) for name in labels}


def _counts(questions: Sequence[Question], rows: Mapping[str, JudgedAnswer]) -> dict[str, Any]:
    verdicts = [verdict for question in questions if (verdict := rows[question.id].verdict)]
    counts: dict[str, int] = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
    rates = {verdict: count / len(verdicts) for verdict, count in counts.items()} if verdicts else None
    return {"n": len(questions), "judged": len(verdicts), **counts, "rates": rates}


def _auroc(
    answerable: Sequence[Question], unanswerable: Sequence[Question], rows: Mapping[str, JudgedAnswer]
) -> dict[str, Any]:
    def sure(questions: Iterable[Question]) -> list[float]:
        return [value for question in questions if (value := rows[question.id].confidence) is not None]

    against = {"all": unanswerable, **_by_distance(unanswerable)}
    return {name: stats.auroc(sure(answerable), sure(group)) for name, group in against.items()}


def check_judge(judge: str, answerer: str) -> None:
    """Raise UsageError where a model would judge what it wrote itself."""
    if judge == answerer:
        raise UsageError(f"{judge} cannot judge its own answers. Name another model with --judge-model.")
