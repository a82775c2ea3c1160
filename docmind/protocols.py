"""Every Protocol of DocMind, so that a part can be replaced by anything that does the same. No implementation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from docmind.types import Answer, Chunk, Completion, Document, Message, Query, Ranking

FloatMatrix = NDArray[np.float32]
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

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The characters of `text` that each token covers, rising."""


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
        """Names the model and every setting that changes a vector: the key of the vector cache."""

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

    def forget_queries(self) -> None:
        """Empties the memory of recent questions: before a latency is measured."""


class Chunker(Protocol):
    """Splits a document. Deterministic; `order` rises from 0."""

    @property
    def parameters(self) -> Mapping[str, object]:
        """Every setting that changes the chunks; part of the fingerprint."""

    def split(self, document: Document) -> list[Chunk]:
        """The chunks, in the order of the document. Blank text gives none."""


class Retriever(Protocol):
    """Finds chunks for a question. A frozen dataclass, so that the fingerprint can tell how it is composed."""

    def retrieve(self, query: Query, k: int) -> Ranking:
        """`k` hits, k > 0, or as many as can be found: ranks from 1, scores that never rise, no chunk twice.

        Only chunks of `query.doc_ids` are searched, before any top-k. `stages` tells every step; what the last one
        passed on begins with the hits. Equal scores stand by document, then order.
        """


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
