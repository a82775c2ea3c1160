"""ndcg@k: pieces found, discounted by how low they stand, as a share of the best order possible."""

import math
from collections.abc import Iterable

from docmind.evaluation.scoring.metrics.judged import Judged


def ndcg(judged: Judged, k: int) -> float:
    """DCG@k / ideal DCG@k, DCG = sum of grade / log2(place + 1). nDCG@k of trec_eval and ir-measures (Järvelin &
    Kekäläinen 2002, with the grade itself as the gain).

    The pieces found, by rank and then by grade, falling, stand at places: the j-th at max(its rank, j). So a chunk
    that holds several pieces is credited for each, and the ideal, grades falling at places 1 to n, is never beaten.
    """
    found = sorted(
        (rank, -gold.grade) for rank, gold in zip(judged.ranks, judged.gold, strict=True) if rank is not None
    )
    places = [(max(rank, j), -grade) for j, (rank, grade) in enumerate(found, start=1)]
    ideal = enumerate(sorted((gold.grade for gold in judged.gold), reverse=True), start=1)
    return _dcg(places, k) / _dcg(ideal, k)


def _dcg(graded: Iterable[tuple[int, int]], k: int) -> float:
    return math.fsum(grade / math.log2(place + 1) for place, grade in graded if place <= k)
