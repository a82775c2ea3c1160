"""Confluence's storage format, which some exports pass through, as HTML that is read like any other."""

from __future__ import annotations

import html
import re

from docmind.markup.parser import masked

_CDATA = r"<!\[CDATA\[(?P<{}>(?:(?!<!\[CDATA\[|\]\]>).)*+)\]\]>"
_PART = re.compile(
    rf"""<ac:parameter\b(?P<parameter>[^<>]*+)>(?P<value>[^<>]*+)</ac:parameter>
      | <ac:task-(?:id|status|uuid)>[^<>]*+</ac:task-(?:id|status|uuid)>
      | <ac:plain-text-body>\s*+{_CDATA.format("code")}\s*+</ac:plain-text-body>
      | <ac:plain-text-link-body>\s*+{_CDATA.format("words")}\s*+</ac:plain-text-link-body>
      | <ac:link\b[^<>]*+>\s*+<ri:\w++(?P<target>[^<>/]*+)/>\s*+</ac:link>
      | <ac:image\b(?P<image>[^<>]*+)>
      | <(?P<closing>/?)ac:(?:rich-text-body|task-body|layout-cell)>""",
    re.VERBOSE | re.DOTALL,
)
_NAMED = re.compile(r'\b(?:ac:alt|ri:content-title|ri:filename)="([^"]*+)"')


def without_storage(text: str) -> str:
    """`text` with the parts of macros, links and images that its readers see; the settings of macros go, and so do the ids
    and states of tasks. Code stays as it is."""
    if "<ac:" not in text:
        return text
    parts = []
    done = 0
    for match in _PART.finditer(masked(text)):
        parts.append(text[done : match.start()])
        done = match.end()
        parts.append(_seen(match))
    return "".join([*parts, text[done:]])


def _seen(match: re.Match[str]) -> str:
    if match["parameter"] is not None:
        return match["value"] if re.search(r'\bac:name="title"', match["parameter"]) else ""
    if match["code"] is not None:
        return f"<pre>{html.escape(match['code'])}</pre>"
    if match["words"] is not None:
        return html.escape(match["words"])
    if match["closing"] is not None:
        return f"<{match['closing']}div>"
    named = _NAMED.search(match["target"] or match["image"] or "")
    return named[1] if named else ""
