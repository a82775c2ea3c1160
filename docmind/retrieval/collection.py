"""The chunks of one chunker and what finds them. Each part is made when it is first needed: BM25 alone embeds nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

from docmind.errors import UsageError
from docmind.protocols import Embedder, FloatMatrix, LexicalIndex, Reranker, TokenIndex
from docmind.retrieval.late import LateInteraction
from docmind.types import Chunk, Split

if TYPE_CHECKING:
    from docmind.index.build import Index


@dataclass(frozen=True, slots=True)
class Built:
    """What it took to have an index: the chunker as it was named, how many chunks, how many of them were embedded rather
    than found in the cache, how many windows were embedded only to find where the chunks should end, and whether the index
    was there already, so that no chunk was looked for."""

    chunker: str
    chunks: int
    embedded: int
    windows: int
    there: bool = False


class Collection:
    """`chunks` rise by (document, order), and a chunk is named by its place there; `parents` are their context, by id.

    Several threads may ask for the parts at once; the first makes one, and the others wait for it.
    """

    def __init__(
        self,
        split: Split,
        embedder: Embedder,
        reranker: Reranker | None,
        open_index: Callable[[], Index],
        lock: RLock,
    ) -> None:
        """`open_index` is called once, under `lock`: that of whoever builds several collections at once."""
        self.chunks = split.chunks
        self.parents: Mapping[str, Chunk] = {parent.id: parent for parent in split.parents}
        self.embedder = embedder
        self._reranker = reranker
        self._open_index = open_index
        self._lock = lock
        self._index: Index | None = None
        self._lexical: dict[Callable[[str], list[str]], LexicalIndex] = {}

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Where each chunk stands in `chunks`, by its id."""
        return {chunk.id: position for position, chunk in enumerate(self.chunks)}

    @property
    def index(self) -> Index:
        """The index on disk, built if it is not there."""
        if self._index is None:
            with self._lock:
                if self._index is None:
                    self._index = self._open_index()
        return self._index

    @property
    def reranker(self) -> Reranker:
        """The profile's own reranker, else late interaction over the index's token vectors."""
        if self._reranker:
            return self._reranker
        if self.index.tokens is None:
            raise UsageError(f"{self.embedder.id} gives no token vectors and its profile has no reranker")
        return LateInteraction(self.embedder, self.index.tokens, self.positions)

    def lexical(self, analyse: Callable[[str], list[str]]) -> LexicalIndex:
        """The BM25 index over terms made by `analyse`."""
        from docmind.index.lexical import Bm25Index

        with self._lock:
            if analyse not in self._lexical:
                self._lexical[analyse] = Bm25Index(self.chunks, analyse)
            return self._lexical[analyse]

    @property
    def tokens(self) -> TokenIndex:
        """The chunks' token vectors. Raises UsageError where the model has none."""
        if self.index.tokens is None:
            raise UsageError(
                f"{self.embedder.id} gives no token vectors. Use the default profile, or a language model."
            )
        return self.index.tokens

    def token_vectors(self, chunk: Chunk) -> FloatMatrix | None:
        """The token vectors, float32 (tokens, dim), of a chunk; None of one that is not embedded. Raises UsageError as
        `tokens` does."""
        tokens, position = self.tokens, self.positions.get(chunk.id)
        return None if position is None else tokens.vectors(position)

    def close(self) -> None:
        """Let go of the index's files, where they are open."""
        with self._lock:
            if self._index:
                self._index.close()
