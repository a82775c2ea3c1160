"""A Markdown page as a document: front matter taken off, the rest cleaned. How it is cleaned stands in docmind.markup."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import frontmatter
import yaml

from docmind.corpus.sections import sections
from docmind.errors import CorpusError
from docmind.markup import clean
from docmind.types import Document

log = logging.getLogger(__name__)

MAX_BYTES = 10_000_000
"""A larger page is data, not something that people read."""

_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_KEY = re.compile(r"[A-Za-z_][\w-]*:(\s|$)")


def read(path: Path, doc_id: str) -> Document:
    """The document in `path`, called `doc_id`.

    Its title is that of the front matter, else its first heading, else the name of the file; `url` and the other keys
    of the front matter are kept as they are. Unfinished shortcodes, comments and front matter, and a page with nothing
    to read, are warned of. Raises CorpusError for a page over MAX_BYTES, not UTF-8, or whose front matter is no YAML.
    """
    raw = _decoded(path)
    meta, body, line = _split(path, raw)
    cleaned = clean(body)
    for number, message in cleaned.warnings:
        log.warning("%s:%d: %s", path, line + number - 1, message)
    if not cleaned.text:
        log.warning("%s:%d: the page holds nothing to read; it is kept, and never found", path, line)
    tree = sections(doc_id, cleaned.text)
    heading = next((section.title for section in tree if section.title), None)
    title, url = meta.pop("title", None), meta.pop("url", None)
    return Document(
        id=doc_id,
        title=str(title or heading or path.stem),
        text=cleaned.text,
        url=None if url is None else str(url),
        sections=tree,
        meta=meta,
    )


def _decoded(path: Path) -> str:
    try:
        if (size := path.stat().st_size) > MAX_BYTES:
            raise CorpusError(
                f"{path}: has {size:,} bytes; a page has {MAX_BYTES:,} at most. Split it, or leave it out with --exclude."
            )
        data = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read: {error.strerror}. Make it readable, or --exclude it.") from error
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CorpusError(
            f"{path}:{line}: byte {error.start} ({data[error.start]:#04x}) is not UTF-8. Save the page as UTF-8."
        ) from error


def _split(path: Path, raw: str) -> tuple[dict[str, Any], str, int]:
    """Front matter, the rest, and the line on which the rest begins.

    Only a YAML mapping is front matter. A rule that opens a page is a rule, and all that follows it is text.
    """
    fences = list(_FENCE.finditer(raw))
    if not fences or raw[: fences[0].start()].strip():
        return {}, raw, 1
    opening = fences[0].end()
    looks_meant = bool(_KEY.match(raw, opening + 1))
    if len(fences) == 1:
        if looks_meant:
            log.warning("%s:1: front matter opened by --- is never closed; it is kept as text", path)
        return {}, raw, 1
    held = raw[opening : fences[1].start()]
    try:
        meta, _ = frontmatter.parse(raw)
        is_mapping = isinstance(yaml.safe_load(held), dict)
    except yaml.YAMLError as error:
        if not looks_meant:
            return {}, raw, 1
        place = getattr(error, "problem_mark", None)
        line = raw.count("\n", 0, opening) + 1 + (place.line if place else 0)
        raise CorpusError(
            f"{path}:{line}: the front matter is no YAML ({getattr(error, 'problem', None) or error}). Mend it; a value "
            f"that holds a colon needs quotes."
        ) from error
    if not is_mapping:
        return {}, raw, 1
    return dict(meta), raw[fences[1].end() :], raw.count("\n", 0, fences[1].end()) + 1
