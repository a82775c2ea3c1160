"""A folder of pages to Documents. What a page looks like inside is known by its format alone."""

from __future__ import annotations

import errno
import logging
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from fnmatch import fnmatchcase
from pathlib import Path

from docmind.code import digest
from docmind.corpus import markdown, pdf, plain, stored
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

CODE = ("corpus", "markup", "parameters.py", "text.py", "types.py", "yamlfile.py")
LIBRARIES = ("markdown-it-py", "pypdfium2", "python-frontmatter", "pyyaml")
"""What decides how a page is read: one that is kept is read again where any of it changed."""

LEFT_OUT = ("NOTICE.md", "README.md")
"""Pages at the top of the folder that tell of the corpus and are no part of it."""

_REMEDY = "Mend it, or leave it out by a pattern."


def load(
    root: Path, exclude: Sequence[str] = (), keeper: Keeper | None = None, progress: Progress | None = None
) -> tuple[Document, ...]:
    """Every page below `root`, at any depth, sorted by id: its path below `root`, with forward slashes.

    Left out are LEFT_OUT, whatever begins with a dot, and every page or folder whose path matches a pattern of
    `exclude` (as in a shell, `*` matching slashes too). Links are followed. Raises CorpusError where there is no such
    folder, no page, a link that leads in a circle, or a page that cannot be read.

    With `keeper`, a page that is as it was when it was kept is not read again. `progress` is told of each page.
    """
    found = _found(root, exclude)
    documents = []
    with progress("reading", len(found)) if progress else nullcontext(lambda done: None) as advance:
        for doc_id, path in found:
            documents.append(_kept(keeper, path, doc_id) if keeper else _read(path, doc_id))
            advance(1)
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
    stats = [(doc_id, path.stat()) for doc_id, path in _found(root, exclude)]
    return [(doc_id, known.st_size, known.st_mtime_ns) for doc_id, known in stats]


def _found(root: Path, exclude: Sequence[str]) -> list[tuple[str, Path]]:
    """The ids and paths of the pages that `load` reads, by id."""
    try:
        is_folder = stat.S_ISDIR(root.stat().st_mode)
    except OSError as error:
        what = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        raise CorpusError(f"corpus {root} {what}. Name a folder of pages: --corpus DIR.") from error
    if not is_folder:
        raise CorpusError(f"corpus {root} is no folder. Name a folder of pages: --corpus DIR.")
    patterns = (*LEFT_OUT, *exclude)
    pages = sorted(_pages(root, "", patterns, (root.resolve(),)))
    if not pages:
        suffixes = ", ".join(FORMATS)
        raise CorpusError(
            f"corpus {root} holds no pages ({suffixes}), those that match {', '.join(patterns)} left out. "
            "Put pages there, or name another folder: --corpus DIR."
        )
    return pages


def _pages(folder: Path, prefix: str, patterns: Sequence[str], above: tuple[Path, ...]) -> Iterator[tuple[str, Path]]:
    """The ids and paths of the pages below `folder`. `above` are the folders it lies in, itself included, resolved."""
    try:
        entries = list(folder.iterdir())
    except OSError as error:
        raise CorpusError(f"folder {folder} cannot be read ({error.strerror}). {_REMEDY}") from error
    for path in entries:
        page = prefix + path.name
        if not page.isprintable() and any("\ud800" <= character <= "\udfff" for character in page):
            raise CorpusError(f"the name of {page!r} is not UTF-8. Rename it, or leave its folder out by a pattern.")
        if path.name.startswith(".") or any(fnmatchcase(page, pattern) for pattern in patterns):
            continue
        is_page = path.suffix.lower() in FORMATS
        try:
            mode = path.stat().st_mode
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise CorpusError(f"{path} is a link that leads back to itself. {_REMEDY}") from error
            if is_page:
                raise CorpusError(f"{path} cannot be read ({error.strerror}). {_REMEDY}") from error
            continue
        if stat.S_ISDIR(mode):
            target = path.resolve()
            if target in above:
                raise CorpusError(f"{path} is a link to {target}, which it lies in: a circle. {_REMEDY}")
            yield from _pages(path, f"{page}/", patterns, (*above, target))
        elif stat.S_ISREG(mode) and is_page:
            yield page, path
