"""A small corpus, and what modes are made of over it."""

from threading import RLock

import pytest

from docmind.index.build import open_or_build
from docmind.index.cache import CachedEmbedder
from docmind.parameters import Part
from docmind.protocols import Retriever
from docmind.retrieval import MODES
from docmind.retrieval.collection import Collection
from docmind.retrieval.composing import Composer
from docmind.types import Chunk, Document, Span, Split

TEXTS = [
    "Annual leave is 25 days a year.",
    "Sick pay starts on the first day.",
    "The bonus is paid in March.",
    "Travel by train in second class.",
    "Keep your receipts for every expense.",
    "Parental leave is sixteen weeks.",
    "Laptops are renewed every four years.",
    "Annual leave is 25 days a year.",
] + [f"Room {n} is on floor {n // 10} of the house." for n in range(30)]


class Parts(Collection):
    """A collection whose modes are made once."""

    def mode(self, part: Part) -> Retriever:
        if "composer" not in self.__dict__:
            self.composer = Composer(self, MODES, shared=False)
        return self.composer.retriever(part)


@pytest.fixture(scope="module")
def parts(tmp_path_factory, embedder, open_cache):
    chunks = []
    for number, text in enumerate(TEXTS):
        document = Document(f"{number:04}.md", "", text)
        chunks.append(Chunk.of(document, (Span(document.id, 0, len(text)),), 0))
    folder = tmp_path_factory.mktemp("modes")
    cached = CachedEmbedder(embedder, open_cache(folder / "vectors.sqlite3"))
    made = Parts(Split(tuple(chunks)), cached, None, lambda: open_or_build("modes", chunks, cached, folder), RLock())
    yield made
    made.close()
