"""Fixtures that several folders of tests share."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from docmind.index.cache import VectorCache
from docmind.models import load
from docmind.protocols import Embedder
from docmind.types import Chunk, Document, Span

PAGES = {
    "leave.md": "# Leave\n\nYou have 25 days of annual leave a year.\n\n## Carrying over\n\nFive days may be carried over.\n",
    "pay.md": "# Pay\n\nSalaries are paid on the 25th.\n\n## Bonus\n\nThe bonus is paid in March with the salary.\n",
    "travel/rail.md": "---\ntitle: Rail\n---\nFirst class is for journeys over three hours. Keep the ticket.\n",
}


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The real default embedder, loaded once."""
    return load("default").embedder


@pytest.fixture(scope="session")
def open_cache() -> Iterator[Callable[[Path], VectorCache]]:
    """Opens vector caches, and closes them in the end."""
    with ExitStack() as opened:

        def open_one(path: Path) -> VectorCache:
            cache = VectorCache(path)
            opened.callback(cache.close)
            return cache

        yield open_one


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with the three PAGES."""
    for name, text in PAGES.items():
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "corpus"


@pytest.fixture
def chunks_of() -> Callable[[Sequence[str]], list[Chunk]]:
    """Makes chunks, each the whole of a document of its own, which are named so that they rise."""

    def make(texts: Sequence[str]) -> list[Chunk]:
        made = []
        for number, text in enumerate(texts):
            document = Document(f"{number:04}.md", "", text)
            made.append(Chunk.of(document, (Span(document.id, 0, len(text)),), 0))
        return made

    return make


@pytest.fixture
def unit_rows() -> Callable[[Sequence[Sequence[float]]], np.ndarray]:
    """L2-normalises rows."""

    def make(rows: Sequence[Sequence[float]]) -> np.ndarray:
        matrix = np.array(rows, np.float64)
        return (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)

    return make
