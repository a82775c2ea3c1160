"""Makes text of questions and pages harmless in a place that gives some characters a meaning."""

from __future__ import annotations

import re

from docmind.text import visible

ZERO_WIDTH = "\u200b"


def markdown(text: str) -> str:
    """Text on one line that cannot break a row, open a tag or a comment, link, or mention anybody or anything."""
    inert = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    inert = re.sub(r"([\\`*_\[\]|~!])", r"\\\1", inert)
    # GitHub makes links of these wherever they stand, escaped or not.
    inert = re.sub(r"(?<!\w)@(?=\w)|@(?=[\w-]+\.\w)|#(?=\w)|\bGH-(?=\d)", rf"\g<0>{ZERO_WIDTH}", inert)
    inert = re.sub(r"(://|www\.)", lambda found: found[0][:1] + ZERO_WIDTH + found[0][1:], inert)
    return " ".join(inert.split())


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, a visible ellipsis included."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
