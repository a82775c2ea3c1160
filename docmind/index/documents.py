"""Where the chunks of a document stand among all: together, so that a document is a range of positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from docmind.types import Chunk


class Documents:
    """The positions of each document's chunks among `chunks`, which rise by (document, order)."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        """Raises ValueError where the chunks of a document do not stand together."""
        self._ranges: dict[str, range] = {}
        start = 0
        for stop in range(1, len(chunks) + 1):
            doc_id = chunks[start].doc_id
            if stop < len(chunks) and chunks[stop].doc_id == doc_id:
                continue
            if doc_id in self._ranges:
                raise ValueError(f"the chunks of {doc_id} do not stand together; they must rise by (document, order)")
            self._ranges[doc_id] = range(start, stop)
            start = stop

    def positions(self, doc_ids: Iterable[str]) -> NDArray[np.intp]:
        """(n,) the positions of the documents' chunks, rising. Documents without chunks have none."""
        ranges = sorted((self._ranges[d] for d in set(doc_ids) if d in self._ranges), key=lambda r: r.start)
        return np.concatenate([np.empty(0, np.intp), *(np.arange(r.start, r.stop, dtype=np.intp) for r in ranges)])
