"""CHUNKERS, the catalogue of ways to split a document. To add one: a file beside this one, and a line here.

A chunker is a class that is made of the embedder and of the parameters that it declares.
"""

from __future__ import annotations

from collections.abc import Callable

from docmind.chunking.cap import CAP
from docmind.chunking.fixed import Fixed
from docmind.chunking.headers import Headers
from docmind.chunking.recursive import Recursive
from docmind.chunking.semantic import Semantic
from docmind.protocols import Chunker
from docmind.registry import Registry

__all__ = ["CAP", "CHUNKERS", "PRESETS"]

CHUNKERS: Registry[Callable[..., Chunker]] = Registry(
    "chunker",
    [
        ("recursive", Recursive),
        ("fixed", Fixed),
        ("semantic", Semantic),
        ("headers", Headers),
    ],
)

PRESETS = {
    "recursive_1000": "recursive(size=1000,overlap=200)",
    "fixed_500": "fixed(size=500,overlap=64)",
}
"""Other names, each for a chunker with parameters; those given to the name replace its own."""
