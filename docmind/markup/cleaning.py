"""A raw page made readable. It edits the source's lines in place: what there is no reason to change keeps its layout."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from markdown_it.token import Token

from docmind.markup.parser import CODE_BLOCKS, block_tokens, inline_tokens, lines_of, masked
from docmind.markup.shortcodes import unclosed_shortcodes, without_shortcodes
from docmind.markup.tags import html_lines, tag_text

LONG_PARAGRAPH = 100_000
"""Characters. A longer paragraph is data, not prose, and its links and tags are not looked for: that could take minutes."""

MAX_PASSES = 10
"""How often a page is gone over at most, since what a tag hid can be markup itself. Two or three times are usual."""

_CELL_MARKS = "|\t\n\r"
_INLINE_MARKS = "\\`*_[]<>{}"
_BLANK_LINE = re.compile(r"^[^\S\n]*[^\S \t\n][^\S\n]*$", re.MULTILINE)
"""A line of white space that Markdown takes for text, such as one non-breaking space."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A cleaned page, and what in it looked unfinished: (line of the raw text, from 1; message)."""

    text: str
    warnings: tuple[tuple[int, str], ...] = ()


def clean(raw: str) -> Cleaned:
    r"""`raw` as it is read: no shortcodes, HTML tags, comments, link targets or images; NFC, LF, no trailing blanks.

    The text between paired tags, the texts of links and images and the addresses of autolinks stay, and so does what a
    shortcode says. HTML tables become pipe tables, `<pre>` a fence, underlined headings `#` ones. Entities and
    backslash escapes are undone where the result reads the same when read again; `\|` is kept. Code (fenced, indented,
    in backticks) is left as it is, and so are the contents of a paragraph above LONG_PARAGRAPH.

    What ends nowhere (a shortcode, a comment) stays as text, with a warning. Evidence is cleaned by this function too,
    so cleaning twice changes nothing, unless tags hide in tags more than MAX_PASSES deep.
    """
    text = raw.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    warnings = tuple(sorted(_unclosed(text)))
    for _ in range(MAX_PASSES):
        before, text = text, _pass(text)
        if text == before:
            break
    return Cleaned(text, warnings)


def _unclosed(text: str) -> Iterator[tuple[int, str]]:
    for line, opening in unclosed_shortcodes(text):
        yield line, f"a shortcode opened by {opening} is never closed; it is kept as text"
    if "<!--" in text:
        prose = masked(text)
        start = prose.find("<!--")
        while start >= 0 and (end := prose.find("-->", start)) >= 0:
            start = prose.find("<!--", end)
        if start >= 0:
            yield prose.count("\n", 0, start) + 1, "a comment opened by <!-- is never closed; it is kept as text"


def _pass(text: str) -> str:
    """One round: shortcodes, then block by block."""
    text = _BLANK_LINE.sub("", unicodedata.normalize("NFC", without_shortcodes(text)))
    lines = text.split("\n")
    tokens, definitions = block_tokens(text, html=True)
    edited = [[line.rstrip(" \t")] for line in lines]
    as_is: set[int] = set()
    for token, inner in zip_longest(tokens, tokens[1:]):
        if token.type in CODE_BLOCKS:
            for i in range(*lines_of(token)):
                edited[i] = [lines[i]]
                as_is.add(i)
            continue
        new = _edit(token, inner.content if inner else "", lines, definitions)
        if new is not None:
            first, last = lines_of(token)
            edited[first:last] = [new, *([] for _ in range(first + 1, last))]
            if token.type == "html_block":  # may hold a fence now
                as_is.add(first)
    return "\n".join(_without_gaps(edited, as_is)).strip("\n")


def _without_gaps(edited: list[list[str]], as_is: set[int]) -> Iterator[str]:
    """The lines, no two blank ones in a row but where they are left as they are."""
    blank = False
    for i, new in enumerate(edited):
        for line in new:
            if line or not blank:
                yield line
            blank = not line and i not in as_is


def _edit(token: Token, content: str, lines: list[str], definitions: dict[str, Any]) -> list[str] | None:
    """The lines that replace those of a block, None to leave them. `content` is the text of a paragraph or title."""
    if len(content) > LONG_PARAGRAPH:
        return None
    if token.type == "paragraph_open":
        new = _inline(content, definitions)
        return None if new == content else _lay(_prefix(lines[lines_of(token)[0]], content), new.split("\n"))
    if token.type == "heading_open":
        line = lines[lines_of(token)[0]]
        prefix = line[: line.index("#")] if token.markup[0] == "#" else _prefix(line, content)
        # a title that ends in hashes would lose them as closing ones
        title = re.sub(r"(?<!\S)(#+)$", r"\\\1", " ".join(_inline(content, definitions).split()))
        return [f"{prefix}{'#' * int(token.tag[1])} {title}"] if title else [""]
    if token.type == "tr_open":
        cells = re.split(r"(?<!\\)\|", lines[lines_of(token)[0]])
        return ["|".join(_cell(cell, definitions) for cell in cells).rstrip(" \t")]
    if token.type == "html_block":
        first = token.content.strip().split("\n", 1)[0]
        return _lay(_prefix(lines[lines_of(token)[0]], first), html_lines(token.content))
    return [""] if token.type == "definition" else None


def _cell(cell: str, definitions: dict[str, Any]) -> str:
    """A cell of a table, its padding kept."""
    content = cell.strip()
    if not content:
        return cell
    start = cell.index(content)
    return cell[:start] + " ".join(_inline(content, definitions).split()) + cell[start + len(content) :]


def _prefix(line: str, content: str) -> str:
    """What stands in a line before the first line of its block's content: indentation, quote marks, a bullet."""
    before, first, _ = line.rpartition(content.split("\n", 1)[0].rstrip())
    return before if first else line  # a first line of odd white space alone is no content


def _lay(prefix: str, new: list[str]) -> list[str]:
    """Lines put where `prefix` stood: under a bullet they are indented by its width, in a quote they are quoted."""
    text = "\n".join(new).strip("\n")
    if not text:
        return [""]
    first, *rest = text.split("\n")
    indent = re.sub(r"[^>\t]", " ", prefix)
    return [prefix + first, *(indent + line if line else indent.rstrip() for line in rest)]


def _inline(content: str, definitions: dict[str, Any]) -> str:
    """A paragraph's text without tags and links; its escapes and entities undone as far as that makes no markup."""
    tokens = inline_tokens(content, definitions)
    if not any(token.type == "text_special" for token in tokens):
        return _render(tokens, keep="")
    for keep in (_CELL_MARKS, _CELL_MARKS + _INLINE_MARKS):
        plain = _render(tokens, keep=keep)
        if without_shortcodes(plain) == plain == _render(inline_tokens(plain, definitions), keep=keep):
            return plain
    return _render(tokens, keep=None)


def _render(tokens: list[Token], *, keep: str | None) -> str:
    """The text of inline tokens. Escapes and entities of the characters in `keep` stay as written, all if it is None."""
    parts: list[str] = []
    begun = False  # an escape that opens a line, or follows a number there, may keep it from being a heading or an item
    for token in tokens:
        if token.type == "text_special":
            undone = keep is not None and token.content not in keep and (begun or token.content.isspace())
            parts.append(token.content if undone else token.markup)
        elif token.type == "image":
            parts.append(_render(token.children or [], keep=keep))
        elif token.type == "html_inline":
            parts.append(tag_text(token.content))
        elif token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type not in ("link_open", "link_close"):
            parts.append(token.content or token.markup)
        _, line_break, line = parts[-1].rpartition("\n") if parts else ("", "", "")
        begun = (begun and not line_break) or not (line.strip() + "0").isdigit()
    return "\n".join(line.strip() for line in "".join(parts).split("\n"))
