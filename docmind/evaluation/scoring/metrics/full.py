"""full@k: are all pieces in the top k? A question that needs two pieces is not answered by one."""

from docmind.evaluation.scoring.metrics.judged import Judged


def full(judged: Judged, k: int) -> float:
    """1 if every piece has a rank <= k, else 0: whether R@k of trec_eval and ir-measures, over pieces, is 1."""
    return float(len(judged.within(k)) == len(judged.gold))
