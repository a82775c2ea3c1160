"""markdown-it-py as DocMind uses it, and a text with its code blanked out. It changes no text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, html_block, reference
from markdown_it.rules_inline import StateInline, backtick
from markdown_it.token import Token

from docmind.markup.tags import is_tag_name

CODE_BLOCKS = frozenset({"fence", "code_block"})
MASK = "\0"
"""Stands for a character of code in a masked text. A cleaned text never holds it."""

_ENDINGS = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
_TAG_NAME = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)")


def block_tokens(text: str, *, html: bool) -> tuple[list[Token], dict[str, Any]]:
    """The block tokens of `text`, inline content unparsed, and the link definitions that `inline_tokens` wants.

    Without `html` a tag is text, as it is in a cleaned page.
    """
    definitions: dict[str, Any] = {}
    return _parser(html=html, inline=False).parse(text, definitions), definitions


def inline_tokens(content: str, definitions: dict[str, Any]) -> list[Token]:
    """The inline tokens of one paragraph, title or cell. A `code_inline` token holds its source, backticks included."""
    return _parser(html=True, inline=True).parseInline(content, definitions)[0].children or []


def lines_of(token: Token) -> tuple[int, int]:
    """The lines of a block token, from 0, half-open."""
    if token.map is None:
        raise ValueError(f"a {token.type} token has no lines")
    return token.map[0], token.map[1]


def masked(text: str) -> str:
    """`text` with every character of code but line breaks made MASK, and every escape two backslashes: same length."""
    lines = text.split("\n")
    for token in block_tokens(text, html=True)[0]:
        if token.type in CODE_BLOCKS:
            for i in range(*lines_of(token)):
                lines[i] = MASK * len(lines[i])
    prose = "\n".join(lines)
    parts = []
    done = 0
    for start, end in _code_spans(prose):
        parts += [prose[done:start], re.sub(r"[^\n]", MASK, prose[start:end])]
        done = end
    parts.append(prose[done:])
    return re.sub(r"\\[!-/:-@\[-`{-~]", r"\\\\", "".join(parts))


def _code_spans(prose: str) -> Iterator[tuple[int, int]]:
    """Code spans, backticks included: a run of backticks up to the next run of that length in the same block."""
    marks = list(re.finditer(r"(?P<escape>\\*)(?P<run>`+)|\n[ \t>]*(?=\n|[-*+#|]|\d+[.)])", prose))
    closers: dict[int, int] = {}
    partner: list[int | None] = [None] * len(marks)
    for i in reversed(range(len(marks))):
        if marks[i]["run"]:
            length = len(marks[i]["run"])
            partner[i] = closers.get(length)
            closers[length] = i
        else:
            closers.clear()
    i = 0
    while i < len(marks):
        closer = partner[i]
        if closer is None or len(marks[i]["escape"]) % 2:
            i += 1
        else:
            yield marks[i].start("run"), marks[closer].end()
            i = closer + 1


class _Markdown(MarkdownIt):
    """Any address makes a link, `javascript:` and `data:` too, and is left as written: links are dropped, not followed."""

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return link


@cache
def _parser(*, html: bool, inline: bool) -> MarkdownIt:
    parser = _Markdown("commonmark", {"html": html, "inline_definitions": True}).enable("table")
    # text_join would merge escapes and entities into the text around them
    parser.disable(["text_join"] if inline else ["text_join", "inline"])
    parser.inline.ruler.at("backticks", _code_span)
    parser.block.ruler.at("html_block", _html_block, {"alt": ["paragraph", "reference", "blockquote"]})
    parser.block.ruler.at("reference", _definition)
    return parser


def _code_span(state: StateInline, silent: bool) -> bool:
    """The library's rule, which normalises white space; what stood in the source is kept instead."""
    start = state.pos
    found = backtick(state, silent)
    if found and not silent and not state.pending:
        state.tokens[-1].content = state.src[start : state.pos]
    return found


def _html_block(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """The library's rule, but what is never closed would swallow the page, and a `<placeholder>` is no HTML."""
    start = state.bMarks[line] + state.tShift[line]
    for opening, closing in _ENDINGS:
        if state.src.startswith(opening, start):
            if closing not in state.env:  # looked for once a text, not once a line
                state.env[closing] = state.src.rfind(closing)
            return bool(start < state.env[closing]) and html_block(state, line, end, silent)
    name = _TAG_NAME.match(state.src, start)
    return name is not None and is_tag_name(name[1]) and html_block(state, line, end, silent)


def _definition(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """The library's rule, but a footnote is text: `[^1]: word` would be dropped as a link's address."""
    start = state.bMarks[line] + state.tShift[line]
    return not state.src.startswith("[^", start) and reference(state, line, end, silent)
