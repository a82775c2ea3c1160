"""From a folder of documents to ranked chunks: the one place that joins corpus, chunkers, indexes and modes.

The application, the chat and the evaluations all retrieve through it, so that what is measured is what answers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from docmind import corpus
from docmind.chunking import CHUNKERS
from docmind.config import Settings
from docmind.errors import UsageError
from docmind.index.build import Index, open_or_build
from docmind.index.cache import CachedEmbedder, VectorCache
from docmind.models import Models
from docmind.parameters import Part
from docmind.protocols import Advance, Chunker, FloatMatrix, Progress, Retriever
from docmind.retrieval import MODES
from docmind.retrieval.parts import Parts
from docmind.retrieval.strategies import Strategies, Strategy, read_strategies
from docmind.spec import slug
from docmind.types import Chunk, Document, Query, Ranking

log = logging.getLogger(__name__)

CACHE = "vectors.sqlite3"


@dataclass(frozen=True, slots=True)
class Built:
    """What it took to have an index: its size, how many of its chunks were embedded rather than found in the cache, and
    how many windows were embedded only to find where the chunks should end."""

    chunks: int
    embedded: int
    windows: int


@contextmanager
def quiet(what: str, total: int) -> Iterator[Advance]:
    """A Progress that shows nothing."""
    yield lambda done: None


class Engine:
    """Retrieval over the corpus of `settings`. Nothing is read before it is needed, and everything only once.

    With `shared`, the modes of a chunker share what they have in common; for evaluation, which asks all of them the
    same questions.
    """

    def __init__(self, settings: Settings, models: Models, progress: Progress = quiet, *, shared: bool = False) -> None:
        self._settings = settings
        self.models = models
        self.progress = progress
        self._shared = shared
        self._cache = VectorCache(settings.index_dir / CACHE)
        self.embedder = CachedEmbedder(models.embedder, self._cache)
        self._state: object = None
        self._documents: tuple[Document, ...] | None = None
        self._chunks: dict[str, tuple[Chunk, ...]] = {}
        self._indexes: dict[str, Index] = {}
        self._parts: dict[str, Parts] = {}
        self._windows: dict[str, int] = {}
        self.built: dict[str, Built] = {}

    @property
    def documents(self) -> tuple[Document, ...]:
        """The corpus, by id. Raises CorpusError."""
        if self._documents is None:
            self._state = corpus.state(self._settings.corpus, self._settings.exclude)
            self._documents = corpus.load(self._settings.corpus, self._settings.exclude)
        return self._documents

    @cached_property
    def strategies(self) -> Strategies:
        """What the settings' strategies.yaml says. Raises as `read_strategies` does."""
        return read_strategies(self._settings.strategies)

    def chunker(self, part: Part) -> Chunker:
        """That chunker, made."""
        return CHUNKERS[part.name](self.embedder, **dict(part.values))

    def chunks(self, chunker: Part) -> tuple[Chunk, ...]:
        """The chunks of the corpus, by (document, order)."""
        key = str(chunker)
        if key not in self._chunks:
            split = self.chunker(chunker).split
            made: list[Chunk] = []
            before = self.embedder.embedded
            with self.progress(f"{chunker.label}: chunking", len(self.documents)) as advance:
                for document in self.documents:
                    made.extend(split(document).chunks)
                    advance(1)
            self._chunks[key] = tuple(made)
            self._windows[key] = self.embedder.embedded - before
        return self._chunks[key]

    def index(self, chunker: Part) -> Index:
        """The index of that chunker, built if it is not there."""
        key = str(chunker)
        if key not in self._indexes:
            chunks = self.chunks(chunker)
            before = self.embedder.embedded
            with self.progress(f"{chunker.label}: embedding", len(chunks)) as advance:
                self._indexes[key] = open_or_build(
                    slug(chunker.label), chunks, self.embedder, self._settings.index_dir, advance
                )
            self.built[key] = Built(len(chunks), self.embedder.embedded - before, self._windows[key])
        return self._indexes[key]

    def parts(self, chunker: Part, *, shared: bool) -> Parts:
        """What the modes of that chunker are made of, anew."""
        chunks: Sequence[Chunk] = self.chunks(chunker)
        return Parts(chunks, self.embedder, self.models.reranker, lambda: self.index(chunker), MODES, shared)

    def tokens(self, chunker: Part) -> Callable[[Chunk], FloatMatrix]:
        """Gives the token vectors, float32 (tokens, dim), of each chunk of that chunker. Raises UsageError where the
        model has none."""
        store = self.index(chunker).tokens
        if store is None:
            raise UsageError(
                f"{self.embedder.id} gives no token vectors. Use the default profile, or a language model."
            )
        position = {chunk.id: at for at, chunk in enumerate(self.chunks(chunker))}
        return lambda chunk: store.vectors(position[chunk.id])

    def retriever(self, wanted: Strategy) -> Retriever:
        """The retriever of that strategy, its index built if need be."""
        key = str(wanted.chunker)
        if key not in self._parts:
            self._parts[key] = self.parts(wanted.chunker, shared=self._shared)
        return self._parts[key].mode(wanted.mode)

    def retrieve(self, name: str, question: str | Query, k: int) -> Ranking:
        """The top `k` of the strategy that `name` names or writes. A corpus that has changed since is read and indexed
        again."""
        wanted = self.strategies.find(name)
        self._follow()
        query = Query(question) if isinstance(question, str) else question
        return self.retriever(wanted).retrieve(query, k)

    def close(self) -> None:
        """Let go of every file."""
        for index in self._indexes.values():
            index.close()
        self._cache.close()
        self._documents = None
        self._chunks, self._indexes, self._parts, self._windows, self.built = {}, {}, {}, {}, {}

    def _follow(self) -> None:
        """Start over where the corpus is no longer as it was read, so that nothing stale is ever shown."""
        if self._documents is not None and self._state != corpus.state(self._settings.corpus, self._settings.exclude):
            log.warning("%s has changed; it is read and indexed again", self._settings.corpus)
            self.close()
