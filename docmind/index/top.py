"""The best of many scores, in the one order of every list. It knows nothing of what was scored."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def best(scores: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """The indices of the `k` highest of `scores` (n,), by (-score, index). Only those are sorted."""
    if k <= 0:
        return np.empty(0, np.intp)
    among = np.arange(len(scores))
    if k < len(scores):
        # More than one score may equal the k-th: all that are higher are taken, and of the equal ones the first.
        last = np.partition(scores, len(scores) - k)[len(scores) - k]
        higher = np.flatnonzero(scores > last)
        among = np.concatenate([higher, np.flatnonzero(scores == last)[: k - len(higher)]])
    return among[np.lexsort((among, -scores[among]))]
