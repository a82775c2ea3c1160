"""The treatment's half of a fingerprint: everything that may change what is retrieved. The gate exists to compare these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from docmind.code import sources, versions
from docmind.models import Models
from docmind.parameters import Part
from docmind.retrieval.strategies import Strategy

CODE = (
    "chunking",
    "corpus",
    "foreign",
    "index",
    "markup",
    "models",
    "parameters.py",
    "retrieval",
    "spec.py",
    "text.py",
    "yamlfile.py",
)
"""The parts of the package that decide what is retrieved."""

CODE_OF_DOCUMENTS = ("corpus", "foreign", "markup", "text.py", "yamlfile.py")
"""Those that decide it where all strategies are foreign: how documents are read and passages are placed in them."""

LIBRARIES = (
    "chromadb", "fastembed", "langchain-experimental", "langchain-text-splitters", "markdown-it-py", "numpy",
    "onnxruntime", "pystemmer", "python-frontmatter", "rank-bm25", "tokenizers",
)  # fmt: skip


def treatment(
    models: Models | None, strategies: Sequence[Strategy], foreign: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """`strategies`: chunker and mode by name, as they are written. Of DocMind's own, which need `models`: `chunkers` and
    `modes`: what each of those is, with every parameter's value; `indexes`: whether each finds what an exact search would;
    `models`; `libraries`: versions. Of foreign ones, by name: what is known of them. `code`: SHA-256 of each source file,
    line ends aside."""
    ordered = sorted(strategies, key=lambda s: s.name)
    own = [s for s in ordered if s.foreign is None]
    found: dict[str, Any] = {
        "strategies": {s.name: {"chunker": s.chunker.label, "mode": s.mode.label} for s in ordered}
    }
    if models is not None:
        from docmind.index.lexical import Bm25Index
        from docmind.index.store import ChromaIndex
        from docmind.index.tokens import TokenStore

        found |= {
            "chunkers": _by_label((s.chunker for s in own), "chunker"),
            "modes": _by_label((s.mode for s in own), "mode"),
            "indexes": {each.name: {"exact": each.exact} for each in (ChromaIndex, Bm25Index, TokenStore)},
            "models": dict(models.fingerprint()),
            "libraries": versions(*LIBRARIES),
        }
    if foreign:
        found["foreign"] = {name: dict(foreign[name]) for name in sorted(foreign)}
    return {**found, "code": sources(*(CODE if own else CODE_OF_DOCUMENTS))}


def _by_label(parts: Iterable[Part], kind: str) -> dict[str, Any]:
    return {part.label: _settled(part, kind) for part in sorted(parts, key=lambda part: part.label)}


def _settled(part: Part, kind: str) -> dict[str, Any]:
    """A part's values by parameter, its inner parts by their place, from 1, and its own name where its label, which it
    stands under, is another."""
    own = {} if part.label == part.name else {kind: part.name}
    inner = {str(place): {kind: each.name} | _settled(each, kind) for place, each in enumerate(part.inner, start=1)}
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in part.values}
    return own | ({"inner": inner} if inner else {}) | values
