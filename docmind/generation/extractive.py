"""Answers without a language model: the sentences that answer best, quoted and cited. Nothing is put in other words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from docmind.generation.context import Passage, passages
from docmind.generation.prompts import ABSTENTION
from docmind.generation.sentences import Quotation, quotations
from docmind.protocols import Embedder, FloatMatrix
from docmind.types import Answer, Chunk, Citation, Document, Query, Ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUOTED = 3
"""Sentences of an answer, each of them said once, wherever else it stands. On the answer key's dev split three hold the
evidence nearly as often as four and are read at a glance."""

THRESHOLD = 0.458
"""An answer that is less sure abstains. Chosen on dev: the highest at which at most 15 % of the answerable abstain."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """What can be quoted of a passage, and how well it answers."""

    passage: Passage
    quotation: Quotation
    score: float


class Extractive:
    """Quotes the QUOTED sentences whose token vectors, and whose passage's, come nearest to the question's.

    Late interaction, as in retrieval/late.py, over the token vectors that were stored with the index: those of a sentence
    were computed with its passage around it, so that "it" carries what it stands for, and nothing is embedded but the
    question. A sentence's score, -1 to 1, is the mean of its own and its passage's; the best is the confidence. The context
    of a hit is quoted as a passage of its own under the hit's number, where it was embedded.
    """

    name = "extractive"

    def __init__(
        self,
        embedder: Embedder,
        tokens: Callable[[Chunk], FloatMatrix | None],
        documents: Mapping[str, Document],
    ) -> None:
        """`tokens` gives a chunk's token vectors, float32 (tokens, dim), [CLS] first and [SEP] last; None for one that was not
        embedded, such as a parent. `documents` holds those that chunks are of, by id."""
        self._embedder = embedder
        self._tokens = tokens
        self._documents = documents

    def answer(self, query: Query, ranking: Ranking, on_text: Callable[[str], object] | None = None) -> Answer:
        """The answer to `query` from the first hits of `ranking`; `on_text` is told it whole."""
        started = perf_counter()
        _, question = self._embedder.embed_query(query.text)
        scored = [
            sentence
            for passage in (passages(ranking) if len(question) else ())
            for chunk in (passage.hit.chunk, *passage.hit.context)
            for sentence in self._sentences(passage, chunk, question)
        ]
        distinct: dict[str, list[_Sentence]] = {}
        for sentence in sorted(scored, key=lambda s: -s.score):  # equal ones stay by passage and place
            distinct.setdefault(sentence.quotation.said, []).append(sentence)
        best = list(distinct.values())[:QUOTED]
        confidence = best[0][0].score if best else None
        abstained = confidence is None or confidence < THRESHOLD
        text = ABSTENTION if abstained else "\n\n".join(map(_quoted, best))
        if on_text:
            on_text(text)
        return Answer(
            text=text,
            citations=() if abstained else tuple(_citations([sentence for places in best for sentence in places])),
            abstained=abstained,
            ranking=ranking,
            answerer=self.name,
            timings={"answer": perf_counter() - started},
            confidence=confidence,
        )

    def _sentences(self, passage: Passage, chunk: Chunk, question: FloatMatrix) -> Iterator[_Sentence]:
        import numpy as np

        offsets = self._embedder.tokenizer.offsets(chunk.text)
        vectors = self._tokens(chunk)
        if (
            vectors is None or not offsets
        ):  # no offsets: characters that the model does not see, such as those without width
            return
        cosines = question @ vectors[1 : 1 + len(offsets)].T
        whole = cosines.max(axis=1).mean(dtype=np.float64)
        starts, ends = np.array(offsets).T
        before = len(chunk.prefix)
        for span in chunk.spans:
            for quotation in quotations(self._documents[chunk.doc_id], span):
                start, end = (before + at - span.start for at in (quotation.span.start, quotation.span.end))
                inside: NDArray[np.bool_] = (starts >= start) & (ends <= end)
                if inside.any():
                    own = cosines[:, inside].max(axis=1).mean(dtype=np.float64)
                    yield _Sentence(passage, quotation, round(float(own + whole) / 2, 6))
            before += len(span)


def _quoted(places: list[_Sentence]) -> str:
    """What stands in `places`, said once and cited wherever it stands: two pages that say the same are two passages."""
    numbers = dict.fromkeys(place.passage.number for place in places)
    return f"“{places[0].quotation.said}” {''.join(f'[{number}]' for number in numbers)}"


def _citations(quoted: list[_Sentence]) -> Iterator[Citation]:
    """A citation a passage, in the order in which they are first quoted."""
    for passage in dict.fromkeys(sentence.passage for sentence in quoted):
        spans = dict.fromkeys(s.quotation.span for s in quoted if s.passage == passage)  # a context may show one again
        yield Citation(passage.number, passage.hit, tuple(spans))
