"""One PDF to a Document: its text, page by page. What was drawn or scanned is not read, and no layout is kept."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from docmind.corpus import pdftext
from docmind.corpus.paragraphs import paragraphs
from docmind.corpus.sections import sections
from docmind.errors import CorpusError
from docmind.text import nfc
from docmind.types import Document

logger = logging.getLogger(__name__)

MAX_BYTES = 20 * 2**20
MAX_PAGES = 2_000
MAX_CHARACTERS = 5_000_000
"""Of one file. A book has about a million characters, and as many are embedded in a minute or two."""

SECONDS = 60.0
MEMORY = 2**30
"""Bytes. What one file may take to read: 2,000 full pages take some 2 seconds and less than a quarter of that."""

BETWEEN = "\n\n"
"""Stands between two pages, so that a paragraph ends there."""

_HYPHEN = re.compile(r"\x02(?:\r?\n)?|\xad|[\x0b\x0c\ufeff]")
"""What is no part of a word: the hyphen of one that goes on in the next line, and characters that are not seen."""
_NO_CHARACTER = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_MEANINGLESS = re.compile(
    r"(?!(?<!\S)[\ue000-\uf8ff](?!\S))[\ufffd\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]"
)
"""What stands for a letter of which the file does not say what it means. A private character that stands alone is a bullet."""
_NO_TITLES = frozenset({"(anonymous)", "(unspecified)", "(untitled)", "untitled", "untitled document"})
"""What programs write where nobody gave a title."""
_LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}


def read(path: Path, doc_id: str) -> Document:
    """The PDF at `path`, with `doc_id` as its id. Its title is the one that its author set, else the file's name. A letter
    of which the file does not say what it means is U+FFFD, or a private character. Its blocks are paragraphs between blank
    lines, which end with the page at the latest, and all of it is one section.

    `troubles` are warnings; pages without text stay, empty, in `pages`. A file that is locked with an empty password is
    opened. Raises CorpusError where no page holds text; where the file is no PDF, damaged, locked or larger than the limits
    above; or where it takes more than SECONDS or MEMORY to read.
    """
    found = _extracted(path)
    pages = [_plain(page) for page in found["pages"]]
    starts = [0]
    for page in pages[:-1]:
        starts.append(starts[-1] + len(page) + len(BETWEEN))
    title = " ".join(_plain(found["title"]).split())
    if title.casefold() in _NO_TITLES or not any(map(str.isalnum, title)):
        title = ""
    text = BETWEEN.join(pages)
    blocks = paragraphs(doc_id, text)
    document = Document(
        id=doc_id,
        title=title or PurePosixPath(doc_id).stem,
        text=text,
        blocks=blocks,
        sections=sections(doc_id, blocks, len(text)),
        pages=tuple(starts),
    )
    if len(without_text(document)) == len(pages):
        raise CorpusError(
            f"{path} holds no text: it has {_count(len(pages))}, scanned or drawn. Run text recognition over it "
            "(such as ocrmypdf) and use what that gives."
        )
    for trouble in troubles(document):
        logger.warning("%s: %s.", path, trouble)
    return document


def troubles(document: Document) -> tuple[str, ...]:
    """What of the document cannot be found, if it is a PDF: sentences with the numbers of the pages, without a full stop."""
    if not document.pages:
        return ()
    found = []
    if empty := without_text(document):
        found.append(told(empty, len(document.pages)))
    if odd := [bisect_right(document.pages, match.start()) for match in _MEANINGLESS.finditer(document.text)]:
        found.append(
            f"letters of which the file does not say what they mean: {len(odd):,}, on {_numbers(sorted(set(odd)))}. Words with "
            "them cannot be found. Run text recognition over it, or save it anew"
        )
    return tuple(found)


def without_text(document: Document) -> tuple[int, ...]:
    """The numbers, from 1, of the pages that hold no text."""
    borders = [*document.pages, len(document.text)]
    return tuple(n for n, (a, b) in enumerate(pairwise(borders), start=1) if not document.text[a:b].strip())


def told(empty: Sequence[int], pages: int) -> str:
    """(2, 3, 4, 7) of 10 as "4 of 10 pages hold no text and cannot be found: pages 2-4, 7"."""
    holds = "holds" if len(empty) == 1 else "hold"
    return f"{len(empty)} of {_count(pages)} {holds} no text and cannot be found: {_numbers(empty)}"


def _numbers(pages: Sequence[int]) -> str:
    """(2, 3, 4, 7) as "pages 2-4, 7"."""
    runs: list[list[int]] = []
    for number in pages:
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return f"page{'s' * (len(pages) > 1)} {', '.join('-'.join(map(str, run)) for run in runs)}"


def _extracted(path: Path) -> dict[str, Any]:
    """What pdftext.py prints of the file. Its process may come to any end without harm to this one."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(1024)
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}).") from error
    if not size:
        raise CorpusError(f"{path} is empty, 0 bytes. Save or download it again.")
    if b"%PDF-" not in start:  # readers look for it in the first 1,024 bytes
        raise CorpusError(f"{path} is no PDF, though it is named like one. Give it the suffix of what it is.")
    if size > MAX_BYTES:
        raise CorpusError(f"{path} has {size:,} bytes; a PDF may have {MAX_BYTES:,}. Split it.")
    limits = map(str, (MAX_PAGES, MAX_CHARACTERS, MEMORY))
    command = [sys.executable, pdftext.__file__, str(path.absolute()), *limits]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)  # noqa: S603 - our own file
    except subprocess.TimeoutExpired as error:
        raise CorpusError(
            f"{path} takes more than {SECONDS:.0f} seconds to read. Split it, or save it anew."
        ) from error
    if done.returncode:
        raise CorpusError(
            f"{path} cannot be read: it asks for more than {MEMORY / 2**30:g} GB of memory, or is damaged so that the "
            "reader stops. Save it anew, or split it."
        )
    found: dict[str, Any] = json.loads(done.stdout)
    if "refused" in found:
        raise CorpusError(f"{path} {found['refused']}")
    return found


def _plain(text: str) -> str:
    """Lines end with LF; NFC; words that were divided at a line's end are whole, ligatures their letters; what is no character
    is U+FFFD."""
    whole = _HYPHEN.sub("", text).replace("\r\n", "\n").replace("\r", "\n").translate(_LIGATURES)
    return nfc(_NO_CHARACTER.sub("\ufffd", whole))


def _count(pages: int) -> str:
    return f"{pages:,} page{'s' * (pages != 1)}"
