"""The answer metrics by name, in the order in which results list them. To add one: a file beside this one, and a line here."""

from docmind.evaluation.scoring.answermetrics.citations import citation_precision, citation_recall
from docmind.evaluation.scoring.answermetrics.judged import AnswerMetric, JudgedAnswer
from docmind.evaluation.scoring.answermetrics.words import exact_match, token_f1
from docmind.registry import Registry

__all__ = ["ANSWER_METRICS", "AnswerMetric", "JudgedAnswer", "measured"]

ANSWER_METRICS: Registry[AnswerMetric] = Registry(
    "answer metric",
    [
        ("token_f1", AnswerMetric(token_f1)),
        ("exact_match", AnswerMetric(exact_match)),
        ("citation_recall", AnswerMetric(citation_recall)),
        ("citation_precision", AnswerMetric(citation_precision)),
    ],
)


def measured(answer: JudgedAnswer, *, by_model: bool) -> dict[str, float | None]:
    """The value of every metric. `by_model`: a model judges the run; without one, what needs it is not defined."""
    return {
        name: metric.measure(answer) if by_model or not metric.needs_judge else None
        for name, metric in ANSWER_METRICS.items()
    }
