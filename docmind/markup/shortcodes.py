"""Shortcodes of Hugo and Liquid: removed, but for what they say. It knows no Markdown beyond where code stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docmind.markup.parser import MASK, masked
from docmind.markup.tags import fenced

_BODY = rf"(?:(?!\{{\{{|\{{%|\n[ \t]*\n)[^{MASK}])*?"
_SHORTCODE = re.compile(rf"\{{\{{<({_BODY})>\}}\}}|\{{\{{%({_BODY})%\}}\}}|\{{%({_BODY})%\}}|\{{\{{{_BODY}\}}\}}")
_OPENING = re.compile(r"\{\{[<%]?|\{%")
_NAME = re.compile(r"[-\s]*(?P<closing>/|end)?\s*(?P<name>[\w.-]*)")
_ARGUMENT = re.compile(r"""(?:(?P<key>[\w-]+)\s*[=:]\s*)?(?P<quote>["'])(?P<value>.*?)(?P=quote)""", re.DOTALL)
_SAID_BY = ("text", "title", "caption", "summary", "label", "alt")
"""Named arguments that are shown on the page, the most telling first."""
_SAYS_NOTHING = frozenset(
    """assign capture case cycle elsif else for gist if include include_relative instagram layout param ref relref
    render tablerow tweet twitter unless uswds_icon vimeo when youtube""".split()  # noqa: SIM905
)
"""Control flow, embedded media and addresses: their arguments are not for readers."""
_ADDRESS = re.compile(r"\S*[/:#]\S*|.*\.\w{2,5}", re.DOTALL)
_IN_ADDRESS = re.compile(r"""\]\([^\s)]*$|=["'][^"'\s>]*$""")
"""Text before a shortcode that is part of a link's target or of an attribute."""


def without_shortcodes(text: str) -> str:
    """`text` without shortcodes outside code; what stands between paired ones is kept.

    One that says something (`{% page "/leave", "Leave rules" %}`) leaves that. `highlight` leaves a fence, and a
    `comment` nothing, its content included.
    """
    if not _OPENING.search(text):
        return text
    found = list(_SHORTCODE.finditer(masked(text)))
    closer = _pairs(found)
    parts = []
    done = 0
    for i, match in enumerate(found):
        if match.start() < done:
            continue
        before = text[done : match.start()]
        parts.append(before)
        done = match.end()
        end = closer.get(i)
        name, _ = _name(match)
        if end is not None and name == "comment":
            done = end.end()
        elif end is not None and name == "highlight":
            language = text[match.start() : match.end()].split()[2].strip("\"'%}>")
            parts.append("\n".join(["", *fenced(text[match.end() : end.start()], language), ""]))
            done = end.end()
        elif name not in _SAYS_NOTHING and not _IN_ADDRESS.search(before[-200:]):
            parts.append(_said(text[match.start() : match.end()], paired=end is not None))
    parts.append(text[done:])
    return "".join(parts)


def unclosed_shortcodes(text: str) -> Iterator[tuple[int, str]]:
    """Each line, from 1, where a shortcode outside code starts that ends nowhere, and how the first of them is opened."""
    if not _OPENING.search(text):
        return
    rest = _SHORTCODE.sub(lambda match: re.sub(r"[^\n]", MASK, match[0]), masked(text))
    for number, line in enumerate(rest.split("\n"), 1):
        opening = _OPENING.search(line)
        if opening:
            yield number, opening[0]


def _name(match: re.Match[str]) -> tuple[str, bool]:
    """The name of a shortcode, and whether it closes a pair. `{{ value }}` has no name."""
    body = next((body for body in match.groups() if body is not None), "")
    parsed = _NAME.match(body)
    return (parsed["name"], bool(parsed["closing"])) if parsed else ("", False)


def _pairs(found: list[re.Match[str]]) -> dict[int, re.Match[str]]:
    """For each opening shortcode that is closed before the next of its name, its closing one."""
    closers: dict[str, re.Match[str]] = {}
    pairs = {}
    for i in reversed(range(len(found))):
        name, closing = _name(found[i])
        if closing:
            closers[name] = found[i]
        elif name in closers:
            pairs[i] = closers.pop(name)
    return pairs


def _said(shortcode: str, *, paired: bool) -> str:
    """The argument that is for readers, or "": a named one, else the last phrase, else the last word.

    A paired shortcode has its content to say, so a mere word ("warning") is its kind and is left out.
    """
    arguments = [(match["key"], " ".join(match["value"].split())) for match in _ARGUMENT.finditer(shortcode)]
    named = {key: value for key, value in arguments if key}
    if named:
        return next((named[key] for key in _SAID_BY if key in named), "")
    words = [value for _, value in arguments if value and not _ADDRESS.fullmatch(value)]
    phrases = [value for value in words if " " in value or value != value.lower()]
    said = phrases or ([] if paired else words)
    return said[-1] if said else ""
