"""LangChain's RecursiveCharacterTextSplitter, with every chunk's exact place. It knows characters, no structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from docmind.chunking.cap import capped, overlap_below_size
from docmind.parameters import Value, parameter
from docmind.protocols import Embedder
from docmind.types import Document, Span, Split

FIRST = 0x10000
NAMES = 0x110000 - FIRST
"""The astral characters: each is one character to Python and none is white space, so each can name a position."""


@dataclass(frozen=True, slots=True)
class Recursive:
    """Chunks of at most `size` characters that share at most `overlap`."""

    embedder: Embedder
    size: int = parameter(1000, "characters of a chunk; the cap of tokens holds too", low=16, high=10_000)
    overlap: int = parameter(200, "characters that a chunk may share with the next", low=0, high=9_999)

    @staticmethod
    def check(values: Mapping[str, Value], inner: int) -> Mapping[str, Value]:
        return overlap_below_size("recursive", values)

    def split(self, document: Document) -> Split:
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        splitter = RecursiveCharacterTextSplitter(chunk_size=self.size, chunk_overlap=self.overlap)
        places = locate(document.text, splitter.split_text)
        spans = (Span(document.id, start, end) for start, end in places)
        return Split(tuple(capped(document, spans, self.embedder.tokenizer)))


def locate(text: str, split_text: Callable[[str], list[str]]) -> list[tuple[int, int]]:
    """Where the pieces of `split_text(text)` stand in `text`.

    A search would find earlier copies of repeated text. So a copy is split in which the n-th character that is no
    white space tells n. There are 1,048,576 such names, used again and again in longer texts; that is still exact,
    since a piece starts at or behind the one before it, and less than a round further on.

    `split_text` must cut, and measure, by white space and lengths alone, and strip its pieces. Raises RuntimeError
    for a piece that is no slice of `text`.
    """
    places = [at for at, character in enumerate(text) if not character.isspace()]
    copy = list(text)
    for n, at in enumerate(places):
        copy[at] = chr(FIRST + n % NAMES)
    found = []
    n = 0
    for piece in split_text("".join(copy)):
        n += (ord(piece[0]) - FIRST - n) % NAMES
        last = n + (ord(piece[-1]) - ord(piece[0])) % NAMES
        start, end = places[n], places[last] + 1
        if end - start != len(piece):
            raise RuntimeError(f"a piece of {len(piece)} characters cannot be placed at {start}:{end} of the text")
        found.append((start, end))
    return found
