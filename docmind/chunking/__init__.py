"""CHUNKERS, the catalogue of ways to split a document. To add one: a file beside this one, and a line here."""

from __future__ import annotations

from collections.abc import Callable

from docmind.chunking.cap import CAP
from docmind.chunking.fixed import Fixed
from docmind.chunking.headers import Headers
from docmind.chunking.recursive import Recursive
from docmind.chunking.semantic import Semantic
from docmind.protocols import Chunker, Embedder
from docmind.registry import Registry

__all__ = ["CAP", "CHUNKERS"]

CHUNKERS: Registry[Callable[[Embedder], Chunker]] = Registry(
    "chunker",
    [
        ("recursive_1000", lambda e: Recursive(e.tokenizer, size=1000, overlap=200)),
        ("fixed_500", lambda e: Fixed(e.tokenizer, size=500, overlap=64)),
        ("semantic", lambda e: Semantic(e, percentile=95)),
        ("headers", lambda e: Headers(e.tokenizer, size=CAP)),
    ],
)
