"""Judges answers offline: do the cited sentences cover the gold? It asks no model, and counts nothing."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import get_args

from docmind.errors import UsageError
from docmind.evaluation.scoring import stats
from docmind.evaluation.scoring.spans import covers
from docmind.types import Answer, Question, Verdict

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


def check_judge(judge: str, answerer: str) -> None:
    """Raise UsageError where a model would judge what it wrote itself."""
    if judge == answerer:
        raise UsageError(f"{judge} cannot judge its own answers. Name another model with --judge-model.")
