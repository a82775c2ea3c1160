"""The metrics by name, in the order in which results list them. To add one: a file beside this one, and a line here."""

from docmind.config import DEPTH
from docmind.evaluation.scoring.metrics.budget import hit_within_tokens
from docmind.evaluation.scoring.metrics.characters import span_iou, span_precision, span_recall
from docmind.evaluation.scoring.metrics.family import Family
from docmind.evaluation.scoring.metrics.full import full
from docmind.evaluation.scoring.metrics.hit import hit
from docmind.evaluation.scoring.metrics.mrr import reciprocal_rank
from docmind.evaluation.scoring.metrics.ndcg import ndcg
from docmind.evaluation.scoring.metrics.recall import recall
from docmind.registry import Registry

METRICS: Registry[Family] = Registry(
    "metric",
    [
        ("hit@k", Family(hit, standard=(1, 3, 5, 10), sees="ranks")),
        ("mrr@k", Family(reciprocal_rank, standard=(5, 10), sees="ranks")),
        ("ndcg@k", Family(ndcg, standard=(10,), sees="grades")),
        ("recall@k", Family(recall, standard=(5,), sees="ranks")),
        ("full@k", Family(full, standard=(3, 5), sees="ranks")),
        ("span_precision@k", Family(span_precision, standard=(5,))),
        ("span_recall@k", Family(span_recall, standard=(5,))),
        ("span_iou@k", Family(span_iou, standard=(5,))),
        ("hit@ktok", Family(hit_within_tokens, standard=(1000,), depth=DEPTH)),
    ],
)
"""A name is a word, "@k", and what k counts if that is not hits. measures.py puts a number for the k."""
