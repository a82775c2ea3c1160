"""What modes are made of, for one chunker. Each thing is made when it is first asked for: BM25 alone embeds nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from docmind.errors import UsageError
from docmind.index.build import Index
from docmind.index.lexical import Lexical
from docmind.parameters import Part
from docmind.protocols import Embedder, Reranker, Retriever
from docmind.retrieval.late import LateInteraction
from docmind.retrieval.shared import Shared
from docmind.types import Chunk


@dataclass(frozen=True, slots=True)
class Mode:
    """A line of MODES: the class that makes retrievers, and what it is given.

    It is made of its inner retrievers, then of what it `needs`, then of the parameters that it declares. `inner` are the
    modes inside it where none is written; as many are expected, or with `many`, in a tuple, two and more. The parameter
    `takes` says how many hits of them it takes, so that those not written are as deep.
    """

    make: Callable[..., Retriever]
    needs: Callable[[Parts], tuple[object, ...]] = lambda parts: ()
    inner: tuple[str, ...] = ()
    many: bool = False
    takes: str = ""


class Parts:
    """The chunks, their indexes, and the models; `mode` gives a finished retriever over them.

    With `shared`, a retriever that several modes build on answers each question once.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        embedder: Embedder,
        reranker: Reranker | None,
        open_index: Callable[[], Index],
        modes: Mapping[str, Mode],
        shared: bool = False,
    ) -> None:
        self.chunks = chunks
        self.embedder = embedder
        self._reranker = reranker
        self._open_index = open_index
        self._modes = modes
        self._shared = shared
        self._lexical: dict[Callable[[str], list[str]], Lexical] = {}
        self._made: dict[str, Retriever] = {}

    @cached_property
    def index(self) -> Index:
        """The index on disk, built if it is not there."""
        return self._open_index()

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Where each chunk stands among `chunks`, by its id."""
        return {chunk.id: position for position, chunk in enumerate(self.chunks)}

    @cached_property
    def reranker(self) -> Reranker:
        """The profile's own reranker, else late interaction over the index's token vectors."""
        if self._reranker:
            return self._reranker
        if self.index.tokens is None:
            raise UsageError(f"{self.embedder.id} gives no token vectors and its profile has no reranker")
        return LateInteraction(self.embedder, self.index.tokens, self.chunks)

    def lexical(self, analyse: Callable[[str], list[str]]) -> Lexical:
        """The BM25 index over terms made by `analyse`."""
        if analyse not in self._lexical:
            self._lexical[analyse] = Lexical([chunk.text for chunk in self.chunks], analyse)
        return self._lexical[analyse]

    def mode(self, part: Part) -> Retriever:
        """The retriever of that mode, the same one each time."""
        name = str(part)
        if name not in self._made:
            entry = self._modes[part.name]
            inner = tuple(self.mode(each) for each in part.inner)
            first = (inner,) if entry.many else inner
            retriever = entry.make(*first, *entry.needs(self), **dict(part.values))
            self._made[name] = Shared(retriever) if self._shared else retriever
        return self._made[name]

    def close(self) -> None:
        """Let go of the index's files, where they are open."""
        if "index" in self.__dict__:
            self.index.close()
