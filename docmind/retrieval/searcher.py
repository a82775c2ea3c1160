"""Search over documents as they were read, by any strategy: the one place that joins corpus, chunkers, indexes and modes.

Chat, page and evaluations all retrieve through it, so that what is measured is what answers.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cached_property
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING

from docmind import corpus
from docmind.chunking import CHUNKERS, stored
from docmind.config import Settings
from docmind.errors import UsageError
from docmind.foreign import open_source
from docmind.foreign.declared import Declared
from docmind.foreign.placing import Placer
from docmind.index import upkeep
from docmind.keeping import Keeper
from docmind.models import Models
from docmind.models.once import Once
from docmind.parameters import Part
from docmind.protocols import Advance, Progress, Retriever
from docmind.retrieval import MODES
from docmind.retrieval.collection import Built, Collection
from docmind.retrieval.composing import Composer
from docmind.retrieval.foreign import ForeignRetriever
from docmind.retrieval.ranking import wanted
from docmind.retrieval.strategies import Strategy, read_strategies
from docmind.spec import slug
from docmind.text import nfc, plural, words
from docmind.types import Chunk, Document, Query, Ranking, Split

if TYPE_CHECKING:
    from docmind.index.build import Index
    from docmind.index.cache import CachedEmbedder

CACHE = "vectors.sqlite3"
KEPT = "kept.sqlite3"


@contextmanager
def quiet(what: str, total: int) -> Iterator[Advance]:
    """A Progress that shows nothing."""
    yield lambda done: None


def ignore(event: object) -> None:
    """An observer that wants to know nothing."""


def asked(question: str | Query) -> Query:
    """What a retriever is asked, names of documents composed as theirs are. Raises UsageError where the question holds no
    word: what came nearest to "???" would be chance, and an answer key has no such question either."""
    query = Query(question) if isinstance(question, str) else question
    if not isinstance(query, Query):
        raise UsageError(f"question: {reprlib.repr(question)} was given; expected: a text.")
    if not words(query.text):
        raise UsageError("The question holds no word. Write one.")
    return query if query.doc_ids is None else replace(query, doc_ids=frozenset(map(nfc, query.doc_ids)))


class Searcher:
    """Finds passages in documents, which it never reads again: a new corpus wants a new searcher.

    Any number of threads may ask at once. What a strategy needs is built when it is first asked for, one thing at a time;
    who asks for what is there does not wait.
    """

    def __init__(
        self,
        settings: Settings,
        models: Models | Callable[[], Models],
        progress: Progress = quiet,
        observe: Callable[[Built], object] = ignore,
        *,
        shared: bool = False,
        keep: bool = True,
    ) -> None:
        """Reads the corpus of `settings`, telling `progress`; `observe` is told of each index. With `shared`, modes share
        what they have in common; for an evaluation, which asks all of them the same questions. With `keep`, parsed
        documents and chunks are kept beside the indexes, so that the next searcher has less to do. `models` that are
        handed in as a function are had of it when they are first needed.

        Raises CorpusError where the documents cannot be read, UsageError where the file of strategies is wrong.
        """
        self.settings = settings
        self.strategies = read_strategies(settings.strategies)
        self._progress = progress
        self._observe = observe
        self._shared = shared
        self._keep = keep
        self._kept = Keeper(settings.index_dir / KEPT if keep else None)
        self._models = Once(lambda: models if isinstance(models, Models) else models())
        self._embedder = Once(self._with_cache)
        self._open = ExitStack()
        self.state = corpus.state(settings.corpus, settings.exclude)
        found = corpus.load(settings.corpus, settings.exclude, self._kept, progress)
        self.documents: Mapping[str, Document] = {document.id: document for document in found}
        self._building = RLock()
        self._collections: dict[str, Collection] = {}
        self._composers: dict[str, Composer] = {}
        self._retrievers: dict[tuple[str, str], Retriever] = {}
        self._closed = False

    @property
    def models(self) -> Models:
        """Those of its profile. Raises what the function that makes them does."""
        return self._models()

    @property
    def embedder(self) -> CachedEmbedder:
        """What embeds for it, through the cache beside the indexes."""
        return self._embedder()

    def _with_cache(self) -> CachedEmbedder:
        embedder = self.models.embedder  # first, since it says what is not installed
        from docmind.index.cache import CachedEmbedder, VectorCache

        cache = VectorCache(self.settings.index_dir / CACHE)
        self._open.callback(cache.close)
        return CachedEmbedder(embedder, cache)

    def __call__(self, strategy: str | Strategy, question: str | Query, k: int = 10) -> Ranking:
        """The first `k` hits for `question`. Raises UsageError for a strategy that there is not, a question without a word,
        a `k` that is no whole number from 1 up, and where it was closed."""
        if self._closed:
            raise UsageError("This searcher was closed, and its files let go of. Open another: docmind.open(…).")
        found, query, k = self.find(strategy), asked(question), wanted(k)
        return self.retriever(found).retrieve(query, k)

    def why_left_out(self, page: str) -> str:
        """Why there is no document `page`, though there is such a file: a sentence without its full stop, else ""."""
        return self._folder.why_left_out(page)

    @cached_property
    def _folder(self) -> corpus.Folder:
        return corpus.look(self.settings.corpus, corpus.FORMATS, self.settings.exclude)

    def find(self, strategy: str | Strategy) -> Strategy:
        """The strategy of that name or spec, its parts checked. Raises UsageError."""
        if not isinstance(strategy, str | Strategy):
            raise UsageError(f"strategy: {reprlib.repr(strategy)} was given; expected: a text such as headers+rerank.")
        return self.strategies.find(strategy) if isinstance(strategy, str) else strategy

    def retriever(self, strategy: Strategy, progress: Progress | None = None) -> Retriever:
        """What answers for `strategy`, its index built if it is not there; `progress` is told instead of the searcher's."""
        key = (strategy.name, "") if strategy.foreign else (str(strategy.chunker), str(strategy.mode))
        if (there := self._retrievers.get(key)) is not None:
            return there
        with self._building:
            if key not in self._retrievers and strategy.foreign:
                self._retrievers[key] = self._foreign(strategy.name, strategy.foreign)
            elif key not in self._retrievers:
                collection = self.collection(strategy.chunker, progress)
                composer = self._composers.setdefault(key[0], Composer(collection, MODES, shared=self._shared))
                self._retrievers[key] = composer.retriever(strategy.mode)
            return self._retrievers[key]

    def _foreign(self, name: str, declared: Declared) -> Retriever:
        source = self._open.enter_context(closing(open_source(declared)))
        return ForeignRetriever(name, declared.depth, source.ask, self._placer, self.documents)

    @cached_property
    def _placer(self) -> Placer:
        return Placer(self.documents.values())

    def alone(self, strategy: Strategy) -> Retriever:
        """As `retriever`, but one that shares nothing with any other: its times are its own."""
        return Composer(self.collection(strategy.chunker), MODES, shared=False).retriever(strategy.mode)

    def collection(self, chunker: Part, progress: Progress | None = None) -> Collection:
        """The chunks that `chunker` makes of the documents, and what finds them. Raises UsageError where it makes none, though
        there is text."""
        if (there := self._collections.get(str(chunker))) is not None:
            return there
        with self._building:
            name = str(chunker)
            if name not in self._collections:
                told = progress or self._progress
                before = self.embedder.embedded
                split = self._split(chunker, told)
                windows = self.embedder.embedded - before
                self._collections[name] = Collection(
                    split,
                    self.embedder,
                    self.models.reranker,
                    lambda: self._index(chunker, split.chunks, windows, told),
                    self._building,
                )
            return self._collections[name]

    def _split(self, chunker: Part, progress: Progress) -> Split:
        """Every document's chunks, by (document, order). Those of a document that is as it was are not made anew."""
        maker = CHUNKERS[chunker.name](self.embedder, **dict(chunker.values))
        split = stored.splitter(maker, f"{chunker} {self.embedder.version}", self._kept, embedder=self.models.embedder)
        splits = []
        with progress(f"{chunker.label}: chunking", len(self.documents)) as advance:
            for document in self.documents.values():
                splits.append(split(document))
                advance(1)
        if not any(split.chunks for split in splits) and any(d.text.strip() for d in self.documents.values()):
            raise UsageError(
                f"chunker {chunker.label} made no chunk of {plural(len(splits), 'document')}, so that nothing could be found "
                "and its score would say nothing. Its split() must give chunks for a text that is not blank."
            )
        return Split(
            tuple(chunk for split in splits for chunk in split.chunks),
            tuple(parent for split in splits for parent in split.parents),
        )

    def _index(self, chunker: Part, chunks: tuple[Chunk, ...], windows: int, progress: Progress) -> Index:
        from docmind.index.build import open_or_build

        before = self.embedder.embedded
        with progress(f"{chunker.label}: embedding", len(chunks)) as advance:
            index = open_or_build(slug(chunker.label), chunks, self.embedder, self.settings.index_dir, advance)
        if self._keep:
            upkeep.note(index.folder, self.settings.corpus, f"{chunker} {self.settings.profile}")
        embedded = self.embedder.embedded - before
        self._observe(Built(chunker.label, len(chunks), embedded, windows, there=not index.built))
        return index

    def close(self) -> None:
        """Let go of every file. It answers no more."""
        self._closed = True
        for collection in self._collections.values():
            collection.close()
        self._open.close()
        self._kept.close()

    def __enter__(self) -> Searcher:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
