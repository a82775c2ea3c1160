"""HTML to Markdown, tag by tag. A `<placeholder>` is text; entities are left to the Markdown around them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from markdown_it.common.html_blocks import block_names
from markdown_it.common.html_re import attribute

_INLINE_NAMES = """
    a abbr acronym audio b bdi bdo big br button canvas cite code data datalist del dfn em embed font g i img input ins
    kbd label map mark meter nobr noscript object output path picture pre progress q rp rt ruby s samp script select
    small span strike strong style sub sup svg template textarea time tt u var video wbr
"""
_NAMES = frozenset(_INLINE_NAMES.split()) | frozenset(block_names)
_TAG = re.compile(rf"<(?P<closing>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*){attribute}*\s*/?>|<[!?][^<>]*>")
_ALT = re.compile(r"""\salt\s*=\s*(["'])(.*?)\1""", re.IGNORECASE | re.DOTALL)
_UNREAD = [
    (re.compile(opening, re.IGNORECASE), re.compile(closing, re.IGNORECASE))
    for opening, closing in (
        ("<!--", "-->"),
        (r"<script\b[^<>]*>", r"</script\s*>"),
        (r"<style\b[^<>]*>", r"</style\s*>"),
    )
]
_PREFORMATTED = re.compile(r"<pre\b[^<>]*>", re.IGNORECASE), re.compile(r"</pre\s*>", re.IGNORECASE)


def is_tag_name(name: str) -> bool:
    """Whether HTML has an element of that name, in whatever case."""
    return name.lower() in _NAMES


def tag_text(tag: str) -> str:
    """What stands in the text for one tag or comment.

    A line break for a block, marks for a heading, an item, a cell and what is raised, the alternative text of an
    image, else nothing.
    A tag that HTML does not know stands for itself.
    """
    match = _TAG.fullmatch(tag)
    if match is None or match["name"] is None:
        return ""
    name = match["name"].lower()
    if not is_tag_name(name):
        return tag
    if name == "img":
        alt = _ALT.search(tag)
        return alt[2] if alt else ""
    if re.fullmatch("h[1-6]", name):
        return "\n\n" if match["closing"] else f"\n\n{'#' * int(name[1])} "
    if name in ("li", "td", "th"):
        return "" if match["closing"] else "\n- " if name == "li" else " | "
    # A footnote mark is no further digit of the figure before it, nor is an exponent.
    raised = "^" if name == "sup" and not match["closing"] else ""
    return "\n" if name == "br" or name in block_names else raised


def html_lines(source: str) -> list[str]:
    """A block of HTML as lines of Markdown, not indented. Comments, scripts and styles are left out, `<pre>` is a fence."""
    for opening, closing in _UNREAD:
        source = "".join(before for before, _ in _between(source, opening, closing))
    lines: list[str] = []
    for before, code in _between(source, *_PREFORMATTED):
        prose = "\n".join(" ".join(line.split()) for line in _prose(before).split("\n"))
        lines += re.sub(r"(?<!\n)\n{2,}(?=- )", "\n", prose).split("\n")
        if code:
            lines += ["", *fenced(html.unescape(_TAG.sub("", code))), ""]
    return lines


def fenced(code: str, language: str = "") -> list[str]:
    """The lines of a fence that holds `code`, longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return [fence + language, *code.strip("\n").split("\n"), fence]


def _between(source: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Each text before a pair of `opening` and `closing` with the text inside the pair; what is left, with "", last."""
    done = 0
    while (start := opening.search(source, done)) and (end := closing.search(source, start.end())):
        yield source[done : start.start()], source[start.end() : end.start()]
        done = end.end()
    yield source[done:], ""


def _prose(source: str) -> str:
    """Tags replaced; the rows of a table brought to one line each, with a delimiter row below the first."""
    parts: list[str] = []
    in_table = in_row = after_mark = False
    columns = rows = done = 0

    def end_row() -> None:
        nonlocal columns, rows, in_row
        if in_row and columns:
            parts.append(" |\n" if rows else f" |\n|{'---|' * columns}\n")
            rows += 1
        columns, in_row = 0, False

    for match in _TAG.finditer(source):
        text = source[done : match.start()]
        done = match.end()
        name, opening = (match["name"] or "").lower(), not match["closing"]
        said = tag_text(match[0])
        if after_mark:
            text = text.lstrip()
            said = said if text or not opening else said.lstrip()
        if in_row:
            parts.append(re.sub(r"\s+", " ", text).replace("|", r"\|"))
        else:
            parts.append(text.strip() if in_table else text)
        if name in ("table", "tr"):
            end_row()
            if name == "table":
                in_table, rows = opening, 0
                parts.append("\n\n")
            else:
                in_row = opening
        elif in_row:
            cell = opening and name in ("td", "th")
            parts.append(("| " if not columns else " | ") if cell else re.sub(r"\s+", " ", said))
            columns += cell
        else:
            parts.append(said)
        after_mark = said.endswith(("- ", "# ")) or (after_mark and not text and not said)
    parts.append(source[done:].lstrip() if after_mark else source[done:])
    return "".join(parts)
