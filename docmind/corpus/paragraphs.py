"""The blocks of a text that has no marks: its paragraphs. It reads no files."""

from __future__ import annotations

import re

from docmind.types import Block, Span

_PARAGRAPH = re.compile(r"^[^\S\n]*\S.*(?:\n[^\S\n]*\S.*)*", re.MULTILINE)
"""Lines that are not blank, as many as follow each other."""


def paragraphs(doc_id: str, text: str) -> tuple[Block, ...]:
    """The blocks of `text`: a paragraph from blank line to blank line, whatever its characters are."""
    return tuple(Block("paragraph", Span(doc_id, *match.span())) for match in _PARAGRAPH.finditer(text))
