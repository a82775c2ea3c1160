"""Answers without a language model: the sentences that answer best, quoted and cited. Nothing is put in other words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from docmind.generation.context import Passage, passages
from docmind.generation.prompts import ABSTENTION
from docmind.generation.sentences import quotation, sentences
from docmind.protocols import Embedder, FloatMatrix
from docmind.types import Answer, Chunk, Citation, Query, Ranking, Span

QUOTED = 3
"""Sentences of an answer, each of them once. On the answer key's dev split three hold the evidence nearly as often as four
and are read at a glance."""

THRESHOLD = 0.458
"""An answer that is less sure abstains. Chosen on dev: the highest at which at most 15 % of the answerable abstain."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A range of a passage's body, and how well it answers."""

    passage: Passage
    start: int
    end: int
    score: float

    @property
    def text(self) -> str:
        chunk = self.passage.hit.chunk
        return quotation(chunk.text, len(chunk.prefix) + self.start, len(chunk.prefix) + self.end)


class Extractive:
    """Quotes the QUOTED sentences whose token vectors, and whose passage's, come nearest to the question's.

    Late interaction, as in retrieval/late.py, over the token vectors that were stored with the index: those of a sentence
    were computed with its passage around it, so that "it" carries what it stands for, and nothing is embedded but the
    question. A sentence's score, -1 to 1, is the mean of its own and its passage's; the best is the confidence.
    """

    name = "extractive"

    def __init__(self, embedder: Embedder, tokens: Callable[[Chunk], FloatMatrix]) -> None:
        """`tokens` gives a chunk's token vectors, float32 (tokens, dim), [CLS] first and [SEP] last."""
        self._embedder = embedder
        self._tokens = tokens

    def answer(self, query: Query, ranking: Ranking, on_text: Callable[[str], object] | None = None) -> Answer:
        """The answer to `query` from the first hits of `ranking`; `on_text` is told it whole."""
        started = perf_counter()
        _, question = self._embedder.embed_query(query.text)
        scored = (
            [s for passage in passages(ranking) for s in self._sentences(passage, question)] if len(question) else []
        )
        distinct: dict[str, _Sentence] = {}
        for sentence in sorted(scored, key=lambda s: (-s.score, s.passage.number, s.start)):
            distinct.setdefault(sentence.text, sentence)  # what stands in two passages is said once
        best = list(distinct.values())[:QUOTED]
        confidence = best[0].score if best else None
        abstained = confidence is None or confidence < THRESHOLD
        text = ABSTENTION if abstained else "\n\n".join(f"“{s.text}” [{s.passage.number}]" for s in best)
        if on_text:
            on_text(text)
        return Answer(
            text=text,
            citations=() if abstained else tuple(_citations(best)),
            abstained=abstained,
            ranking=ranking,
            answerer=self.name,
            timings={"answer": perf_counter() - started},
            confidence=confidence,
        )

    def _sentences(self, passage: Passage, question: FloatMatrix) -> Iterator[_Sentence]:
        chunk = passage.hit.chunk
        offsets = self._embedder.tokenizer.offsets(chunk.text)
        if not offsets:  # characters that the model does not see, such as those without width
            return
        cosines = question @ self._tokens(chunk)[1 : 1 + len(offsets)].T
        whole = cosines.max(axis=1).mean(dtype=np.float64)
        before = len(chunk.prefix)
        starts, ends = np.array(offsets).T
        for start, end in sentences(chunk.body):
            inside: NDArray[np.bool_] = (starts >= before + start) & (ends <= before + end)
            if inside.any():
                own = cosines[:, inside].max(axis=1).mean(dtype=np.float64)
                yield _Sentence(passage, start, end, round(float(own + whole) / 2, 6))


def _citations(quoted: list[_Sentence]) -> Iterator[Citation]:
    """A citation a passage, in the order in which they are first quoted."""
    for passage in dict.fromkeys(sentence.passage for sentence in quoted):
        spans = tuple(
            span for s in quoted if s.passage == passage for span in spans_of(passage.hit.chunk, s.start, s.end)
        )
        yield Citation(passage.number, passage.hit, spans)


def spans_of(chunk: Chunk, start: int, end: int) -> Iterator[Span]:
    """Where the characters `start` to `end` of the chunk's body stand in its document."""
    offset = 0
    for span in chunk.spans:
        from_, to = max(start, offset), min(end, offset + len(span))
        if from_ < to:
            yield Span(span.doc_id, span.start + from_ - offset, span.start + to - offset)
        offset += len(span)
