"""A foreign retriever as one of ours: its passages are placed in the documents, and are chunks and hits from then on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

from docmind.foreign.placing import Placer
from docmind.foreign.reply import Asked, Passage, Reply
from docmind.retrieval.ranking import wanted
from docmind.types import Chunk, Document, Hit, Query, Ranking, Span, Stage


@dataclass(frozen=True, slots=True)
class ForeignRetriever:
    """Answers for the strategy `name` with what `ask` replies, placed in `documents`. `depth` is as of a Retriever; `ids`
    are the names of questions of an answer key, for sources that go by them."""

    name: str
    depth: int | None
    ask: Callable[[Asked], Reply]
    placer: Placer
    documents: Mapping[str, Document]
    ids: Mapping[Query, str] = field(default_factory=dict)

    def retrieve(self, query: Query, k: int) -> Ranking:
        """The first `k` passages of the reply, in its order. With several steps and no list of the system's own it is the
        first passages of all steps, then the second ones, and so on, none twice.

        Raises ReplyError where there is no reply, UsageError for a `k` that is no whole number from 1 up.
        """
        reply = self.ask(asked(query, wanted(k), self.ids.get(query)))
        steps = [self._stage(step.query, step.passages) for step in reply.steps]
        found = [self._chunk(passage) for passage in reply.passages]
        stages = steps or [Stage(self.name, "candidates", tuple(found), reply.seconds or 0.0)]
        if steps and found:
            stages = [*steps, Stage(self.name, "rerank", tuple(found), 0.0)]
        elif steps:
            found = list(_in_turn(stage.candidates for stage in steps))
        # Scores of other systems are of any scale, may rise with the distance, and differ in their last digits from call to
        # call: the order of the list is the ranking, and 1/rank says that.
        hits = tuple(Hit(chunk, round(1 / rank, 6), rank) for rank, chunk in enumerate(found[:k], start=1))
        return Ranking(hits, tuple(stages))

    def context(self, chunk: Chunk) -> tuple[Chunk, ...]:
        """None: what a passage shows is its own text."""
        return ()

    def _stage(self, query: str, passages: Iterable[Passage]) -> Stage:
        return Stage(query, "candidates", tuple(map(self._chunk, passages)), 0.0)

    def _chunk(self, passage: Passage) -> Chunk:
        """What `passage` shows; a passage that is in no document has no spans, and covers nothing."""
        spans = self.placer.place(passage).spans
        if not spans:
            return Chunk(_hash(passage.source or "", passage.text), "", (), passage.text or passage.source or "", 0)
        body = passage.text or "".join(self.documents[s.doc_id].text[s.start : s.end] for s in spans)
        return Chunk(_place(spans), spans[0].doc_id, spans, body, spans[0].start)


def asked(query: Query, k: int, name: str | None = None) -> Asked:
    """What a foreign retriever is asked for `query`, a question called `name`."""
    documents = None if query.doc_ids is None else tuple(sorted(query.doc_ids))
    return Asked(query.text, k, name, query.history, documents)


def _in_turn(lists: Iterable[Iterable[Chunk]]) -> Iterator[Chunk]:
    """The first of each list, then the second of each, and so on; of those that are the same the first alone."""
    seen: set[str] = set()
    for row in zip_longest(*lists):
        for chunk in row:
            if chunk is not None and chunk.id not in seen:
                seen.add(chunk.id)
                yield chunk


def _place(spans: Iterable[Span]) -> str:
    return _hash(*(f"{span.doc_id}:{span.start}:{span.end}" for span in spans))


def _hash(*parts: str) -> str:
    """As long as a chunk's."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:20]
