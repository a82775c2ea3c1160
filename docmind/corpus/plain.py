"""One plain text to a Document, as it stands. Marks in it mean nothing: no Markdown is read, no heading found."""

from __future__ import annotations

import logging
from pathlib import Path, PurePosixPath

from docmind.corpus.decoding import decoded
from docmind.corpus.paragraphs import paragraphs
from docmind.corpus.sections import sections
from docmind.errors import CorpusError
from docmind.text import nfc
from docmind.types import Document

logger = logging.getLogger(__name__)


def read(path: Path, doc_id: str) -> Document:
    """The text at `path`, with `doc_id` as its id and the file's name as its title. Lines end with LF; NFC. Its blocks
    are paragraphs between blank lines, and all of it is one section.

    A text with nothing in it is a warning. Raises CorpusError where it is too large, no UTF-8, or cannot be read.
    """
    raw = decoded(path)
    if "\0" in raw:
        raise CorpusError(f"{path} is no text: it holds NUL bytes. Give it the suffix of what it is.")
    text = nfc(raw)
    if not text.strip():
        logger.warning("%s:1: the text is blank; there is nothing in it to find.", path)
    blocks = paragraphs(doc_id, text)
    return Document(
        doc_id, PurePosixPath(doc_id).stem, text, blocks=blocks, sections=sections(doc_id, blocks, len(text))
    )
