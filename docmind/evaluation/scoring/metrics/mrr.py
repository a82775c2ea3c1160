"""mrr@k: how high the first hit with any piece stands. What comes after it does not count."""

from docmind.evaluation.scoring.metrics.judged import Judged


def reciprocal_rank(judged: Judged, k: int) -> float:
    """1 / (best rank of any piece) if that rank is <= k, else 0. RR@k of ir-measures (Kantor & Voorhees 2000)."""
    found = judged.within(k)
    return 1 / found[0] if found else 0.0
