"""The values that flow through DocMind, all frozen. No behaviour beyond arithmetic on spans, and no input or output.

Positions are characters of `Document.text`, the cleaned text, half-open like Python slices. Everything that is
graded is a span, so one answer key grades every chunker.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ChunkKind = Literal["text", "table", "code"]
StageRole = Literal["encode", "candidates", "fusion", "rerank"]
BlockKind = Literal["heading", "paragraph", "list_item", "quote", "table", "code", "rule"]
Verdict = Literal["correct", "partial", "wrong", "abstained", "unsupported"]
"""On an answer; eval/README.md defines them."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters `start` to `end` (half-open, never empty) of the document `doc_id`."""

    doc_id: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"span {self.start}:{self.end} of {self.doc_id}: 0 <= start < end is required")

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a document that holds no other part: whole lines, `span` without the last line break.

    Of a heading: its `level`, 1 to 6, its `title` in plain words, and `words`, where they stand without marks; "" and
    None where there are none. Of a table: `header`, the head row with what rules it off; `rows`, each row after it; and
    `cells`, of each row, the head first, what its cells hold, without padding; a blank cell is None. A row may have more
    or fewer than the head.
    """

    kind: BlockKind
    span: Span
    level: int = 0
    title: str = ""
    words: Span | None = None
    header: Span | None = None
    rows: tuple[Span, ...] = ()
    cells: tuple[tuple[Span | None, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what follows it, up to the next heading of any level: the sections of a document partition it.

    `level` is 1 to 6, and 0 for text before the first heading. `parent` is the id of the section that it lies in, None at
    the top. `path` holds the titles from the top down to this section's own. `heading` covers the title without its
    marks; it is None at level 0.
    """

    id: str
    level: int
    title: str
    path: tuple[str, ...]
    span: Span
    heading: Span | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A text as it is searched. `id` is its path below the corpus folder, with forward slashes.

    `blocks` rise, are disjoint, and hold all of `text` but blank lines. `sections` partition it, in order. `pages` holds
    the offsets in `text` at which the pages of a paged format start; () for others.
    """

    id: str
    title: str
    text: str
    url: str | None = None
    blocks: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()
    pages: tuple[int, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrievable piece of a document. Make one with `Chunk.of`, which derives body and id.

    `body` is the joined slices of `spans`. `prefix` is shown and embedded before it (breadcrumbs, repeated table
    headers); `prefix_spans` tells where its words stand in the document, so that gold in a heading can be won.
    `order` counts in the document, `fragment` in the section. `id` is a hash of document, order, spans and `text`.
    """

    id: str
    doc_id: str
    spans: tuple[Span, ...]
    body: str
    order: int
    prefix: str = ""
    prefix_spans: tuple[Span, ...] = ()
    kind: ChunkKind = "text"
    path: tuple[str, ...] = ()
    section_id: str | None = None
    parent_id: str | None = None
    fragment: int = 0

    @property
    def text(self) -> str:
        """What is embedded, searched and shown."""
        return self.prefix + self.body

    @property
    def shown(self) -> tuple[Span, ...]:
        """Every span a reader of the chunk sees."""
        return self.spans + self.prefix_spans

    @classmethod
    def of(
        cls,
        document: Document,
        spans: tuple[Span, ...],
        order: int,
        *,
        prefix: str = "",
        prefix_spans: tuple[Span, ...] = (),
        kind: ChunkKind = "text",
        path: tuple[str, ...] = (),
        section_id: str | None = None,
        parent_id: str | None = None,
        fragment: int = 0,
    ) -> Chunk:
        """The chunk of `document` that covers `spans`."""
        body = "".join(document.text[s.start : s.end] for s in spans)
        key = "\x1f".join([document.id, str(order), *(f"{s.start}:{s.end}" for s in spans), prefix + body])
        return cls(
            id=hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:20],
            doc_id=document.id,
            spans=spans,
            body=body,
            order=order,
            prefix=prefix,
            prefix_spans=prefix_spans,
            kind=kind,
            path=path,
            section_id=section_id,
            parent_id=parent_id,
            fragment=fragment,
        )


@dataclass(frozen=True, slots=True)
class Split:
    """What a chunker makes of a document: `chunks`, which are embedded and searched, by `order`; and `parents`, which are
    neither, and are context for the chunks that name them as `parent_id`."""

    chunks: tuple[Chunk, ...]
    parents: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. `doc_ids` limits the search to those documents, before any top-k; None means all."""

    text: str
    history: tuple[Turn, ...] = ()
    doc_ids: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk at a rank, which starts at 1. `context` holds promoted parents or neighbours, shown with the chunk."""

    chunk: Chunk
    score: float
    rank: int
    context: tuple[Chunk, ...] = ()

    @property
    def shown(self) -> tuple[Span, ...]:
        """Every span a reader of the hit sees."""
        return self.chunk.shown + tuple(span for c in self.context for span in c.shown)

    @property
    def text(self) -> str:
        """Everything a reader of the hit sees."""
        return "\n\n".join([self.chunk.text, *(c.text for c in self.context)])


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a retrieval: what it passed on, best first, and how long it took.

    `role` says what kind of step it was, which the attribution of misses reads; an `encode` step passes nothing on.
    """

    name: str
    role: StageRole
    candidates: tuple[Chunk, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer of a retriever: hits by (-score, document, order) unless its last stage reorders, and the stages."""

    hits: tuple[Hit, ...]
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True, slots=True)
class Gold:
    """One piece of evidence: `spans` are alternatives, any one of which will do.

    Where the data set knows no spans (BEIR), `doc_id` names a whole document instead. `grade` is its relevance.
    """

    spans: tuple[Span, ...] = ()
    doc_id: str | None = None
    grade: int = 1


@dataclass(frozen=True, slots=True)
class Question:
    """A line of the answer key. `gold` holds the pieces that are all needed; none means unanswerable.

    `near_miss`, of an unanswerable one, says that the topic is in the documents and only the fact is not. `line` is its
    line in the answer key, from 1.
    """

    id: str
    text: str
    gold: tuple[Gold, ...] = ()
    type: str | None = None
    answer: str | None = None
    history: tuple[Turn, ...] = ()
    doc_ids: frozenset[str] | None = None
    split: str | None = None
    author: str | None = None
    reviewed_by_human: bool = False
    near_miss: bool = False
    line: int = 0

    @property
    def query(self) -> Query:
        """What a retriever is asked."""
        return Query(self.text, self.history, self.doc_ids)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one strategy did with one question.

    `ranks`: for each gold piece the rank, from 1, of the first hit that covers it, or None. `error` is the text of
    the exception that the retriever raised; then there is no ranking, and the outcome is no score.
    """

    question_id: str
    query: Query
    ranking: Ranking | None
    ranks: tuple[int | None, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Every outcome of one strategy, in the order of the answer key.

    `depth` is how many hits a question could have: what was asked for, or where the strategy's list ends before that.
    """

    strategy: str
    outcomes: tuple[Outcome, ...]
    depth: int
    fingerprint: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a language model."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a language model was sent and gave, retries included."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)


@dataclass(frozen=True, slots=True)
class Completion:
    """What a language model wrote. `cut` says that it was stopped at its limit of tokens. `thought` is what it thought
    aloud, which is no part of the text. `served` is the model that the server says it answered with, and its fingerprint
    where it tells one: a name such as mistral-large-latest comes to mean another model. "" where it does not tell."""

    text: str
    model: str
    usage: Usage
    cut: bool = False
    thought: str = ""
    served: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """The passage `number` (from 1, as in "[1]") that an answer cites, and what of it: `spans` are the quoted sentences,
    or all that the hit shows."""

    number: int
    hit: Hit
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said to a question, and on what grounds.

    `abstained`: the text says that the documents do not tell. `supported`: it cites at least one passage, or abstains.
    `model` is the language model that wrote it, as its price is listed, "" where none did; `served` and `thought` are as in
    Completion.
    `removed` are the numbers it cited without having been given such a passage; they are no longer in the text.
    `cut`: it was stopped at the model's limit of tokens. `confidence`, where the answerer has one, rises with the evidence.
    `timings` maps steps to seconds.
    """

    text: str
    citations: tuple[Citation, ...]
    abstained: bool
    ranking: Ranking
    answerer: str
    model: str = ""
    removed: tuple[int, ...] = ()
    usage: Usage = Usage()
    timings: Mapping[str, float] = field(default_factory=dict)
    confidence: float | None = None
    cut: bool = False
    served: str = ""
    thought: str = ""

    @property
    def supported(self) -> bool:
        """Whether a reader can look up on what the answer rests."""
        return self.abstained or bool(self.citations)


def merge(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The union of `spans`: sorted, overlapping and touching ones joined."""
    merged: list[Span] = []
    for span in sorted(spans):
        last = merged[-1] if merged else None
        if last and last.doc_id == span.doc_id and span.start <= last.end:
            merged[-1] = Span(span.doc_id, last.start, max(last.end, span.end))
        else:
            merged.append(span)
    return tuple(merged)


def overlap(a: Iterable[Span], b: Iterable[Span]) -> int:
    """How many characters stand in both unions."""
    total = 0
    right = merge(b)
    for x in merge(a):
        for y in right:
            if x.doc_id == y.doc_id:
                total += max(0, min(x.end, y.end) - max(x.start, y.start))
    return total


def blocks_in(document: Document, start: int, end: int) -> tuple[Block, ...]:
    """The blocks that hold any of the characters `start` to `end`, rising. A document without blocks is one paragraph."""
    if start >= end:
        return ()
    if not document.blocks:
        return (Block("paragraph", Span(document.id, 0, len(document.text))),) if document.text else ()
    first = bisect_right(document.blocks, start, key=lambda block: block.span.end)
    last = bisect_left(document.blocks, end, key=lambda block: block.span.start)
    return document.blocks[first:last]
