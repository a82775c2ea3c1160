"""The rules that are added to markdown-it-py's: where HTML is read otherwise, and what Markdown's dialects add to a line.

A rule of the second kind pushes a `said` token, whose content stands in the text for what it matched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, html_block, reference
from markdown_it.rules_inline import StateInline, backtick

from docmind.markup.boxes import box, fenced_box
from docmind.markup.listing import LISTED
from docmind.markup.tags import TAG, is_component, is_tag_name

_ENDINGS = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
_TAG_NAME = re.compile(r"</?([A-Za-z][\w.:-]*)")
_TABLE = re.compile(r"<(/?)table\b", re.IGNORECASE)

_MEDIA = re.compile(r"\.(?:avif|bmp|gif|jpe?g|m4a|mkv|mov|mp[34]|og[gv]|pdf|png|svg|wav|web[mp])\Z", re.IGNORECASE)
_CONTENTS = re.compile(r"_?toc_?", re.IGNORECASE)
_WIKI_LINK = re.compile(r"!?\[\[(?P<target>[^\s\[\]|][^\[\]|\n]*+)(?:\|(?P<shown>[^\[\]\n]*+))?+\]\](?![(\[])")
_BLOCK_ID = re.compile(r"#?\^[\w-]+\Z")
_ROLES = frozenset(
    """abbr any cite code command doc download eq file guilabel index kbd math menuselection numref program ref samp
    sub sup term""".split()  # noqa: SIM905
)
_CODE_ROLES = frozenset(("code", "command", "file", "math", "program", "samp"))
_TARGETED = re.compile(r"\A(.*\S)[ \t]*<[^<>]*>\Z", re.DOTALL)
_ROLE = re.compile(r"\{(?P<name>[a-z]++)\}(?P<ticks>`++)(?P<content>[^`]++)(?P=ticks)(?!`)")


def add(parser: MarkdownIt, *, html: bool, inline: bool) -> None:
    """Put the rules into `parser`: those of lines, or those of blocks. A cleaned page, without `html`, holds no box."""
    if inline:
        parser.inline.ruler.at("backticks", _code_span)
        parser.inline.ruler.before("escape", "said", _said)
        parser.inline.ruler.before("autolink", "component", _component)
        return
    parser.block.ruler.at("reference", _definition)
    if html:
        ends: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote"]}
        parser.block.ruler.at("html_block", _html_block, ends)
        for name, rule in (("fenced_box", fenced_box), ("box", box), ("hidden", _hidden)):
            parser.block.ruler.before("fence", name, rule, ends)


def _code_span(state: StateInline, silent: bool) -> bool:
    """The library's rule, which normalises white space; what stood in the source is kept instead."""
    start = state.pos
    found = backtick(state, silent)
    if found and not silent and not state.pending:
        state.tokens[-1].content = state.src[start : state.pos]
    return found


def _html_block(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """The library's rule, but what is never closed would swallow the page, a `<placeholder>` is no HTML, a component is,
    and a table goes on to its end, whatever blank lines are in it."""
    start = state.bMarks[line] + state.tShift[line]
    if not state.src.startswith("<", start) or state.is_code_block(line):
        return False
    for opening, closing in _ENDINGS:
        if state.src.startswith(opening, start):
            if closing not in state.env:  # looked for once a text, not once a line
                state.env[closing] = state.src.rfind(closing)
            return bool(start < state.env[closing]) and html_block(state, line, end, silent)
    name = _TAG_NAME.match(state.src, start)
    if name is None:
        return False
    if not (is_tag_name(name[1]) and html_block(state, line, end, silent)):
        tag = TAG.match(state.src, start)
        alone = tag is not None and (
            is_component(tag, state.env.get("closed", ())) if not is_tag_name(name[1]) else _ends_line(state, tag.end())
        )
        if not alone or silent:  # such a tag alone cannot end a paragraph
            return False
        last = line + 1
        while last < end and not state.isEmpty(last) and state.sCount[last] >= state.blkIndent:
            last += 1
        _push_html(state, line, last)
    if not silent:
        _complete_table(state, line, end)
    return True


def _ends_line(state: StateBlock, at: int) -> bool:
    return not state.src[at : (state.src.find("\n", at) + 1 or len(state.src) + 1) - 1].strip()


def _push_html(state: StateBlock, line: int, last: int) -> None:
    token = state.push("html_block", "", 0)
    token.map = [line, last]
    token.content = state.getLines(line, last, state.blkIndent, True)
    state.line = last


def _complete_table(state: StateBlock, line: int, end: int) -> None:
    """Let the HTML that was just pushed go on until no table is open in it, where one that is closed is."""
    depth = sum(-1 if match[1] else 1 for match in _TABLE.finditer(state.tokens[-1].content))
    if depth <= 0:
        return
    if "</table" not in state.env:
        state.env["</table"] = state.src.lower().rfind("</table")
    last = state.line
    while last < end and depth > 0 and state.bMarks[last] <= state.env["</table"]:
        if state.sCount[last] < state.blkIndent and not state.isEmpty(last):
            return
        content = state.src[state.bMarks[last] : state.eMarks[last]]
        depth += sum(-1 if match[1] else 1 for match in _TABLE.finditer(content))
        last += 1
    if depth <= 0:
        state.tokens.pop()
        _push_html(state, line, last)


def _hidden(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """A remark between two lines of `%%`, which no reader of a vault sees."""
    if state.is_code_block(line) or _line(state, line) != "%%":
        return False
    if "%%" not in state.env:
        state.env["%%"] = state.src.rfind("\n%%")
    last = line + 1
    while last < end and state.bMarks[last] <= state.env["%%"] + 1:
        if _line(state, last) == "%%":
            if not silent:
                state.push("hidden", "", 0).map = [line, last + 1]
                state.line = last + 1
            return True
        last += 1
    return False


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def _definition(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """The library's rule, but a footnote is text: `[^1]: word` would be dropped as a link's address."""
    start = state.bMarks[line] + state.tShift[line]
    return not state.src.startswith("[^", start) and reference(state, line, end, silent)


def _component(state: StateInline, silent: bool) -> bool:
    """A tag as JSX or Vue write it, or one of a component. Before the library's rules, one of which takes `<ac:link>` for
    an address."""
    if state.src[state.pos] != "<":
        return False
    tag = TAG.match(state.src, state.pos, state.posMax)
    if tag is None or tag["name"] is None:
        return False
    if not is_tag_name(tag["name"]) and not is_component(tag, state.env.get("closed", ())):
        return False
    if not silent:
        state.push("html_inline", "", 0).content = tag[0]
    state.pos = tag.end()
    return True


def _said(state: StateInline, silent: bool) -> bool:
    """What the dialects add to a line, by its first character."""
    for read in _READERS.get(state.src[state.pos], ()):
        found = read(state)
        if found is not None:
            end, content = found
            if not silent:
                state.push("said", "", 0).content = content
            state.pos = end
            return True
    return False


Read = Callable[[StateInline], tuple[int, str] | None]
"""Where what begins at the state's position ends, and what it says; None where it is nothing known."""


def _pattern(pattern: str, says: str, *, behind: str = "") -> Read:
    """Reads what matches `pattern`, which says `says`, where what stands before it, at most two characters, matches `behind`."""
    compiled = re.compile(pattern, re.DOTALL)
    before = re.compile(behind)

    def read(state: StateInline) -> tuple[int, str] | None:
        match = compiled.match(state.src, state.pos, state.posMax)
        if match is None or not before.search(state.src[max(0, state.pos - 2) : state.pos]):
            return None
        return match.end(), match.expand(says)

    return read


def _wiki_link(state: StateInline) -> tuple[int, str] | None:
    match = _WIKI_LINK.match(state.src, state.pos, state.posMax)
    if match is None or re.search(r"\w\Z", state.src[: state.pos][-1:]) or not re.search(r"[^\W\d]", match[0]):
        return None
    target = match["target"].removesuffix("\\").strip()
    shown = (match["shown"] or "").strip()
    if match[0].startswith("!"):
        if not _MEDIA.search(target.partition("#")[0]):
            state.env.setdefault("told", []).append(target)
        return match.end(), ""
    if _CONTENTS.fullmatch(target):
        return match.end(), ""
    if shown and " " in target and " " not in shown and re.search("[-/#.]", shown):  # a wiki has the target last
        shown = target
    return match.end(), shown or " > ".join(part for part in _BLOCK_ID.sub("", target).split("#") if part)


def _role(state: StateInline) -> tuple[int, str] | None:
    match = _ROLE.match(state.src, state.pos, state.posMax)
    if match is None or match["name"] not in _ROLES:
        return None
    content = match["content"].strip()
    if match["name"] in _CODE_ROLES:
        return match.end(), f"{match['ticks']}{match['content']}{match['ticks']}"
    if match["name"] == "sup":
        return match.end(), f"^{content}"
    if match["name"] == "menuselection":
        return match.end(), content.replace("-->", ">")
    named = _TARGETED.match(content)
    return match.end(), named[1] if named else content


def _attributes(state: StateInline) -> tuple[int, str] | None:
    """An attribute list behind a link, a picture, code, emphasis or an icon, or one that is a line of its own."""
    match = LISTED.match(state.src, state.pos, state.posMax)
    if match is None:
        return None
    if not state.pending and state.tokens and state.tokens[-1].type in ("link_close", "image", "code_inline", "said"):
        return match.end(), ""
    before = state.src[state.pos - 1 : state.pos] or "\n"
    alone = before == "\n" and (match.end() == state.posMax or state.src[match.end()] == "\n")
    behind = before in "*_:" and match[0][1:].lstrip()[:1] in (":", ".", "#")
    return (match.end(), "") if alone or behind else None


_READERS: Mapping[str, tuple[Read, ...]] = {
    "$": (
        _pattern(r"\$\$(?:(?!\$\$|`).)++\$\$", r"\g<0>"),  # a formula, which stays as it is
        _pattern(r"\$(?=[^\s$])(?:(?!\]\(|</)[^$`\n])++(?<!\s)\$(?!\w)", r"\g<0>"),
    ),
    "\\": (
        _pattern(
            r"\\[(\[](?=(?:(?!\\[()\[\]])[^\n`])*?(?:\\[A-Za-z]|[_^]\{))(?:(?!\\[()\[\]])[^\n`])++\\[)\]]", r"\g<0>"
        ),
    ),
    "!": (_wiki_link,),
    "[": (
        _pattern(r"\[!\w[\w-]*+(?:\|[^\]\n]*+)?+\][+-]?[ \t]*+", "", behind=r"(?:\A|\n)\Z"),  # a callout
        _wiki_link,
        _pattern(rf"\[([^\[\]\n]*+)\]{LISTED.pattern}", r"\1"),
        _pattern(r"\[(\w[\w -]*+)::[ \t]*+([^\[\]\n]*+)\]", r"\1 \2"),  # a field of Dataview
    ),
    "{": (
        _role,
        _attributes,
        _pattern(
            r"\{(==|\+\+)((?:(?!\1\})[^{\n])++)\1\}", r"\2"
        ),  # what a review marks, adds, takes out, replaces, says
        _pattern(r"\{--(?:(?!--\})[^{\n])++--\}", ""),
        _pattern(r"\{~~(?:(?!~>|~~\})[^{\n])*+~>((?:(?!~~\})[^{\n])*+)~~\}", r"\1"),
        _pattern(r"\{>>(?:(?!<<\})[^{\n])++<<\}", ""),
    ),
    "=": (_pattern(r"==(?=[^\s=])((?:(?!==)[^\n])++)(?<![\s=])==(?![=\w])", r"\1", behind=r"(?<![\w=])\Z"),),
    "+": (_pattern(r"\+\+([a-z0-9]++(?:[+-][a-z0-9]++)*+)\+\+(?![\w+])", r"\1", behind=r"(?<![\w+])\Z"),),
    "~": (
        _pattern(r"~~(?=[^\s~])((?:(?!~~)[^\n])++)(?<!\s)~~(?!~)", r"\1", behind=r"(?<!~)\Z"),
        _pattern(r"~([^\s~]++)~(?!~)", r"\1", behind=r"\w\Z"),
    ),
    "^": (
        _pattern(r"\^\^(?=[^\s^])((?:(?!\^\^)[^\n])++)(?<!\s)\^\^(?!\^)", r"\1", behind=r"(?<!\^)\Z"),
        _pattern(r"\^([^\s^\[\]]++)\^(?![\w^])", r"^\1", behind=r"\w\Z"),
        _pattern(r"\^\[([^\[\]\n]++)\]", r" \1"),  # a footnote in the line
        _pattern(r"\^[A-Za-z][\w-]*+[ \t]*+(?=\n|\Z)", "", behind=r"(?:\A|\s)\Z"),  # the id of a block
    ),
    "%": (_pattern(r"%%(?=[^\s%])(?:(?!%%)[^\n])++%%(?!\w)", "", behind=r"(?:\A|\s)\Z"),),
    "*": (_pattern(r"\*\[([^\[\]\n]++)\]:[ \t]*+", r"\1: ", behind=r"(?:\A|\n)\Z"),),  # an abbreviation
}
