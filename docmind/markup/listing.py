"""Attribute lists in braces, as kramdown, Python-Markdown, Hugo and MyST write them: `{#id .class key="value"}`."""

from __future__ import annotations

import re

_PAIR = r"""[A-Za-z_][\w:-]*+=(?:"[^"\n]*+"|'[^'\n]*+'|[^\s"'{}=]++)"""
_ITEM = rf"""(?:\#{{1,2}}[^\s{{}}"'=]++|\.[A-Za-z_-][^\s{{}}"'=]*+|{_PAIR})"""
LISTED = re.compile(
    rf"""\{{(?::[ \t]*+(?:{_ITEM}|[\w-]++)?|[ \t]*+{_ITEM})(?:[ \t]++(?:{_ITEM}|[\w-]++))*+[ \t]*+\}}"""
)
"""A list that has an id, a class or a pair, or begins with a colon. A word alone in braces is text."""
_ENDING = re.compile(rf"[ \t]*+(?:{LISTED.pattern}|\{{/\*[ \t]*+#[^*{{}}]*+\*/\}})[ \t]*+\Z")
_VALUE = re.compile(r"""([\w:-]++)=(?:"([^"\n]*+)"|'([^'\n]*+)'|([^\s"'{}=]++))""")


def without_listed(title: str) -> str:
    """A heading without the attribute list at its end."""
    at = title.rfind("{")
    start = len(title[:at].rstrip(" \t"))
    return title[:start] if at >= 0 and _ENDING.match(title, start) else title


def without_attributes(text: str) -> str:
    """`text` without whatever stands in braces at its end."""
    at = text.rfind("{")
    return text[:at] if at >= 0 and text.endswith("}") else text


def attributes(text: str) -> dict[str, str]:
    """The pairs in `text`, by key."""
    return {key: double or single or bare for key, double, single, bare in _VALUE.findall(text)}
