"""recall@k: the share of the pieces in the top k. Pieces are counted, not characters."""

from docmind.evaluation.scoring.metrics.judged import Judged


def recall(judged: Judged, k: int) -> float:
    """(pieces with a rank <= k) / (pieces). R@k of trec_eval and ir-measures, over pieces instead of documents."""
    return len(judged.within(k)) / len(judged.gold)
