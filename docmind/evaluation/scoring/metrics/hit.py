"""hit@k: is any piece in the top k? Not how high, nor how many."""

from docmind.evaluation.scoring.metrics.judged import Judged


def hit(judged: Judged, k: int) -> float:
    """1 if any piece has a rank <= k, else 0. Success@k of trec_eval and ir-measures."""
    return float(bool(judged.within(k)))
