"""Asks for a visitor, and finds out about each passage what is shown with it. How it is shown is not known here."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from docmind import text
from docmind.generation.answer import ask, checked
from docmind.generation.context import passages
from docmind.generation.extractive import Extractive
from docmind.protocols import Progress
from docmind.retrieval.searcher import Searcher
from docmind.types import Answer, Document, Hit, Span, blocks_in, merge


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit as it is shown under its `number`: `spans` of `document` are its text, rising, and `marks` are what of it
    matters. `heading` is the path of the section that it is quoted from, or begins in, without the document's own title,
    and `pages` are the numbers, from 1, of its pages, () where the format has none. `header` is the head row of a table that
    began before the passage."""

    number: int
    document: Document
    heading: tuple[str, ...]
    pages: tuple[int, ...]
    header: str
    spans: tuple[Span, ...]
    marks: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, the passages that it cites and the others that it was made from, both by number."""

    answer: Answer
    cited: tuple[Passage, ...]
    others: tuple[Passage, ...]


def reply(
    searcher: Searcher,
    strategy_name: str,
    answerer_name: str,
    question: str,
    progress: Progress,
    on_text: Callable[[str], object] | None = None,
) -> Reply:
    """The answer to `question` with all that is shown beside it; a missing index is built first, and `progress` told.
    Raises DocMindError."""
    asked = checked(question)
    searcher.retriever(searcher.find(strategy_name), progress)
    searcher.embedder.forget_queries()  # so that the times of two strategies can be compared
    answer = ask(searcher, strategy_name, answerer_name, asked, on_text=on_text)
    documents = searcher.documents
    quoted = {citation.number: citation.spans for citation in answer.citations}
    by_spans = answer.answerer == Extractive.name
    shown = [
        _passage(p.number, p.hit, documents, quoted.get(p.number, ()) if by_spans else None, asked)
        for p in passages(answer.ranking)
    ]
    cited = tuple(passage for passage in shown if passage.number in quoted)
    return Reply(answer, cited, tuple(passage for passage in shown if passage.number not in quoted))


def _passage(
    number: int, hit: Hit, documents: Mapping[str, Document], quoted: Sequence[Span] | None, question: str
) -> Passage:
    """With `quoted` None, the words of the question are marked."""
    chunk = hit.chunk
    if not chunk.spans:  # of a foreign retriever, and in no document: it is shown as it came
        document = Document("in none of the documents", "in none of the documents", chunk.text)
        return Passage(number, document, (), (), "", (Span(document.id, 0, len(chunk.text)),), ())
    document = documents[chunk.doc_id]
    around = [span for c in hit.context if c.doc_id == document.id for span in c.spans]
    spans = merge([*(span for span in chunk.spans if span.doc_id == document.id), *around])
    marks = merge(quoted) if quoted is not None else tuple(_same_words(document, spans, question))
    quotes = quoted or spans[:1]
    header = _header(document, spans[0].start)
    return Passage(number, document, heading(document, quotes[0].start), _pages(document, quotes), header, spans, marks)


def _header(document: Document, offset: int) -> str:
    """The head row of the table whose rows hold `offset`, "" where it is in none."""
    [block, *_] = blocks_in(document, offset, offset + 1) or [None]
    if block is None or block.header is None or offset < block.header.end:
        return ""
    return document.text[block.header.start : block.header.end].partition("\n")[0].strip()


def heading(document: Document, offset: int) -> tuple[str, ...]:
    """The titles from the top down to the section that holds `offset`, the document's own title left out."""
    found = [section.path for section in document.sections if section.span.start <= offset < section.span.end]
    path = found[0] if found else ()
    return path[1:] if path and text.same_title(path[0], document.title) else path


def _pages(document: Document, quotes: Sequence[Span]) -> tuple[int, ...]:
    """The numbers of the pages on which the quotes begin."""
    return tuple(sorted({bisect_right(document.pages, quote.start) for quote in quotes})) if document.pages else ()


def _same_words(document: Document, spans: Sequence[Span], question: str) -> Iterator[Span]:
    """The words among `spans` that the question has too, whatever their endings."""
    asked = set(text.stems(question))
    for span in spans:
        for start, end in text.word_places(document.text, span.start, span.end):
            if asked.intersection(text.stems(document.text[start:end])):
                yield Span(document.id, start, end)
