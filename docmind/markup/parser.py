"""markdown-it-py as DocMind uses it, and a text with its code blanked out. It changes no text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from docmind.markup import rules
from docmind.markup.tags import CLOSING

CODE_BLOCKS = frozenset({"fence", "code_block"})
MASK = "\0"
"""Stands for a character of code in a masked text. A cleaned text never holds it."""


def block_tokens(text: str, *, html: bool) -> tuple[list[Token], dict[str, Any]]:
    """The block tokens of `text`, inline content unparsed, and the link definitions and names that `inline_tokens` wants.

    Without `html` a tag is text and so is a box, as they are in a cleaned page.
    """
    known: dict[str, Any] = {"closed": frozenset(CLOSING.findall(text))} if html else {}
    return _parser(html=html, inline=False).parse(text, known), known


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
    marks = list(re.finditer(r"(?<!\\)(?P<escape>\\*+)(?P<run>`++)|\n[ \t>]*(?=\n|[-*+#|]|\d+[.)])", prose))
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
    rules.add(parser, html=html, inline=inline)
    return parser
