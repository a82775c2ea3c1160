"""HTML to Markdown, tag by tag. A `<placeholder>` is text; entities are left to the Markdown around them."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator

from markdown_it.common.html_blocks import block_names

from docmind.markup.gaps import APART, LOOSE, around, filled
from docmind.markup.tables import Tables

_INLINE_NAMES = """
    a abbr acronym audio b bdi bdo big br button canvas cite code data datalist del dfn em embed font g i img input ins
    kbd label map mark meter nobr noscript object output path picture pre progress q rp rt ruby s samp script select
    small span strike strong style sub sup svg template textarea time tt u var video wbr
"""
_NAMES = frozenset(_INLINE_NAMES.split()) | frozenset(block_names)
_CONTROLS = frozenset(
    "audio button canvas input label meter object output progress select svg textarea video".split()  # noqa: SIM905
)
"""Elements of a line that have a border or a place of their own."""
_TABLE_NAMES = frozenset(("table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "td", "th"))

_BRACED = r"\{[^{}]*+\}"
for _ in range(4):  # as deep as braces may nest in an attribute
    _BRACED = rf"\{{(?:[^{{}}]++|{_BRACED})*+\}}"
_ATTRIBUTE = (
    rf"""(?:[A-Za-z_:@#][\w:.@#-]*+(?:\s*+=\s*+(?:[^\s"'=<>`{{}}]++|'[^']*+'|"[^"]*+"|{_BRACED}))?+|{_BRACED})"""
)
_NAME = r"[A-Za-z][\w.-]*+(?::[A-Za-z][\w.-]*+)?+"
TAG = re.compile(
    rf"<(?P<closing>/?)(?P<name>{_NAME})(?P<attributes>(?:\s++{_ATTRIBUTE})*+)\s*+(?P<empty>/?)>|<[!?][^<>]*+>"
)
"""A tag as HTML, JSX or Vue write it, or a comment. `empty` is its own end."""
CLOSING = re.compile(rf"</({_NAME})\s*+>")

SAID_BY = ("text", "title", "caption", "summary", "label", "header", "alt")
"""Named arguments of shortcodes and components that are shown on the page, the most telling first."""
_VALUE = re.compile(r"""\s(?P<name>[\w:.-]++)(?:\s*+=\s*+(?:"(?P<double>[^"]*+)"|'(?P<single>[^']*+)'))?+""")
_UNREAD = [
    (re.compile(opening, re.IGNORECASE), re.compile(closing, re.IGNORECASE))
    for opening, closing in (
        ("<!--", "-->"),
        (r"<script\b[^<>]*>", r"</script\s*>"),
        (r"<style\b[^<>]*>", r"</style\s*>"),
    )
]
_PREFORMATTED = re.compile(r"<pre\b[^<>]*>", re.IGNORECASE), re.compile(r"</pre\s*>", re.IGNORECASE)
_EMPTY_MARK = re.compile(r"<sup\b[^<>]*>\s*</sup\s*>", re.IGNORECASE)


def is_tag_name(name: str) -> bool:
    """Whether HTML has an element of that name, in whatever case."""
    return name.lower() in _NAMES


def is_component(tag: re.Match[str], closed: Collection[str]) -> bool:
    """Whether a match of TAG, of a name that HTML does not know, is a component, and no `<placeholder>`.

    It is where an attribute has a value, where it ends itself, or where its name is among those `closed` in the page.
    """
    return tag["name"] in closed or "=" in tag["attributes"] or bool(tag["empty"])


def tag_text(tag: str, closed: Collection[str] = ()) -> str:
    """What stands in the text for one tag or comment.

    A line break for a block, marks for a heading, an item, a cell and what is raised, the alternative text of an
    image, what a component says, else nothing. A tag that is none stands for itself.
    """
    match = TAG.fullmatch(tag)
    if match is None or match["name"] is None:
        return ""
    name = match["name"].lower()
    if not is_tag_name(name):
        return _said(match) if is_component(match, closed) else tag
    if name == "img":
        return _values(match).get("alt", "")
    if re.fullmatch("h[1-6]", name):
        return "\n\n" if match["closing"] else f"\n\n{'#' * int(name[1])} "
    if name in ("li", "td", "th"):
        return "" if match["closing"] else "\n- " if name == "li" else " | "
    # A footnote mark is no further digit of the figure before it, nor is an exponent.
    raised = "^" if name == "sup" and not (match["closing"] or match["empty"]) else ""
    return "\n" if name == "br" or name in block_names else raised


def tag_parted(tag: str, closed: Collection[str] = ()) -> str:
    """`tag_text` with the gaps that the tag leaves, to be `filled`."""
    said = tag_text(tag, closed)
    match = TAG.fullmatch(tag)
    if match is None or match["name"] is None or said == tag:
        return said
    name = match["name"].lower()
    if is_tag_name(name) and name not in _CONTROLS:
        return f"{APART}{said}{APART}" if name == "img" and said else said
    return f"{APART}{said}{APART}" if said and not match["empty"] else around(said)


def without_empty_marks(text: str) -> str:
    """`text` without what is raised and empty, such as a badge that a style sheet draws."""
    return _EMPTY_MARK.sub("", text)


def html_lines(source: str, closed: Collection[str] = ()) -> list[str]:
    """A block of HTML as lines of Markdown, not indented. Comments, scripts and styles are left out, `<pre>` is a fence."""
    for opening, closing in _UNREAD:
        source = "".join(before for before, _ in _between(source, opening, closing))
    lines: list[str] = []
    tables = Tables()
    for before, code in _between(without_empty_marks(source), *_PREFORMATTED):
        if tables.in_row and lines and not lines[-1]:
            lines.pop()  # the rows go on behind the code
        prose = "\n".join(" ".join(line.split()) for line in _prose(before, tables, closed).split("\n"))
        lines += re.sub(r"(?<!\n)\n{2,}(?=- )", "\n", prose).split("\n")
        plain = html.unescape(TAG.sub("", code)).replace("\ufeff", "")
        if code and tables.in_row:
            tables.add(plain)
        elif code:
            lines += ["", *fenced(plain), ""]
    return [*lines, *tables.end().split("\n")]


def fenced(code: str, language: str = "") -> list[str]:
    """The lines of a fence that holds `code`, longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return [fence + language, *code.strip("\n").split("\n"), fence]


def _values(tag: re.Match[str]) -> dict[str, str]:
    """The values in quotes of a tag's attributes, by their names in lower case; "" of one without."""
    return {
        found["name"].lower(): found["double"] or found["single"] or "" for found in _VALUE.finditer(tag["attributes"])
    }


def _said(tag: re.Match[str]) -> str:
    values = {} if tag["closing"] else _values(tag)
    return " ".join(next((values[name] for name in SAID_BY if values.get(name)), "").split())


def _between(source: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Each text before a pair of `opening` and `closing` with the text inside the pair; what is left, with "", last."""
    done = 0
    while (start := opening.search(source, done)) and (end := closing.search(source, start.end())):
        yield source[done : start.start()], source[start.end() : end.start()]
        done = end.end()
    yield source[done:], ""


def _prose(source: str, tables: Tables, closed: Collection[str]) -> str:
    """Tags replaced; what lies in a row of a table goes to `tables`, and comes back as lines of pipes."""
    parts: list[str] = []
    after_mark = False
    done = 0
    for match in TAG.finditer(source):
        text = source[done : match.start()]
        done = match.end()
        name = (match["name"] or "").lower()
        said, parted = tag_text(match[0], closed), tag_parted(match[0], closed)
        if after_mark:
            text = text.lstrip()
            said = said if text or match["closing"] else said.lstrip()
        if tables.in_row:
            tables.add(text)
        else:
            parts.append(text.strip() if tables.open else text)
        if name in _TABLE_NAMES:
            said = tables.tag(name, _values(match), closing=bool(match["closing"]))
        elif tables.in_row:
            tables.add(parted)
            said = ""
        elif said and not is_tag_name(name) and match["attributes"] and not match["empty"]:
            said = f"\n\n{said}\n\n"  # a tab's label, a card's title
        parts.append(parted if parted.strip(APART + LOOSE) == said else said)
        after_mark = said.endswith(("- ", "# ")) or (after_mark and not text and not said)
    rest = source[done:]
    if tables.in_row:
        tables.add(rest)
    else:
        parts.append(rest.lstrip() if after_mark else rest)
    return filled("".join(parts))
