"""One Markdown page to a Document: front matter, cleaning, blocks, sections. It walks no folders."""

from __future__ import annotations

import json
import logging
import re
import reprlib
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from frontmatter.default_handlers import YAMLHandler

from docmind.corpus.decoding import decoded
from docmind.corpus.jsx import without_jsx
from docmind.corpus.sections import sections
from docmind.errors import CorpusError
from docmind.markup import blocks, clean, left_out
from docmind.text import nfc
from docmind.types import Document
from docmind.yamlfile import NotYamlError, values

logger = logging.getLogger(__name__)

_KEY = re.compile(r"""["']?\w[\w .-]*+["']?[ \t]*+:(?:[ \t]|$)""")

_TOML = re.compile(r"\+\+\+[ \t]*\r?\n(.*?)(?:(?<=\n)|\r?\n)\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TOML_KEY = re.compile(r"""["']?[\w.-]+["']?[ \t]*=|\[""")
_LINE_END = re.compile(r"[ \t]*(?:\r?\n|\Z)")


def read(path: Path, doc_id: str) -> Document:
    """The page at `path`, with `doc_id` as its id.

    Its title is the front matter's, else the first heading, else the file's name; its url the front matter's, else
    None; `meta` is the rest of the front matter: text as it is written there, None, and mappings and lists of those. The
    JSX of a page in MDX is left out. What looks unfinished in the page, and a page without text, is a warning with file
    and line. Raises CorpusError where the page is too large, no UTF-8, cannot be read, or has front matter that is no
    YAML or TOML, or names a key twice.
    """
    raw = decoded(path)
    front, body, skipped = _front_matter(path, raw)
    told: list[str] = []
    cleaned = clean(without_jsx(body, told) if path.suffix.lower() == ".mdx" else body)
    for line, message in (*left_out(body, told), *cleaned.warnings):
        logger.warning("%s:%d: %s.", path, skipped + line, message)
    if not cleaned.text:
        logger.warning("%s:%d: the page holds no text; there is nothing in it to find.", path, skipped + 1)
    title, url = (value if isinstance(value := front.get(key), str) else "" for key in ("title", "url"))
    meta = {key: value for key, value in front.items() if key not in ("title", "url")}
    return document(doc_id, cleaned.text, title=" ".join(title.split()), url=url or None, meta=meta)


def document(
    doc_id: str, text: str, *, title: str = "", url: str | None = None, meta: Mapping[str, Any] | None = None
) -> Document:
    """The Document of `text`, Markdown that is cleaned already (`markup.clean`). Without a `title` it is named by its first
    heading, else by the last part of its id, without suffix."""
    found = blocks(doc_id, text)
    return Document(
        id=doc_id,
        title=title or next((block.title for block in found if block.title), PurePosixPath(doc_id).stem),
        text=text,
        url=url,
        blocks=found,
        sections=sections(doc_id, found, len(text)),
        meta=meta or {},
    )


def _front_matter(path: Path, raw: str) -> tuple[Mapping[str, Any], str, int]:
    """The front matter, the page below it, and how many lines were taken from the page's beginning: YAML between ---, or
    as Hugo has it TOML between +++ or an object of JSON."""
    if raw.startswith("+++"):
        found = _toml(path, raw)
    elif raw.startswith("{"):
        found = _json(path, raw)
    else:
        return _yaml(path, raw)
    if found is None:
        return {}, raw, 0
    front, end = found
    return front, raw[end:], raw.count("\n", 0, end)


def _toml(path: Path, raw: str) -> tuple[dict[str, Any], int] | None:
    """TOML's front matter and where the page begins below it; None where there is none. Line breaks may be of any kind."""
    block = _TOML.match(raw)
    if block is None:
        return None
    try:
        return _written(tomllib.loads(block[1].replace("\r\n", "\n"), parse_float=str)), block.end()
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is an error of Python's own
        if not _TOML_KEY.match(block[1].lstrip()):
            return None
        raise CorpusError(
            f"{path}:1: the front matter is no TOML ({error}). Mend it; text as a value needs quotes."
        ) from error


def _json(path: Path, raw: str) -> tuple[dict[str, Any], int] | None:
    """JSON's front matter and where the page begins below it; None where the page begins otherwise, or is that object."""
    repeated: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        repeated.extend(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        return dict(pairs)

    reader = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=once)
    try:
        found, end = reader.raw_decode(raw)
        front = _written(found)
    except (ValueError, RecursionError):
        return None
    line_end = _LINE_END.match(raw, end)
    if not (line_end and front and raw[end:].strip()):
        return None
    if repeated:  # one of its values would be lost
        raise CorpusError(
            f"{path}:1: the key {reprlib.repr(repeated[0])} stands twice in the front matter. Leave one of them."
        )
    return front, line_end.end()


def _written(value: Any) -> Any:
    """What TOML or JSON says, as text, mappings and lists of those, None; composed as all text is."""
    if isinstance(value, dict):
        return {_plain(key): _written(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_written(inner) for inner in value]
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else _plain(value)


def _plain(value: object) -> str:
    """JSON writes what lies beyond U+FFFF as two escapes, and one alone is no character."""
    return nfc(str(value).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


def _yaml(path: Path, raw: str) -> tuple[Mapping[str, Any], str, int]:
    """A page may as well begin with a horizontal rule. As in Pandoc, a rule is followed by a blank line; and what is no
    mapping is no front matter: the page is left whole then.
    """
    handler = YAMLHandler()
    opening, _, below = raw.partition("\n")
    whole: tuple[Mapping[str, Any], str, int] = {}, raw, 0
    if not handler.detect(opening) or not below.split("\n", 1)[0].strip():
        return whole
    first = next((line for line in below.split("\n") if line.strip() and not line.startswith("#")), "")
    meant = bool(_KEY.match(first))
    try:
        block, body = handler.split(raw)
    except ValueError:
        if meant:
            logger.warning("%s:1: front matter is opened by --- and never closed; it is kept as text.", path)
        return whole
    try:
        front = values(block) if block.strip() else {}
    except NotYamlError as error:
        if not meant:
            return whole
        raise CorpusError(
            f"{path}:{error.line}: the front matter is no YAML ({error}). Mend it; a value with a colon needs quotes."
        ) from error
    if not isinstance(front, dict):
        return whole
    return front, body, raw[: len(raw) - len(body)].count("\n")
