"""A folder of documents. A new format is a file beside this and a line in FORMATS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from docmind.corpus import markdown
from docmind.corpus.folder import pages
from docmind.registry import Registry
from docmind.types import Document

FORMATS: Registry[Callable[[Path, str], Document]] = Registry("format", [(".md", markdown.read)])
"""Readers by the ending of the file, in lower case."""


def load(root: Path, exclude: Sequence[str] = ()) -> tuple[Document, ...]:
    """Every page below `root`, by id, which is its path below `root`.

    `exclude` are patterns (fnmatch) of ids to leave out. Raises CorpusError for what cannot be read.
    """
    return tuple(FORMATS[path.suffix.lower()](path, doc_id) for doc_id, path in pages(root, FORMATS, exclude))


def state(root: Path, exclude: Sequence[str] = ()) -> object:
    """What changes when a page is added, removed or written: compare it to know whether to load again."""
    stats = [(doc_id, path.stat()) for doc_id, path in pages(root, FORMATS, exclude)]
    return [(doc_id, stat.st_size, stat.st_mtime_ns) for doc_id, stat in stats]
