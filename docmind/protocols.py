"""Every Protocol of DocMind, so that a part can be replaced by anything that does the same. No implementation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from pydantic import BaseModel

from docmind.types import Answer, Chunk, Completion, Document, Message, Query, Ranking, Split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FloatMatrix: TypeAlias = "NDArray[np.float32]"
Advance = Callable[[int], None]
"""Told how many more items are done; how a long step shows progress."""


class Progress(Protocol):
    """Shows a long step: `with progress("embedding", 200) as advance: … advance(1)`."""

    def __call__(self, what: str, total: int) -> AbstractContextManager[Advance]:
        """A step called `what` over `total` items."""


class Tokenizer(Protocol):
    """The embedder's own tokenizer, without special tokens, padding or truncation."""

    def count(self, text: str) -> int:
        """How many tokens `text` has."""

    def counts(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has; quicker than one by one."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The characters of `text` that each token covers, rising."""

    def unread(self, words: Sequence[str]) -> list[set[int]]:
        """Of each word the positions of letters that stand in no token that the model knows, or, where the word has more than
        one, in a token by themselves."""


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The token vectors of one text, quantised: `codes[i] * scales[i]` is about the unit vector of token i.

    `codes` int8 (tokens, dim), `scales` float32 (tokens,). Every token counts, [CLS] and [SEP] included.
    """

    codes: NDArray[np.int8]
    scales: NDArray[np.float32]


class Embedder(Protocol):
    """Texts to vectors. The same text gives the same bits, in whatever company it is embedded."""

    @property
    def id(self) -> str:
        """Names the model and every setting that changes a vector. What is kept between runs is kept under it, and under
        the code and the libraries of this package (CachedEmbedder.version)."""

    @property
    def dim(self) -> int:
        """The length of a vector."""

    @property
    def tokenizer(self) -> Tokenizer:
        """How the model counts."""

    @property
    def has_tokens(self) -> bool:
        """Whether `embed_tokens` gives token vectors."""

    def embed(self, texts: Sequence[str], *, cut: bool = False, advance: Advance | None = None) -> FloatMatrix:
        """float32 (n, dim), rows L2-normalised. A text over the model's limit raises ModelError, unless `cut`."""

    def embed_tokens(
        self, texts: Sequence[str], *, advance: Advance | None = None
    ) -> tuple[FloatMatrix, list[TokenVectors]]:
        """What `embed` gives, and each text's token vectors from the same pass."""

    def embed_query(self, text: str) -> tuple[NDArray[np.float32], FloatMatrix]:
        """The question's vector, float32 (dim,), and its tokens' without [CLS] and [SEP], float32 (tokens, dim).

        A question over the limit is cut, with a warning. Where there are no token vectors the second has no rows.
        Recent questions are remembered, so that the stages of one query share the work.
        """

    def embed_queries(self, texts: Sequence[str]) -> None:
        """Computes the questions together, so that `embed_query` finds them in the memory of recent ones."""

    def forget_queries(self) -> None:
        """Empties the memory of recent questions: before a latency is measured."""


class VectorCache(Protocol):
    """Vectors by key, kept from run to run."""

    def vectors(self, keys: Sequence[bytes]) -> Mapping[bytes, NDArray[np.float32]]:
        """The vectors there are, float32 (dim,) each."""

    def tokens(self, keys: Sequence[bytes]) -> Mapping[bytes, TokenVectors]:
        """The token vectors there are."""

    def put(self, keys: Sequence[bytes], vectors: FloatMatrix, tokens: Sequence[TokenVectors] | None = None) -> None:
        """Keep the vectors of `keys`, and their token vectors if given, all or none."""

    def clear(self) -> None:
        """Forget all."""

    def close(self) -> None:
        """Let go of what is open. It opens again when it is next needed."""


class VectorIndex(Protocol):
    """Finds the nearest of a corpus's chunks, which are named by their positions; these rise by (document, order)."""

    @property
    def exact(self) -> bool:
        """Whether it finds what a comparison with every vector would; part of the fingerprint."""

    def search(
        self, query: NDArray[np.float32], k: int, doc_ids: frozenset[str] | None = None
    ) -> list[tuple[int, float]]:
        """(position, cosine rounded to 6 decimals) of the `k` nearest, by (-cosine, position).

        `query` is float32 (dim,), L2-normalised. `doc_ids` limits the search before the top k is taken. Thread-safe.
        """

    def cosines(self, query: NDArray[np.float32], positions: Sequence[int]) -> NDArray[np.float64]:
        """(n,) cosines of `query` with the chunks at `positions`, as `search` gives them."""

    def similarity(self, positions: Sequence[int]) -> NDArray[np.float64]:
        """(n, n) cosines of the chunks at `positions` with each other, rounded to 6 decimals."""

    def close(self) -> None:
        """Let go of its files."""


class LexicalIndex(Protocol):
    """Finds the chunks that hold words of a question, named by position as in VectorIndex."""

    @property
    def exact(self) -> bool:
        """As in VectorIndex."""

    def search(self, question: str, k: int, doc_ids: frozenset[str] | None = None) -> list[tuple[int, float]]:
        """(position, score) of the best `k` chunks that hold a term of `question`, by (-score, position); scores are
        positive. Thread-safe."""


class TokenIndex(Protocol):
    """The token vectors of a corpus's chunks, by position. They serve late interaction; nothing searches them."""

    @property
    def exact(self) -> bool:
        """Whether its vectors are as the index was given them, int8."""

    def vectors(self, position: int) -> FloatMatrix:
        """The chunk's token vectors, float32 (tokens, dim), [CLS] first and [SEP] last, of unit length within the
        precision of int8."""

    def max_sim(self, question: FloatMatrix, positions: Sequence[int]) -> NDArray[np.float32]:
        """(tokens, n): for each of the question's token vectors, float32 (tokens, dim), its highest cosine with one of
        each chunk at `positions`. Thread-safe."""


class Chunker(Protocol):
    """Splits a document. Deterministic; `order` rises from 0."""

    def split(self, document: Document) -> Split:
        """The chunks, in the order of the document, and their parents. Blank text gives none."""


class Retriever(Protocol):
    """Finds chunks for a question. A frozen dataclass; its answers depend on nothing but the question. Thread-safe."""

    @property
    def depth(self) -> int | None:
        """How many hits its list holds at most, whatever `k` is asked for; None where there is no such limit."""

    def retrieve(self, query: Query, k: int) -> Ranking:
        """`k` hits, or as many as can be found: ranks from 1, scores that never rise, no chunk twice. Raises UsageError for a
        `k` that is no whole number from 1 up.

        The first hits do not depend on `k`. Only chunks of `query.doc_ids` are searched, before any top-k. `stages` tells
        every step; what the last one passed on begins with the hits. Equal scores stand by document, then order.
        """

    def context(self, chunk: Chunk) -> tuple[Chunk, ...]:
        """What a hit of `chunk` brings with it: parents or neighbours, shown beside it. So ceilings and the attribution of
        misses grade what the reader would have seen."""


class LLM(Protocol):
    """A language model behind an API."""

    @property
    def name(self) -> str:
        """Provider and model, such as "mistral/mistral-small-2506"."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: type[BaseModel] | None = None,
        max_tokens: int = 1024,
        on_text: Callable[[str], object] | None = None,
    ) -> Completion:
        """The model's answer, at temperature 0.

        With `schema`, the model is held to JSON of that form; whether the text keeps to it is for the caller to check.
        With `on_text`, the answer is streamed: it is told each piece as it comes. Raises LanguageModelError.
        """


class Answerer(Protocol):
    """Answers a question from what was retrieved for it."""

    @property
    def name(self) -> str:
        """Names the way of answering, model included."""

    def answer(self, query: Query, ranking: Ranking, on_text: Callable[[str], object] | None = None) -> Answer:
        """The answer, from the first hits of `ranking`; `on_text` is told each piece of it as it comes."""


class Reranker(Protocol):
    """Scores a few chunks against a question; higher is better."""

    @property
    def name(self) -> str:
        """Names the model; part of the fingerprint."""

    def score(self, question: str, chunks: Sequence[Chunk]) -> NDArray[np.float64]:
        """(n,), in the order of `chunks`."""
