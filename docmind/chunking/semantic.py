"""LangChain's SemanticChunker, with the exact place of every chunk. Sentences and breaks are LangChain's own."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from docmind.chunking.cap import capped
from docmind.parameters import parameter
from docmind.protocols import Embedder
from docmind.types import Document, Span, Split

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

SENTENCE_BREAK = r"(?<=[.?!])\s+"
"""SemanticChunker's own pattern, handed to it so that both cut alike."""

BUFFER = 1
"""Sentences on either side that a window takes in."""


@dataclass(frozen=True, slots=True)
class Semantic:
    """Breaks between sentences whose windows of three differ more than `percentile` per cent of such pairs do."""

    embedder: Embedder
    percentile: float = parameter(95, "per cent of the neighbours that are nearer than those parted", low=0, high=100)

    def split(self, document: Document) -> Split:
        return Split(tuple(capped(document, self._groups(document), self.embedder.tokenizer)))

    def _groups(self, document: Document) -> Iterator[Span]:
        """The source's own text from the first sentence of each of LangChain's chunks to its last.

        LangChain joins sentences with one blank, so most of its chunks are no substring of the source, and its
        start_index is a sum of lengths. How many sentences a chunk has is told by its length.
        """
        text = document.text.strip()
        if not text:
            return
        offset = document.text.index(text)
        sentences = _sentences(text)
        for group in self._split_text(text):
            first, last = next(sentences)
            length = last - first
            while length < len(group):
                sentence, last = next(sentences)
                length += 1 + last - sentence
            if length != len(group):
                raise RuntimeError(f"{document.id}: a chunk of {len(group)} characters ends inside a sentence")
            yield Span(document.id, offset + first, offset + last)

    def _split_text(self, text: str) -> list[str]:
        with warnings.catch_warnings():
            # It and the langchain-community below it say at import that they are being sunset. Their versions are
            # bounded, and this one class of theirs is all that is used.
            warnings.filterwarnings("ignore", r"`langchain-\w+` is being sunset", DeprecationWarning)
            from langchain_experimental.text_splitter import SemanticChunker

        splitter = SemanticChunker(
            cast("Embeddings", _Embeddings(self.embedder)),
            buffer_size=BUFFER,
            breakpoint_threshold_type="percentile",
            breakpoint_threshold_amount=self.percentile,
            sentence_split_regex=SENTENCE_BREAK,
        )
        return splitter.split_text(text)


@dataclass(frozen=True, slots=True)
class _Embeddings:
    """The part of LangChain's Embeddings that SemanticChunker calls."""

    embedder: Embedder

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        # A window of three long sentences may be over the model's limit; it only serves to find a break.
        vectors: list[list[float]] = self.embedder.embed(texts, cut=True).tolist()
        return vectors


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in re.finditer(SENTENCE_BREAK, text):
        yield start, gap.start()
        start = gap.end()
    yield start, len(text)
