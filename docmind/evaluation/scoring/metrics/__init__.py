"""The metrics by name, in the order in which results list them. To add one: a file beside this one, and a line here."""

from functools import partial

from docmind.config import TOKEN_BUDGET
from docmind.evaluation.scoring.metrics.budget import hit_within_tokens
from docmind.evaluation.scoring.metrics.characters import span_iou, span_precision, span_recall
from docmind.evaluation.scoring.metrics.full import full
from docmind.evaluation.scoring.metrics.hit import hit
from docmind.evaluation.scoring.metrics.judged import Judged, Metric
from docmind.evaluation.scoring.metrics.mrr import reciprocal_rank
from docmind.evaluation.scoring.metrics.ndcg import ndcg
from docmind.evaluation.scoring.metrics.recall import recall
from docmind.registry import Registry

__all__ = ["METRICS", "Judged", "Metric"]

METRICS: Registry[Metric] = Registry(
    "metric",
    [
        ("hit@1", partial(hit, k=1)),
        ("hit@3", partial(hit, k=3)),
        ("hit@5", partial(hit, k=5)),
        ("hit@10", partial(hit, k=10)),
        ("mrr@5", partial(reciprocal_rank, k=5)),
        ("mrr@10", partial(reciprocal_rank, k=10)),
        ("ndcg@10", partial(ndcg, k=10)),
        ("recall@5", partial(recall, k=5)),
        ("full@5", partial(full, k=5)),
        ("span_precision@5", partial(span_precision, k=5)),
        ("span_recall@5", partial(span_recall, k=5)),
        ("span_iou@5", partial(span_iou, k=5)),
        (f"hit@{TOKEN_BUDGET}tok", partial(hit_within_tokens, budget=TOKEN_BUDGET)),
    ],
)
