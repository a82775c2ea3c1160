"""Boxes, tabs and directives of Markdown's dialects: what is in them is Markdown, though it is indented or fenced.

`!!! note "Title"`, `??? note`, `=== "Tab"`, a footnote or meaning of several paragraphs (all with a body indented by four),
`:::note[Title]` to `:::`, `/// note | Title` to `///`, and MyST's directives between fences of backticks or colons.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from docmind.markup.directives import Directive, rewritten
from docmind.markup.listing import attributes, without_attributes

_ANY = re.compile(r"^[ \t>*+\d.)-]*(?:[!?]{3}|===|:|/{3}|\[\^|[`~]{3,}[ \t]*\{)", re.MULTILINE)
_INDENTED = re.compile(
    r"""(?:!!!|\?\?\?\+?)[ ]?[\w-]++(?:[ ]++[\w-]++)*+(?:[ ]++"(?P<title>[^"\n]*+)")?+[ ]*+\Z
      | ===[!+]?[ ]+"(?P<tab>[^"\n]*+)"[ ]*+\Z
      | (?P<kept>:[ ]{1,3}\S|\[\^[^\]\n]++\]:)""",
    re.VERBOSE,
)
_OPENING = re.compile(
    r"""(?P<marks>:{3,}|/{3,})[ \t]*+
        (?:\{(?P<directive>[A-Za-z][\w:-]*+)\}(?P<argument>.*) | (?P<name>[A-Za-z][\w-]*+)(?P<rest>.*) | \{[^{}]*+\}[ \t]*+)\Z""",
    re.VERBOSE,
)
_CLOSING = re.compile(r"(?::{3,}|/{3,})[ \t]*\Z")
_MARKS = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<marks>:{3,}|/{3,}|`{3,}|~{3,})(?P<rest>.*)")
_FENCED = re.compile(r"(?P<fence>`{3,}|~{3,})[ \t]*\{(?P<directive>[A-Za-z][\w:-]*+)\}(?P<argument>[^`]*)\Z")
_SETTING = re.compile(r"[ \t]{4,}[\w-]+:.*\Z")


def unwrapped(text: str, parse: Callable[[str], Sequence[Token]], told: list[str]) -> str:
    """`text` with each box replaced by its title, as words of their own, and its body, no longer indented.

    `parse` gives the block tokens of a text, by a parser that has the rules `box` and `fenced_box`. What a directive takes
    from another file is added to `told`.
    """
    if not _ANY.search(text):
        return text
    boxes = [token for token in parse(text) if token.type == "box_open"]
    if not boxes:
        return text
    lines: list[list[str]] = [[line] for line in text.split("\n")]
    strips: dict[int, list[tuple[int, int]]] = {}
    for box in boxes:
        told += box.meta["told"]
        for i, at, columns in box.meta["strips"]:
            strips.setdefault(i, []).append((at, columns))
        for i, (prefix, new) in box.meta["lines"].items():
            blank = re.sub(r"[^>\t]", " ", prefix)
            leads = [prefix if any(new) or prefix.strip() else "", *[blank] * len(new)]
            lines[i] = [f"{lead}{line}".rstrip(" ") for lead, line in zip(leads, new, strict=False)]
    for i, found in strips.items():
        for at, columns in sorted(found, reverse=True):
            lines[i] = [_stripped(line, at, columns) for line in lines[i]]
    return "\n".join(line for new in lines for line in new)


def box(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """A box with an indented body, or one between marks."""
    if state.is_code_block(line):
        return False
    text = _text(state, line)
    if text[:3] in (":::", "///"):
        opening, last = _OPENING.match(text), _partners(state).get(line, -1)
        return opening is not None and line < last < end and (silent or _marked_box(state, line, last, opening))
    match = _INDENTED.match(text) if text[:1] in "!?=[:" else None
    return match is not None and _indented_box(state, line, end, match, silent)


def fenced_box(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """A directive of MyST between fences. One whose name is not known is a fence."""
    if state.is_code_block(line):
        return False
    opening = _FENCED.match(_text(state, line))
    if opening is None or not Directive.is_known(opening["directive"]):
        return False
    fence = opening["fence"]
    for last in range(line + 1, end):
        if state.sCount[last] < state.blkIndent and not state.isEmpty(last):
            return False
        closing = _text(state, last).rstrip()
        if len(closing) >= len(fence) and not closing.strip(fence[0]) and not state.is_code_block(last):
            return silent or _directive(state, line, last, fence, (opening["directive"], opening["argument"]))
    return False


def _marked_box(state: StateBlock, line: int, last: int, opening: re.Match[str]) -> bool:
    if opening["directive"]:
        return _directive(state, line, last, "```", (opening["directive"], opening["argument"]))
    rest = (opening["rest"] or "").strip().removeprefix("|").strip()
    title = re.sub(r"\A\[(.*)\]\Z", r"\1", without_attributes(rest).strip()) or attributes(rest).get("title", "")
    first = line + 1
    while opening["marks"][0] == "/" and first < last and _SETTING.match(_whole(state, first)):
        first += 1
    _push(state, (line, first, last, last + 1), title)
    return True


def _indented_box(state: StateBlock, line: int, end: int, match: re.Match[str], silent: bool) -> bool:
    indent = state.sCount[line] + 4
    last = n = line + 1
    while n < end and (state.isEmpty(n) or state.sCount[n] >= indent):
        last = last if state.isEmpty(n) else n + 1
        n += 1
    if last == line + 1:
        return False
    if not silent:
        title = match["title"] or match["tab"] or ""
        kept = _text(state, line) if match["kept"] else None
        _push(state, (line, line + 1, last, last), title, kept=kept, indent=indent)
    return True


def _directive(state: StateBlock, line: int, last: int, fence: str, opening: tuple[str, str]) -> bool:
    name, argument = opening
    directive = Directive(name, argument.strip(), [_whole(state, n) for n in range(line + 1, last)])
    first = line + 1 + directive.skipped
    token = _push(state, (line, first, last, last + 1), "", parse=directive.is_prose)
    token.meta["told"] += directive.told
    new = rewritten(directive, fence)
    prefix = token.meta["lines"][line][0]
    token.meta["lines"][line] = (prefix, new.before)
    token.meta["lines"][last] = (_prefix(state, last), new.after)
    if not directive.is_prose and not new.keeps_body:
        token.meta["lines"].update({n: ("", []) for n in range(first, last)})
    return True


def _push(
    state: StateBlock,
    lines: tuple[int, int, int, int],
    title: str,
    *,
    kept: str | None = None,
    indent: int | None = None,
    parse: bool = True,
) -> Token:
    """A box of the `lines` (opening, first and end of its body, end), its body parsed as blocks or, else, as code."""
    line, first, last, end = lines
    filled = [n for n in range(first, last) if not state.isEmpty(n)]
    if indent is None:
        base = state.sCount[line]
        least = min((state.sCount[n] for n in filled), default=base)
        indent = least if parse and least >= base + 4 else base
    token = state.push("box_open", "", 1)
    token.map = [line, end]
    columns = indent - state.sCount[line]
    changed = {n: ("", [""] if n == last else []) for n in (*range(line + 1, first), *range(last, end))}
    changed[line] = (_prefix(state, line), [kept] if kept is not None else ["", title, ""] if title else [""])
    token.meta = {
        "told": [],
        "lines": changed,
        "strips": [(n, state.bMarks[n] - _start(state, n), columns) for n in filled if columns],
    }
    if last == end and filled:  # what follows an indented body is no part of its last paragraph
        token.meta["lines"][last - 1] = ("", [_whole(state, last - 1), ""])
    if parse:
        state.blkIndent, blk_indent = indent, state.blkIndent
        state.lineMax, line_max = last, state.lineMax
        state.md.block.tokenize(state, first, last)
        state.blkIndent, state.lineMax = blk_indent, line_max
    elif filled:
        state.push("fence", "code", 0).map = [first, last]
    state.push("box_close", "", -1)
    state.line = end
    return token


def _partners(state: StateBlock) -> dict[int, int]:
    """By the line of each opening mark the line of its closing one, found once a text."""
    found: dict[int, int] | None = state.env.get("box partners")
    if found is None:
        found = state.env["box partners"] = dict(_paired(state.src.split("\n")))
    return found


def _paired(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    waiting: list[int] = []
    fence = ""
    for n, line in enumerate(lines):
        match = _MARKS.match(line)
        if match is None:
            continue
        marks, rest = match["marks"], match["rest"].strip()
        if marks[0] in "`~":
            if not fence:
                fence = marks if not rest.startswith("{") or not Directive.is_known(rest[1:].partition("}")[0]) else ""
            elif marks.startswith(fence) and not rest:
                fence = ""
        elif not fence and rest:
            waiting.append(n)
        elif not fence and waiting:
            yield waiting.pop(), n


def _start(state: StateBlock, line: int) -> int:
    return state.src.rfind("\n", 0, state.bMarks[line]) + 1


def _text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _whole(state: StateBlock, line: int) -> str:
    return state.src[_start(state, line) : state.eMarks[line]]


def _prefix(state: StateBlock, line: int) -> str:
    return state.src[_start(state, line) : state.bMarks[line] + state.tShift[line]]


def _stripped(line: str, at: int, columns: int) -> str:
    """`line` without blanks that fill `columns` from character `at` on."""
    end = at
    while columns > 0 and line[end : end + 1] in (" ", "\t") and end < len(line):
        columns -= 1 if line[end] == " " else 4
        end += 1
    return line[:at] + line[end:]
