"""Makes text of questions and pages harmless in a place that gives some characters a meaning."""

from __future__ import annotations

import re

ZERO_WIDTH = "\u200b"

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def markdown(text: str) -> str:
    """Text on one line that cannot break a row, open a tag or a comment, link, or mention anybody or anything."""
    inert = plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    inert = re.sub(r"([\\`*_\[\]|~!])", r"\\\1", inert)
    # GitHub makes links of these wherever they stand, escaped or not.
    inert = re.sub(r"(?<!\w)@(?=\w)|@(?=[\w-]+\.\w)|#(?=\w)|\bGH-(?=\d)", rf"\g<0>{ZERO_WIDTH}", inert)
    inert = re.sub(r"(://|www\.)", lambda found: found[0][:1] + ZERO_WIDTH + found[0][1:], inert)
    return " ".join(inert.split())


def plain(text: str) -> str:
    """Text without the characters that XML and terminals refuse; each becomes U+FFFD."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, a visible ellipsis included."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
