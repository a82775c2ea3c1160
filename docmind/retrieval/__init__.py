"""MODES, the catalogue of ways to find chunks. To add one: a file beside this one, and a line here."""

from __future__ import annotations

from docmind.registry import Registry
from docmind.retrieval.bm25 import Bm25
from docmind.retrieval.composing import Mode
from docmind.retrieval.fuse import Fuse
from docmind.retrieval.mmr import Mmr
from docmind.retrieval.rerank import Rerank
from docmind.retrieval.vector import Vector
from docmind.text import stems, words

MODES: Registry[Mode] = Registry(
    "mode",
    [
        ("vector", Mode(Vector, lambda p: (p.index.vectors, p.chunks, p.embedder))),
        ("bm25", Mode(Bm25, lambda p: (p.lexical(words), p.chunks))),
        ("bm25_stem", Mode(Bm25, lambda p: (p.lexical(stems), p.chunks))),
        ("fuse", Mode(Fuse, inner=("vector", "bm25"), many=True, takes="depth")),
        ("rerank", Mode(Rerank, lambda p: (p.reranker,), inner=("hybrid",), takes="depth")),
        ("mmr", Mode(Mmr, lambda p: (p.index.vectors, p.embedder, p.positions), inner=("vector",), takes="fetch")),
    ],
)

PRESETS = {
    "hybrid": "fuse(vector,bm25)",
    "hybrid_stem": "fuse(vector,bm25_stem)",
    "rrf": "fuse(vector,bm25)",
    "minmax": "fuse(vector,bm25,how=minmax)",
}
"""Other names, each for a mode with inner modes and parameters; those given to the name replace its own."""
