"""Shortcodes of Hugo and Liquid: removed, but for what they say. It knows no Markdown beyond where code stands.

Braces alone are no shortcode: a formula, a set or a field of a letter is text, and so is a tag whose form is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from docmind.markup.gaps import APART, LOOSE, around, filled
from docmind.markup.parser import masked
from docmind.markup.tags import SAID_BY, fenced

ADDRESS = "\ufdd0"
"""Stands where a shortcode was in the target of a link or in an attribute, so that it still reads as one. Never in a text."""

_BODY = r"(?:(?!\{\{|\{%|\n[ \t]*\n).)*?"
_DELIMITED = re.compile(rf"\{{\{{<{_BODY}>\}}\}}|\{{\{{%{_BODY}%\}}\}}|\{{%{_BODY}%\}}|\{{\{{{_BODY}\}}\}}", re.DOTALL)
_OPENING = re.compile(r"\{\{[<%]|\{%[-+]?\s*[A-Za-z]")
_ANY = re.compile(r"\{[{%]")
_NAME = re.compile(r"(?P<closing>/\s*|end(?=\w))?(?P<name>[A-Za-z_][\w./-]*)(?=[\s,]|$)")
_ARGUMENT = re.compile(
    r"""(?P<key>[\w-]++)\s*+[=:]\s*+[^\s"'`,=:][^\s"'`,]*+
      | (?:(?P<named>[\w-]++)\s*+[=:]\s*+)?+
        (?:"(?P<double>(?:[^"\\]|\\.)*+)" | '(?P<single>(?:[^'\\]|\\.)*+)' | `(?P<raw>[^`]*+)`)
      | [\w-]++""",
    re.VERBOSE | re.DOTALL,
)
_TABLE_OF_CONTENTS = re.compile(r">?\s*toc", re.IGNORECASE)
_VALUE = re.compile(
    r"""(?:"[^"]*"|'[^']*'|\$?(?:base|book|collections|config|content|data|eleventy|env|frontmatter|git|include|jekyll
        |layout|metadata|page|params|pkg|project|site|space|theme)(?:\.[\w-]+|\[[^\]]*\])+)
        (?P<filters>(?:\s*\|\s*\w+[^|]*+)*+)""",
    re.VERBOSE,
)
"""What a site fills in: a path below one of the names that generators know, or a literal, which only a filter changes."""

_KNOWN = frozenset(
    """assign break capture case comment continue cycle decrement echo else elsif extends figure for gist highlight if import
    include include_cached include_relative increment instagram layout link macro param post_url raw ref relref render set
    tablerow toc tweet twitter unless vimeo when with youtube""".split()  # noqa: SIM905
)
"""Tags of Liquid and Jinja that are known whatever follows. Others are known by arguments in quotes, or by their end."""
_SAYS_NOTHING = frozenset(
    """assign capture case cycle elsif else embed file for gist if include include_cached include_relative instagram layout
    link param post_url readfile ref relref render set tablerow tweet twitter unless uswds_icon vimeo when
    youtube""".split()  # noqa: SIM905
)
"""Control flow, embedded media and addresses: their arguments are not for readers."""
_ELSE = frozenset(("else", "elsif", "elif", "when"))
"""What stands before these and what stands behind are never shown together."""
_FILLED_IN = frozenset(("include", "include_cached", "include_relative", "param", "readfile"))
"""These stand for what is not in the page."""
_EXPRESSION = re.compile(r"""<code class="expr">([^<>\n`]*+)</code>""")
"""A variable of GitBook."""
_FILE_ENDING = re.compile(r"\.\w{2,5}\Z")
_LINK_TARGET = re.compile(r"[ \t>]*\[[^\]]+\]:\s*\S*")


@dataclass(frozen=True, slots=True)
class _Shortcode:
    start: int
    end: int
    source: str
    name: str
    """Without slash or "end"; "" for a value."""
    closing: bool
    sure: bool
    """Whether its form alone says that it is one; else it has to have an end, or be one."""


def without_shortcodes(text: str, told: list[str] | None = None) -> str:
    """`text` without shortcodes outside code; what stands between paired ones is kept.

    One that says something (`{% page "/leave", "Leave rules" %}`) leaves that. `highlight` leaves a fence, `raw` what is in
    it, and a `comment` nothing, its content included. What the site alone knows (`{{ site.email }}`, an included page) goes,
    and its name is added to `told`.
    """
    text = _without_variables(text, told)
    if not _ANY.search(text):
        return text
    found = list(_shortcodes(text))
    closers = _pairs(found)
    ends = {closer.start for closer in closers.values()}
    parts: list[str] = []
    done = raw_until = 0
    in_address = False
    for i, code in enumerate(found):
        if code.start < done:
            continue
        before = text[done : code.start]
        parts.append(before)
        done = code.end
        in_address = _ends_in_address(before, in_address)
        end = closers.get(i)
        if code.start < raw_until:
            parts.append("\\" * code.sure + code.source)
        elif in_address:
            parts.append(ADDRESS)
        elif not code.sure and end is None and code.start not in ends:
            parts.append(code.source)
        elif end is not None and code.name in ("comment", "highlight"):
            if code.name == "highlight":
                parts.append("\n".join(["", *fenced(text[code.end : end.start], _language(code.source)), ""]))
            done = end.end
        elif end is not None and code.name == "raw":
            raw_until = end.start
        else:
            parts.append(_left(code, paired=end is not None, told=told))
    parts.append(text[done:])
    return filled("".join(parts))


def unclosed_shortcodes(text: str) -> Iterator[tuple[int, str]]:
    """Each line, from 1, where a shortcode outside code starts that ends nowhere, and how the first of them is opened."""
    if not _OPENING.search(text):
        return
    rest = _DELIMITED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), masked(text))
    for number, line in enumerate(rest.split("\n"), 1):
        opening = _OPENING.search(line)
        if opening:
            yield number, opening[0][: 2 if opening[0][1] == "%" else 3]


def _shortcodes(text: str) -> Iterator[_Shortcode]:
    """What has the form of a shortcode, outside code."""
    for match in _DELIMITED.finditer(masked(text)):
        source = text[match.start() : match.end()]
        wide = 3 if source.startswith(("{{<", "{{%")) else 2
        body = source[wide:-wide].strip().strip("-+").strip()
        if wide == 2 and source[1] == "{":
            value = _VALUE.fullmatch(body)
            sure = _TABLE_OF_CONTENTS.fullmatch(body) or (value and (value["filters"] or body[0] not in "\"'"))
            yield _Shortcode(match.start(), match.end(), source, "", closing=False, sure=bool(sure))
        elif (name := _NAME.match(body.removesuffix("/"))) and not (wide == 3 and name["closing"] == "end"):
            sure = wide == 3 or name["name"] in _KNOWN or any(value for _, value in _arguments(body[name.end() :]))
            yield _Shortcode(match.start(), match.end(), source, name["name"], bool(name["closing"]), sure)
        elif wide == 3 and (name := re.match(r"(end[\w./-]*)(?=\s|$)", body.removesuffix("/"))):
            yield _Shortcode(match.start(), match.end(), source, name[1], closing=False, sure=True)


def _without_variables(text: str, told: list[str] | None) -> str:
    """`text` without GitBook's variables outside code, their names added to `told`."""
    if '<code class="expr">' not in text:
        return text
    parts = []
    done = 0
    for match in _EXPRESSION.finditer(masked(text)):
        parts.append(text[done : match.start()])
        done = match.end()
        if told is not None:
            told.append(match[1])
    return "".join([*parts, text[done:]])


def _pairs(found: Sequence[_Shortcode]) -> dict[int, _Shortcode]:
    """For each opening shortcode that is closed before the next of its name, its closing one."""
    closers: dict[str, list[_Shortcode]] = {}
    pairs = {}
    for i in reversed(range(len(found))):
        waiting = closers.setdefault(found[i].name, [])
        if found[i].closing:
            waiting.append(found[i])
        elif waiting and found[i].name:
            pairs[i] = waiting.pop()
    return pairs


def _ends_in_address(before: str, in_address: bool) -> bool:
    """Whether `before` ends within a link's target or an attribute's value, where `in_address` says how it began."""
    if in_address and not re.search(r"[\s)\"'>]", before):
        return True
    if "](" in re.split(r"[\s)]", before)[-1]:
        return True
    if _LINK_TARGET.fullmatch(before.rpartition("\n")[2]):
        return True
    value = re.split(r"[\s>]", before)[-1]
    name, equals, quoted = value.rpartition("=")
    if not (name and equals):
        return False
    return (
        quoted[:1] in ("'", '"') and not re.search(r"[\"']", quoted[1:])
        if quoted
        else before.rfind("<") > before.rfind(">")
    )


def _left(code: _Shortcode, *, paired: bool, told: list[str] | None) -> str:
    """What a shortcode leaves in the text."""
    if not code.name:
        body = code.source[2:-2].strip()
        if told is not None and not _TABLE_OF_CONTENTS.fullmatch(body):
            told.append(body)
        return LOOSE
    if code.closing:
        return LOOSE
    if code.name in _ELSE:
        return APART
    arguments = _arguments(_NAME.sub("", code.source.strip("{}<>%/-+ \t\n"), count=1))
    if code.name in _FILLED_IN:
        said = _said([(key, value) for key, value in arguments if key], paired=paired)
        if not said and told is not None:
            told.append(next((value for _, value in arguments if value), " ".join(code.source.split())))
        return around(said)
    said = "" if code.name in _SAYS_NOTHING else _said(arguments, paired=paired)
    return f"{APART}{said}{APART}" if said and paired else around(said)


def _language(highlight: str) -> str:
    """The language that a `highlight` names first."""
    _, *words = re.findall(r"[\w+#.-]+", highlight)
    return words[0] if words else ""


def _arguments(source: str) -> list[tuple[str, str]]:
    """The arguments of a shortcode that stand in quotes or have a key: the key, else "", and what is quoted, else ""."""
    found = []
    for match in _ARGUMENT.finditer(source):
        value = next((match[kind] for kind in ("double", "single", "raw") if match[kind] is not None), None)
        if value is not None:
            found.append((match["named"] or "", " ".join(re.sub(r"\\(.)", r"\1", value).split())))
        elif match["key"]:
            found.append((match["key"], ""))
    return found


def _said(arguments: Sequence[tuple[str, str]], *, paired: bool) -> str:
    """The argument that is for readers, or "": a named one, else the last phrase, else the last word.

    A paired shortcode has its content to say, so a mere word ("warning") is its kind and is left out.
    """
    named = {key: value for key, value in arguments if key}
    if named:
        shown = (*SAID_BY, "content", *(["name"] if paired else []))
        return next((named[key] for key in shown if named.get(key)), "")
    words = [value for _, value in arguments if value and not _is_address(value)]
    phrases = [value for value in words if " " in value or value != value.lower()]
    said = phrases or ([] if paired else words)
    return said[-1] if said else ""


def _is_address(value: str) -> bool:
    return bool(_FILE_ENDING.search(value)) or (not re.search(r"\s", value) and bool(re.search("[/:#]", value)))
