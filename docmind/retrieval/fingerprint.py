"""The treatment's half of a fingerprint: everything that may change what is retrieved. The gate exists to compare these."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import docmind
from docmind.config import Strategy
from docmind.retrieval.engine import Engine
from docmind.retrieval.shared import Shared

CODE = ("chunking", "corpus", "index", "markup", "models", "retrieval", "text.py")
"""The parts of the package that decide what is retrieved."""

LIBRARIES = (
    "chromadb", "fastembed", "langchain-experimental", "langchain-text-splitters", "markdown-it-py", "numpy",
    "onnxruntime", "pystemmer", "python-frontmatter", "rank-bm25", "tokenizers",
)  # fmt: skip


def treatment(engine: Engine, strategies: Sequence[Strategy]) -> dict[str, Any]:
    """`strategies`: chunker and mode by name; `chunkers`: their parameters; `modes`: how each is composed, with its
    parameters; `models`; `libraries`: versions; `code`: SHA-256 of each source file, line ends aside."""
    return {
        "strategies": {
            s.name: {"chunker": s.chunker, "mode": s.mode} for s in sorted(strategies, key=lambda s: s.name)
        },
        "chunkers": {name: dict(engine.chunker(name).parameters) for name in sorted({s.chunker for s in strategies})},
        "modes": {s.mode: composition(engine.retriever(s)) for s in sorted(strategies, key=lambda s: s.mode)},
        "models": dict(engine.models.fingerprint()),
        "libraries": {name: metadata.version(name) for name in LIBRARIES},
        "code": _code(),
    }


def composition(part: object) -> object:
    """A retriever as its class and parameters, and so on inwards."""
    if isinstance(part, Shared):
        return composition(part.inner)
    if not is_dataclass(part):
        return getattr(part, "name", None)
    described: dict[str, object] = {"class": type(part).__name__}
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, int | float | str):
            described[field.name] = value
        elif hasattr(value, "retrieve") or hasattr(value, "score"):
            described[field.name] = composition(value)
    return described


def _code() -> dict[str, str]:
    package = Path(docmind.__file__).parent
    found = {}
    for part in CODE:
        place = package / part
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            text = path.read_text(encoding="utf-8")
            found[path.relative_to(package).as_posix()] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return found
