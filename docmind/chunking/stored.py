"""A document's chunks as bytes, so that one that has not changed need not be split again. JSON, without the text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from docmind.code import digest, is_own
from docmind.corpus import stored as documents
from docmind.keeping import Keeper, key
from docmind.protocols import Chunker, Embedder
from docmind.types import Chunk, Document, Span, Split

Places = list[list[int]]

CODE = ("chunking", "models", "parameters.py", "text.py", "types.py")
LIBRARIES = ("langchain-experimental", "langchain-text-splitters", "numpy", "onnxruntime", "tokenizers")
"""What decides how a document is split, beside the embedder and the chunker's parameters."""


def splitter(chunker: Chunker, said: str, keeper: Keeper, *, embedder: Embedder) -> Callable[[Document], Split]:
    """What splits as `chunker` does, but a document that is as it was only once. `said` tells the chunker's parameters and
    the version of `embedder`, which computes for it. One of them that is no part of this package has code that is not
    known here: nothing of it is kept."""
    if not (is_own(chunker) and is_own(embedder)):
        return chunker.split
    made_by = digest(CODE, LIBRARIES)

    def split(document: Document) -> Split:
        return keeper.kept(
            key("chunks", said, made_by, documents.dumps(document)),
            lambda: chunker.split(document),
            dumps,
            lambda data: loads(data, document),
        )

    return split


def dumps(split: Split) -> bytes:
    """The split as JSON: where its chunks stand, and what stands before them."""
    return json.dumps([list(map(_row, split.chunks)), list(map(_row, split.parents))], separators=(",", ":")).encode()


def loads(data: bytes, document: Document) -> Split:
    """What `dumps` gave for a split of `document`. Raises ValueError, TypeError or IndexError for anything else."""

    def spans(places: Places) -> tuple[Span, ...]:
        return tuple(Span(document.id, start, end) for start, end in places)

    def chunk(row: list) -> Chunk:  # type: ignore[type-arg]
        places, order, prefix, before, kind, path, section_id, parent_id, fragment = row
        return Chunk.of(
            document,
            spans(places),
            order,
            prefix=prefix,
            prefix_spans=spans(before),
            kind=kind,
            path=tuple(path),
            section_id=section_id,
            parent_id=parent_id,
            fragment=fragment,
        )

    chunks, parents = json.loads(data)
    return Split(tuple(map(chunk, chunks)), tuple(map(chunk, parents)))


def _row(chunk: Chunk) -> list[object]:
    return [
        _places(chunk.spans),
        chunk.order,
        chunk.prefix,
        _places(chunk.prefix_spans),
        chunk.kind,
        chunk.path,
        chunk.section_id,
        chunk.parent_id,
        chunk.fragment,
    ]


def _places(spans: Iterable[Span]) -> Places:
    return [[span.start, span.end] for span in spans]
