"""Windows of a fixed number of the embedder's tokens, from word to word. It knows tokens, no structure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from docmind.chunking.cap import CAP, capped, overlap_below_size, token_starts
from docmind.parameters import Value, parameter
from docmind.protocols import Embedder
from docmind.types import Document, Span, Split


@dataclass(frozen=True, slots=True)
class Fixed:
    """Windows of at most `size` tokens that share about `overlap`. Both ends stand between words.

    A run without white space that is longer than a window is cut between tokens: Chinese and Japanese text is one.
    """

    embedder: Embedder
    size: int = parameter(500, "tokens of a window", low=16, high=CAP)
    overlap: int = parameter(64, "tokens that a window shares with the next", low=0, high=CAP - 1)

    @staticmethod
    def check(values: Mapping[str, Value], inner: int) -> Mapping[str, Value]:
        return overlap_below_size("fixed", values)

    def split(self, document: Document) -> Split:
        return Split(tuple(capped(document, self._windows(document), self.embedder.tokenizer)))

    def _windows(self, document: Document) -> Iterator[Span]:
        text = document.text
        if not text.strip():
            return
        starts = token_starts(text, self.embedder.tokenizer)
        words = [at for at in starts if at == 0 or text[at - 1].isspace()]
        start = end = 0
        while (first := bisect_left(starts, start)) + self.size < len(starts):
            end = _snap_back(words, end + 1, starts[first + self.size])
            yield Span(document.id, start, end)
            shared = starts[max(0, bisect_left(starts, end) - self.overlap)]
            start = _snap_on(words, max(start + 1, shared), end)
        yield Span(document.id, start, len(text))


def _snap_back(words: list[int], low: int, place: int) -> int:
    """The last word that starts from `low` to `place`, else `place` (or `low`, where that is further on)."""
    n = bisect_right(words, place)
    return words[n - 1] if n and words[n - 1] >= low else max(low, place)


def _snap_on(words: list[int], place: int, high: int) -> int:
    """The first word that starts from `place` to `high`, else `place`."""
    n = bisect_left(words, place)
    return words[n] if n < len(words) and words[n] <= high else place
