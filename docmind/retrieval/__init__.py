"""The modes of retrieval. A new one is a file beside this and a line in MODES."""

from __future__ import annotations

from collections.abc import Callable

from docmind.protocols import Retriever
from docmind.registry import Registry
from docmind.retrieval.bm25 import Bm25
from docmind.retrieval.hybrid import Hybrid
from docmind.retrieval.mmr import Mmr
from docmind.retrieval.parts import Parts
from docmind.retrieval.rerank import Rerank
from docmind.retrieval.vector import Vector
from docmind.text import stems, words

CANDIDATES = 20
"""How many of each list are fused, and how many of those are reranked."""

MODES: Registry[Callable[[Parts], Retriever]] = Registry(
    "mode",
    [
        ("vector", lambda p: Vector(p.index.vectors, p.chunks, p.embedder)),
        ("bm25", lambda p: Bm25(p.lexical(words), p.chunks)),
        ("bm25_stem", lambda p: Bm25(p.lexical(stems), p.chunks)),
        ("hybrid", lambda p: Hybrid(p.mode("vector"), p.mode("bm25"), depth=CANDIDATES, k=60)),
        ("hybrid_stem", lambda p: Hybrid(p.mode("vector"), p.mode("bm25_stem"), depth=CANDIDATES, k=60)),
        ("rerank", lambda p: Rerank(p.mode("hybrid"), p.reranker, depth=CANDIDATES)),
        ("mmr", lambda p: Mmr(p.mode("vector"), p.index.vectors, p.position, fetch=10, lam=0.5)),
    ],
)
