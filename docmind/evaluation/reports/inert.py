"""Makes text of questions and pages harmless in a place that gives some characters a meaning."""

from __future__ import annotations

import re
from html import escape

from docmind.evaluation.gate.values import cut
from docmind.text import visible

__all__ = ["cut", "html", "markdown", "unlinked"]

ZERO_WIDTH = "\u200b"


def unlinked(text: str) -> str:
    """Text in which GitHub finds nobody and nothing to mention and no address, wherever it stands, escaped or not."""
    broken = re.sub(r"(?<![A-Za-z0-9])@(?=\w)|@(?=[\w-]+\.\w)|#(?=\w)|\b[Gg][Hh]-(?=\d)", rf"\g<0>{ZERO_WIDTH}", text)
    return re.sub(r"(?i)(://|www\.)", lambda found: found[0][:1] + ZERO_WIDTH + found[0][1:], broken)


def markdown(text: str) -> str:
    """Text on one line that cannot break a row, open a tag or a comment, link, or mention anybody or anything."""
    return unlinked(re.sub(r"([\\`*_\[\]|~!])", r"\\\1", _escaped(text)))


def html(text: str) -> str:
    """Text on one line, for an element within Markdown: no Markdown is read there, but mentions are looked for."""
    return unlinked(_escaped(text))


def _escaped(text: str) -> str:
    return " ".join(escape(visible(text), quote=False).split())
