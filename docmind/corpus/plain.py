"""One plain text to a Document, as it stands. Marks in it mean nothing: no Markdown is read, no section found."""

from __future__ import annotations

import logging
import unicodedata
from pathlib import Path

from docmind.errors import CorpusError
from docmind.types import Document

logger = logging.getLogger(__name__)

MAX_BYTES = 10_000_000
"""The size of the largest text that is read."""


def read(path: Path, doc_id: str) -> Document:
    """The text at `path`, with `doc_id` as its id and the file's name as its title. Lines end with LF; NFC.

    A text with nothing in it is a warning. Raises CorpusError where it is too large, no UTF-8, or cannot be read.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise CorpusError(
                f"{path} has {size:,} bytes; a text may have {MAX_BYTES:,}. Split it, or leave it out by a pattern."
            )
        data = path.read_bytes()
    except OSError as error:
        raise CorpusError(
            f"{path} cannot be read ({error.strerror}). Make it readable, or leave it out by a pattern."
        ) from error
    try:
        raw = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CorpusError(
            f"{path}:{line}: byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8. Save the text as UTF-8."
        ) from error
    if "\0" in raw:
        raise CorpusError(f"{path} is no text: it holds NUL bytes. Give it the suffix of what it is.")
    text = unicodedata.normalize("NFC", raw.replace("\r\n", "\n").replace("\r", "\n"))
    if not text.strip():
        logger.warning("%s:1: the text is blank; there is nothing in it to find.", path)
    return Document(doc_id, path.stem, text)
