"""The chunks of the handbook, as other systems might give them back, show just the evidence that they show themselves."""

from __future__ import annotations

import logging
from collections import defaultdict
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from docmind.chunking import CHUNKERS
from docmind.corpus import load
from docmind.evaluation.key.dataset import load_questions
from docmind.evaluation.scoring.spans import covers
from docmind.foreign.placing import Placer
from docmind.foreign.reply import Passage
from docmind.types import Span

ROOT = Path(__file__).parent.parent.parent
MARKDOWN = MarkdownIt("commonmark").enable("table")
CUT = 3


def rendered(text):
    """What a renderer to plain text makes of Markdown: no marks, no targets of links, no numbers of lists."""
    lines = []
    for token in MARKDOWN.parse(text):
        if token.type == "inline":
            lines.append("".join(part.content or "\n" * part.type.endswith("break") for part in token.children))
        elif token.type in ("fence", "code_block"):
            lines.append(token.content)
    return "\n".join(lines)


def with_offsets(chunk):
    return Passage(chunk.text, chunk.doc_id, chunk.spans[0].start, chunk.spans[0].end)


FORMS = {
    "text": lambda chunk: Passage(chunk.text),
    "source": lambda chunk: Passage(chunk.text, chunk.doc_id),
    "offsets": with_offsets,
    "prefix": lambda chunk: Passage(f"Source: {chunk.doc_id} > A title that a system adds\n{chunk.text}"),
    "rendered": lambda chunk: Passage(rendered(chunk.text)),
    "blanks": lambda chunk: Passage(" ".join(chunk.text.split())),
    "upper": lambda chunk: Passage(chunk.text.upper()),
    "cut": lambda chunk: Passage(chunk.text[CUT:-CUT]),
}
CHUNKS = [
    ("headers", {}), ("headers", {"size": 120}), ("recursive", {}), ("recursive", {"size": 200, "overlap": 0}),
    ("fixed", {}), ("fixed", {"size": 40, "overlap": 8}),
]  # fmt: skip

KNOWN = {
    # Of five words two are cut, and the three others are no run.
    ("recursive", 200, "cut", "d405"),
    # "…on it." is cut to "…on ", and the blank decides: without it less than 80 % of the evidence is left.
    ("recursive", 200, "cut", "v002"),
}
"""Evidence that is lost: chunker, size, form and question."""


@pytest.fixture(scope="module")
def handbook():
    logging.disable(logging.WARNING)
    try:
        documents = load(ROOT / "corpus")
        questions = load_questions(ROOT / "eval" / "questions.jsonl", documents).questions
    finally:
        logging.disable(logging.NOTSET)
    pieces = defaultdict(list)
    for question in questions:
        for gold in question.gold:
            for page in {span.doc_id for span in gold.spans}:
                pieces[page].append((question.id, gold))
    return documents, pieces


def shown(spans, pieces):
    return {
        (question, gold)
        for page in {span.doc_id for span in spans}
        for question, gold in pieces[page]
        if covers(spans, gold)
    }


def kept(chunk, form):
    """What of the chunk's spans is in its passage."""
    if form != "cut":
        return chunk.spans
    span = chunk.spans[0]
    start, end = span.start + max(0, CUT - len(chunk.prefix)), span.end - CUT
    return (Span(span.doc_id, start, end),) if start < end else ()


def differences(handbook, chunks, form):
    """The questions whose evidence is lost, and those whose evidence is shown without being in what the chunk shows."""
    documents, pieces = handbook
    placer = Placer(documents)
    lost, more = set(), set()
    for chunk in chunks:
        spans = placer.place(FORMS[form](chunk)).spans
        got = shown(spans, pieces)
        lost |= {question for question, _ in shown(kept(chunk, form), pieces) - got}
        more |= {question for question, _ in got - shown(chunk.shown, pieces)}
    return lost, more


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("chunker", "values"), CHUNKS)
def test_every_chunk(handbook, embedder, chunker, values, form):
    made = CHUNKERS[chunker](embedder, **values)
    chunks = [chunk for document in handbook[0] for chunk in made.split(document).chunks]
    size = values.get("size", 0)
    lost, more = differences(handbook, chunks, form)
    assert {(chunker, size, form, question) for question in lost} == {
        k for k in KNOWN if k[:3] == (chunker, size, form)
    }
    assert more == set()


@pytest.mark.parametrize("form", FORMS)
def test_a_sample(handbook, embedder, form):
    documents, pieces = handbook
    chunks = [
        chunk
        for document in documents[::9]
        for chunker, values in CHUNKS[1::2]
        for chunk in CHUNKERS[chunker](embedder, **values).split(document).chunks
    ]
    held = [chunk for chunk in chunks if shown(chunk.spans, pieces)]
    assert len(held) > 50
    assert differences(handbook, held, form) == (set(), set())
