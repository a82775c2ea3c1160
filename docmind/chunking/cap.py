"""The cap on what is embedded, and the last step of chunkers that know no structure. It chooses no chunks itself."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from docmind.errors import UsageError
from docmind.parameters import Value
from docmind.protocols import Tokenizer
from docmind.types import Chunk, Document, Span

CAP = 500
"""Tokens of prefix and body, without special tokens. The encoder has 512 positions, so no chunk is ever cut by it."""

LONG_WORD = 100
"""Characters. WordPiece makes one [UNK] of a longer word, so a line of a megabyte could pass for one token."""

PARAGRAPH = re.compile(r"\n\s*\n")
LINE = re.compile(r"\n")
SENTENCE = re.compile(r"(?<=[.?!])\s+|(?<=[。！？])")
WORD = re.compile(r"\s+")
"""What stands between them; a cut comes behind a match."""


def token_starts(text: str, tokenizer: Tokenizer) -> list[int]:
    """Where each token of `text` starts, rising. A token counts once for each LONG_WORD characters that it covers."""
    return [at for start, end in tokenizer.offsets(text) for at in range(start, max(end, start + 1), LONG_WORD)]


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """`start` and `end` without blank lines before and white space behind; equal where all is blank.

    The first line keeps its indentation, which says something in code and lists.
    """
    piece = text[start:end]
    lead = piece[: len(piece) - len(piece.lstrip())]
    if lead == piece:
        return start, start
    return start + lead.rfind("\n") + 1, start + len(piece.rstrip())


def cap(text: str, span: Span, limit: int, tokenizer: Tokenizer, prefix: str = "") -> list[Span]:
    """Cuts `span` so that `prefix` and each piece have at most `limit` tokens, counted as they will be embedded.

    Pieces are as long as they may be, end at the best border in their second half, and are trimmed; a blank span
    gives none. `limit` must leave room behind `prefix`: a single token or character is never cut.
    """
    start, end = trim(text, span.start, span.end)
    if start == end:
        return []
    body = text[start:end]
    excess = len(token_starts(prefix + body, tokenizer)) - limit
    if excess <= 0:
        return [Span(span.doc_id, start, end)]
    marks = token_starts(body, tokenizer)
    if min(len(marks), len(body)) < 2:
        return [Span(span.doc_id, start, end)]
    cuts = [0, *_cuts(body, marks, max(1, len(marks) - excess)), len(body)]
    pieces = (Span(span.doc_id, start + a, start + b) for a, b in pairwise(cuts))
    # A cut inside a word makes new tokens, so each piece is counted again by itself.
    return [whole for piece in pieces for whole in cap(text, piece, limit, tokenizer, prefix)]


def _cuts(body: str, marks: list[int], room: int) -> Iterator[int]:
    """Where to cut `body` into runs of at most `room` tokens, which start at `marks`: strictly inside, rising."""
    at = first = 0
    while first + room < len(marks) and at + 1 < len(body):
        low = max(at + 1, marks[first + room // 2])
        at = _best_cut(body, at, low, max(low, marks[first + room]))
        first = bisect_left(marks, at)
        yield at


def _best_cut(text: str, start: int, low: int, high: int) -> int:
    """The last place from `low` to `high` behind a paragraph, else behind a line, a sentence, a word, else `high`."""
    for border in (PARAGRAPH, LINE, SENTENCE, WORD):
        last = max((match.end() for match in border.finditer(text, start, high)), default=start)
        if last >= low:
            return last
    return high


def capped(document: Document, spans: Iterable[Span], tokenizer: Tokenizer) -> list[Chunk]:
    """The chunks of spans that may overlap, under CAP.

    What another chunk wholly covers is left out, so that both starts and ends rise strictly.
    """
    pieces = [piece for span in spans for piece in cap(document.text, span, CAP, tokenizer)]
    chunks: list[Chunk] = []
    reached = 0
    for piece in sorted(pieces, key=lambda s: (s.start, -s.end)):
        if piece.end > reached:
            chunks.append(Chunk.of(document, (piece,), len(chunks)))
            reached = piece.end
    return chunks


def overlap_below_size(chunker: str, values: Mapping[str, Value]) -> Mapping[str, Value]:
    """`values` as they are. Raises UsageError where windows would share all that they hold."""
    size, overlap = values["size"], values["overlap"]
    if isinstance(size, int) and isinstance(overlap, int) and overlap >= size:
        raise UsageError(
            f"{chunker}: size={size} stands with overlap={overlap}; expected: an overlap that is less than the size. "
            f"Write {chunker}(size={size},overlap={size // 8}), or others."
        )
    return values
