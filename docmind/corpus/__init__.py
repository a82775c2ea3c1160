"""A folder of pages to Documents. What a page looks like inside is known by its format alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

from docmind.code import digest
from docmind.corpus import markdown, pdf, plain, stored
from docmind.corpus.folder import LEFT_OUT, Fault, Folder, look, summary
from docmind.errors import CorpusError
from docmind.keeping import Keeper, key
from docmind.protocols import Progress
from docmind.registry import Registry
from docmind.types import Document

logger = logging.getLogger(__name__)

FORMATS: Registry[Callable[[Path, str], Document]] = Registry(
    "page format",
    [
        (".md", markdown.read),
        (".markdown", markdown.read),
        (".mdx", markdown.read),
        (".pdf", pdf.read),
        (".txt", plain.read),
    ],
)
"""What reads a page, by the suffix of its file, in lower case."""

__all__ = ["FORMATS", "LEFT_OUT", "Folder", "load", "look", "state"]

CODE = ("corpus", "markup", "parameters.py", "text.py", "types.py", "yamlfile.py")
LIBRARIES = ("markdown-it-py", "pypdfium2", "python-frontmatter", "pyyaml")
"""What decides how a page is read: one that is kept is read again where any of it changed."""


def load(
    root: Path, exclude: Sequence[str] = (), keeper: Keeper | None = None, progress: Progress | None = None
) -> tuple[Document, ...]:
    """Every page below `root`, at any depth, sorted by id: its path below `root`, with forward slashes, NFC.

    Left out are LEFT_OUT, whatever begins with a dot, and every page or folder whose path matches a pattern of
    `exclude` (as in a shell, `*` matching slashes too). Links are followed. Files that nothing here reads are told in one
    warning, by suffix. Raises CorpusError where there is no such folder or no page; and where links lead in a circle or
    pages cannot be read, one that tells of all of them.

    With `keeper`, a page that is as it was when it was kept is not read again. `progress` is told of each page.
    """
    found = look(root, FORMATS, exclude)
    faults = list(found.faults)
    documents = []
    pages = sorted(found.pages.items())
    with progress("reading", len(pages)) if progress else nullcontext(lambda done: None) as advance:
        for doc_id, path in pages:
            try:
                documents.append(_kept(keeper, path, doc_id) if keeper else _read(path, doc_id))
            except CorpusError as error:
                faults.append(Fault(doc_id, str(error)))
            advance(1)
    if faults:
        raise CorpusError(summary(root, faults))
    unread = ", ".join(f"{n:,} {suffix or 'without a suffix'}" for suffix, n in sorted(found.unread.items()))
    if not documents:
        patterns = ", ".join((*LEFT_OUT, *exclude))
        there = f" Files of other kinds are there: {unread}." if unread else ""
        raise CorpusError(
            f"corpus {root} holds no pages ({', '.join(FORMATS)}), those that match {patterns} left out.{there} "
            "Put pages there, or name another folder: --corpus DIR."
        )
    if unread:
        logger.warning("%s: files that are not read, since they are none of %s: %s.", root, ", ".join(FORMATS), unread)
    return tuple(documents)


def _read(path: Path, doc_id: str) -> Document:
    return FORMATS[path.suffix.lower()](path, doc_id)


def _kept(keeper: Keeper, path: Path, doc_id: str) -> Document:
    def read() -> Document:
        document = _read(path, doc_id)
        if path.read_bytes() != data:
            logger.warning("%s was changed while it was read.", path)
        return document

    try:
        if path.stat().st_size > pdf.MAX_BYTES:
            return _read(path, doc_id)  # which says that it is too large
        data = path.read_bytes()
    except OSError:
        return _read(path, doc_id)  # which says what is wrong with it
    made_by = digest(CODE, LIBRARIES)
    return keeper.kept(key("document", doc_id, path.name, data, made_by), read, stored.dumps, stored.loads)


def state(root: Path, exclude: Sequence[str] = ()) -> object:
    """What is another value once a page was added, removed or written: compare it to know whether to load again."""
    found = look(root, FORMATS, exclude)
    stats = [(doc_id, path.stat()) for doc_id, path in sorted(found.pages.items())]
    return found.faults, [(doc_id, known.st_size, known.st_mtime_ns) for doc_id, known in stats]
