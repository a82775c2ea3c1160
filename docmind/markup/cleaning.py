"""A raw page made readable. It edits the source's lines in place: what there is no reason to change keeps its layout."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest
from typing import Any

from markdown_it.token import Token

from docmind.markup.boxes import unwrapped
from docmind.markup.gaps import APART, LOOSE, filled
from docmind.markup.listing import LISTED, without_listed
from docmind.markup.parser import CODE_BLOCKS, block_tokens, inline_tokens, lines_of, masked
from docmind.markup.shortcodes import ADDRESS, unclosed_shortcodes, without_shortcodes
from docmind.markup.storage import without_storage
from docmind.markup.tags import TAG, html_lines, tag_parted, without_empty_marks
from docmind.text import nfc

ESCAPABLE = frozenset(string.punctuation)
"""What a backslash keeps from being a mark."""

LONG_PARAGRAPH = 100_000
"""Characters. A longer paragraph is data, not prose, and its links and tags are not looked for: that could take minutes."""

MAX_PASSES = 10
"""How often a page is gone over at most, since what a tag hid can be markup itself. Two or three times are usual."""

NUMBER = 9
"""Digits that the number of a list item has at most."""

TOLD = 5
"""How many values and pages that are left out one warning names."""

_CELL_MARKS = "|\t\n\r"
_INLINE_MARKS = "\\`*_[]<>{}"
_PICTURE_SIZE = re.compile(r"\|\d+(?:x\d+)?\Z")
_SHOWN_SHORTCODE = re.compile(r"(\{\{[<%])/\*((?:(?!\*/).)*+)\*/([>%]\}\})")
"""How a page of Hugo writes a shortcode that is shown."""
_LISTED_LINE = re.compile(rf"[ \t>]*{LISTED.pattern}[ \t]*")
_PERMALINK = re.compile(r"""\[[#¶§]?\]\(#[^\s()]*(?:[ \t]+"[^"\n]*")?\)\Z""")
_REPLACED = {ord("\0"): "\ufffd", **dict.fromkeys(map(ord, ("\ufeff", ADDRESS, APART, LOOSE)))}
_UNSEEN = re.compile(r"(?:(?i:\[TOC\])|\([\w.:-]++\)=|\+\+\+(?:[ \t]*\{.*\})?)[ \t]*")
"""A line that no reader sees: where the contents stand, the target of a reference, a break between cells."""
_UNSEEN_PARAGRAPH = re.compile(r"\{::comment\}.*\{:/(?:comment)?\}|[^\n]*\n\{:[ \t]*toc\b[^{}\n]*\}", re.DOTALL)
"""A remark of kramdown, and the item that it puts the contents in place of."""
_TAKEN = re.compile(r"""(?:-{1,}8<-{1,}[ \t]*(?:"([^"\n]*)"|'([^'\n]*)')|<<<[ \t]*(\S+))[ \t]*""")
_TAKEN_SEVERAL = re.compile(r"-+8<-+[ \t]*\n(.*?)(?:\n-+8<-+)?", re.DOTALL)
"""What a page takes from other files, one or several."""
_INCLUDED = re.compile(r"<!--[ \t]*@include:[ \t]*([^\s<>]+?)[ \t]*-->")
_FENCE = re.compile(r"(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>\S.*)")
_LANGUAGE = re.compile(r"\{?[ \t]*\.?(?P<language>[\w+#.-]*)")
_CODE_TITLE = re.compile(r"""(?:title|filename|name)=(?:"([^"\n]*)"|'([^'\n]*)')|[ \t]\[([^\[\]\n]+)\]""")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A cleaned page, and what in it looked unfinished: (line of the raw text, from 1; message)."""

    text: str
    warnings: tuple[tuple[int, str], ...] = ()


def clean(raw: str) -> Cleaned:
    r"""`raw` as it is read: no shortcodes, HTML tags, comments, link targets or images; NFC, LF, no trailing blanks.

    The text between paired tags, the texts of links and images and the addresses of autolinks stay, and so does what a
    shortcode says. HTML tables become pipe tables, `<pre>` a fence, underlined headings `#` ones. Entities and
    backslash escapes are undone where the result reads the same when read again, else written as escapes; `\|` is kept.
    Code (fenced, indented, in backticks) is left as it is, and so are the contents of a paragraph above LONG_PARAGRAPH.

    What ends nowhere (a shortcode, a comment) stays as text, with a warning. Evidence is cleaned by this function too,
    so cleaning twice changes nothing, unless tags hide in tags more than MAX_PASSES deep.
    """
    text = raw.replace("\r\n", "\n").replace("\r", "\n").translate(_REPLACED)
    warnings = list(_unclosed(text))
    told: list[str] = []
    before = None
    for _ in range(MAX_PASSES):
        before, text = text, _pass(text, told)
        if text == before:
            break
    return Cleaned(text, tuple(sorted([*warnings, *left_out(raw, told)])))


def left_out(raw: str, told: Sequence[str]) -> Iterator[tuple[int, str]]:
    """One warning for all that the page takes from elsewhere, `told` by name, at the line of the first in `raw`."""
    names = list(dict.fromkeys(told))
    if names:
        shown = ", ".join(names[:TOLD]) + (f" and {len(names) - TOLD} more" if len(names) > TOLD else "")
        line = raw.count("\n", 0, max(0, raw.find(names[0]))) + 1
        yield line, f"only the site knows what stands here, and it is left out: {shown}"


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


def _pass(text: str, told: list[str]) -> str:
    """One round: boxes, then shortcodes, then block by block. The names of what is left out are added to `told`."""
    text = unwrapped(text, lambda page: block_tokens(page, html=True)[0], told)
    text = _without_odd_blanks(nfc(without_storage(without_shortcodes(text, told))))
    told += _INCLUDED.findall(text)
    lines = text.split("\n")
    tokens, known = block_tokens(text, html=True)
    edited = [[line.rstrip(" \t")] for line in lines]
    as_is: set[int] = set()
    for token, inner in zip_longest(tokens, tokens[1:]):
        if token.type in CODE_BLOCKS:
            first, last = lines_of(token)
            for i in range(first, last):
                edited[i] = [_SHOWN_SHORTCODE.sub(r"\1\2\3", lines[i])]
                as_is.add(i)
            if token.info.strip():
                edited[first] = _fence(lines[first])
            continue
        new = _edit(token, inner.content if inner else "", lines, known)
        if new is not None:
            first, last = lines_of(token)
            edited[first:last] = [new, *([] for _ in range(first + 1, last))]
            if token.type == "html_block":  # may hold a fence now
                as_is.add(first)
    told += known.get("told", ())
    return "\n".join(_without_gaps(edited, as_is)).strip("\n").replace(ADDRESS, "")


def _without_odd_blanks(text: str) -> str:
    """Lines of white space that Markdown takes for text, such as one non-breaking space, made blank."""
    return "\n".join("" if line.isspace() and line.strip(" \t") else line for line in text.split("\n"))


def _fence(line: str) -> list[str]:
    """The line that opens a fence with its language alone; a title becomes words before it."""
    opening = _FENCE.search(line)
    if opening is None:
        return [line]
    info = opening["info"]
    language = _LANGUAGE.match(info)
    found = _CODE_TITLE.search(info)
    start = line[: opening.start()] + opening["fence"]
    plain = start + (language["language"] if language else "")
    if line.endswith(plain[opening.start() :]):
        return [line]
    title = next(filter(None, found.groups()), "") if found else ""
    return _lay(line[: opening.start()], [title, "", plain[opening.start() :]]) if title else [plain]


def _without_gaps(edited: list[list[str]], as_is: set[int]) -> Iterator[str]:
    """The lines, no two blank ones in a row but where they are left as they are."""
    blank = False
    for i, new in enumerate(edited):
        for line in new:
            if line or not blank:
                yield line
            blank = not line and i not in as_is


def _edit(token: Token, content: str, lines: list[str], known: dict[str, Any]) -> list[str] | None:
    """The lines that replace those of a block, None to leave them. `content` is the text of a paragraph or title."""
    if len(content) > LONG_PARAGRAPH:
        return None
    if token.type == "paragraph_open":
        new = _paragraph(content, known)
        return None if new == content else _lay(_prefix(lines[lines_of(token)[0]], content), new.split("\n"))
    if token.type == "heading_open":
        return [_heading(token, content, lines[lines_of(token)[0]], known)]
    if token.type == "tr_open":
        line = lines[lines_of(token)[0]]
        cells = [] if _LISTED_LINE.fullmatch(line) else re.split(r"(?<!\\)\|", line)
        return ["|".join(_cell(cell, known) for cell in cells).rstrip(" \t")]
    if token.type == "html_block":
        first = token.content.strip().split("\n", 1)[0]
        return _lay(_prefix(lines[lines_of(token)[0]], first), html_lines(token.content, known["closed"]))
    return [""] if token.type in ("definition", "hidden") else None


def _heading(token: Token, content: str, line: str, known: dict[str, Any]) -> str:
    prefix = line[: line.index("#")] if token.markup[0] == "#" else _prefix(line, content)
    title = " ".join(_inline(_PERMALINK.sub("", without_listed(content)), known).split())
    # a title that ends in hashes would lose them as closing ones
    title = re.sub(r"(?<!\S)(#+)$", r"\\\1", title)
    return f"{prefix}{'#' * int(token.tag[1])} {title}" if title else ""


def _paragraph(content: str, known: dict[str, Any]) -> str:
    """The text of a paragraph, "" where it is none for readers."""
    taken = _TAKEN.fullmatch(content) or _TAKEN_SEVERAL.fullmatch(content)
    if taken:
        known.setdefault("told", []).extend(next(filter(None, taken.groups())).split())
        return ""
    if _UNSEEN_PARAGRAPH.fullmatch(content):
        return ""
    return _inline("\n".join(line for line in content.split("\n") if not _UNSEEN.fullmatch(line)), known)


def _cell(cell: str, known: dict[str, Any]) -> str:
    """A cell of a table, its padding kept."""
    content = cell.strip()
    if not content or len(content) > LONG_PARAGRAPH:
        return cell
    start = cell.index(content)
    return cell[:start] + " ".join(_inline(content, known).split()) + cell[start + len(content) :]


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


def _inline(content: str, known: dict[str, Any]) -> str:
    """A paragraph's text without tags and links; its escapes and entities undone as far as that makes no markup."""
    closed: frozenset[str] = known["closed"]
    content = without_empty_marks(content)
    tokens = inline_tokens(content, known)
    if not any(token.type == "text_special" for token in tokens):
        return _render(tokens, closed, keep="")
    for keep in (_CELL_MARKS, _CELL_MARKS + _INLINE_MARKS):
        plain = _render(tokens, closed, keep=keep)
        if without_shortcodes(plain) == plain == _render(inline_tokens(plain, known), closed, keep=keep):
            return plain
    return _render(tokens, closed, keep=None)


def _render(tokens: list[Token], closed: frozenset[str], *, keep: str | None) -> str:
    """The text of inline tokens. Escapes and entities of the characters in `keep` stay escaped, all if it is None."""
    tokens = _read_by_people(tokens)
    _join_words(tokens)
    parts: list[str] = []
    line = ""  # its beginning
    for token, following in zip_longest(tokens, tokens[1:]):
        if token.type == "text_special":
            undone = (
                keep is not None
                and token.content not in keep
                and not _begins(line, token.content, following.content[:1] if following else "")
            )
            parts.append(token.content.replace("\ufeff", "") if undone else _escaped(token))
        elif token.type == "image":
            alternative = _PICTURE_SIZE.sub("", _render(token.children or [], closed, keep=keep))
            parts.append(f"{APART}{alternative}{APART}" if alternative else "")
        elif token.type == "html_inline":
            parts.append(tag_parted(token.content, closed))
        elif token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type not in ("link_open", "link_close"):
            parts.append(token.content or token.markup)
        _, line_break, last = parts[-1].rpartition("\n") if parts else ("", "", "")
        line = filled(last if line_break else line + last).lstrip()[: NUMBER + 1]
    return "\n".join(line.strip() for line in filled("".join(parts)).split("\n"))


def _read_by_people(tokens: list[Token]) -> list[Token]:
    """The tokens without scripts and styles, which a line may hold too."""
    tags = {
        i: match
        for i, token in enumerate(tokens)
        if token.type == "html_inline" and (match := TAG.match(token.content))
    }
    kept: list[Token] = []
    until = 0
    closers: dict[str, int] = {}
    ends: dict[int, int] = {}
    for i in reversed(tags):
        name = (tags[i]["name"] or "").lower()
        if name in ("script", "style"):
            if tags[i]["closing"]:
                closers[name] = i
            elif name in closers:
                ends[i] = closers[name] + 1
    for i, token in enumerate(tokens):
        until = max(until, ends.get(i, 0))
        if i >= until:
            kept.append(token)
    return kept


def _begins(line: str, character: str, following: str) -> bool:
    """Whether `character` could make a heading, an item or another block of a line that begins with `line`."""
    if not character.isascii() or character.isspace() or character in "\"'&":
        return False
    if character == "<" and following.strip("=0123456789 ") == "":
        return False
    return not line or (line.isdigit() and len(line) <= NUMBER and character in ".)")


def _escaped(token: Token) -> str:
    """A character kept from being a mark. An entity would be read as words, "lt" and "gt", which stand nowhere."""
    return f"\\{token.content}" if token.content in ESCAPABLE else token.markup


def _join_words(tokens: list[Token]) -> None:
    """Take the marks from emphasis that begins or ends inside a word ("**Urlaubs**tage"), which would be two words else.
    Figures stay apart: who writes 5*3*2 means no emphasis."""
    texts = ["\n" if token.type.endswith("break") else token.content for token in tokens]
    before: list[str] = [*accumulate((text[-1:] for text in texts), _last)]
    after: list[str] = [*accumulate((text[:1] for text in reversed(texts)), _last)][::-1]
    opened: list[int] = []
    for i, token in enumerate(tokens):
        if token.type in ("em_open", "strong_open"):
            opened.append(i)
        elif token.type in ("em_close", "strong_close"):
            pair = (opened.pop(), i)
            sides = [before[j] + after[j] for j in pair]
            if any(len(side) == 2 and side.isalnum() and not side.isdigit() for side in sides):
                for j in pair:
                    tokens[j].markup = ""


def _last(known: str, new: str) -> str:
    return new or known
