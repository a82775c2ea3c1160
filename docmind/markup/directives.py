"""The directives of MyST: what of one is for readers. It knows the lines of one directive, not where they stand."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

_TITLED = "admonition card details dropdown grid-item-card grid-item csv-table list-table sidebar tab-item table topic"
_PROSE = """attention caution danger deprecated epigraph error exercise figure glossary hint image important margin note
    only pull-quote rubric seealso solution tip todo versionadded versionchanged warning"""
_PLACED = "container div figure grid image only raw tab-set"
"""Their argument is a place, a number or a class."""
_CODE = "code code-block code-cell literalinclude math parsed-literal prompt sourcecode"
_SILENT = "bibliography contents include index meta tableofcontents toctree"
_TABLES = "csv-table list-table"
_FROM_FILES = "include literalinclude"
_KNOWN = frozenset(" ".join((_TITLED, _PROSE, _PLACED, _CODE, _SILENT)).split())

_OPTION = re.compile(r"[ \t>]*:([\w-]+):[ \t]*(.*)\Z")
_YAML_OPTION = re.compile(r"[ \t>]*([\w-]+):[ \t]*(.*)\Z")
_RULE = re.compile(r"[ \t>]*---[ \t]*\Z")


class Directive:
    """A directive by its `name`, what follows that in its line, and the `lines` of its body."""

    def __init__(self, name: str, argument: str, lines: Sequence[str]) -> None:
        self.name = name
        self.argument = argument
        if lines and _RULE.match(lines[0]):
            given = list(takewhile(lambda line: not _RULE.match(line), lines[1:]))
            self.skipped = min(len(given) + 2, len(lines))
            """How many lines of options open the body."""
            found = map(_YAML_OPTION.match, given)
        else:
            given = list(takewhile(_OPTION.match, lines))
            self.skipped = len(given)
            found = map(_OPTION.match, given)
        while not self.is_prose and self.skipped < len(lines) and not lines[self.skipped].strip():
            self.skipped += 1
        self.options = {match[1]: match[2].strip() for match in found if match}
        self.body = lines[self.skipped :]

    @staticmethod
    def is_known(name: str) -> bool:
        """Whether a fence of that name is a directive, and no code of a language in braces."""
        return name in _KNOWN

    @property
    def is_prose(self) -> bool:
        """Whether the body is Markdown."""
        return self.name not in f"{_CODE} {_SILENT} {_TABLES}".split()

    @property
    def told(self) -> list[str]:
        """The file that the directive takes its words from."""
        return [self.argument] if self.name in _FROM_FILES.split() else []


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The lines that stand for those of a directive's opening and closing, and whether those between stay."""

    before: list[str]
    after: list[str]
    keeps_body: bool


def rewritten(directive: Directive, fence: str) -> Rewritten:
    """`directive` as Markdown that needs none: its title as words of their own, code in a `fence`, lists as tables."""
    said = directive.options.get("alt") or directive.options.get("caption") or ""
    if directive.name not in f"{_PLACED} {_CODE} {_SILENT}".split():
        said = directive.argument
    title = ["", said, ""] if said else [""]
    if directive.name in _TABLES.split():
        rows = _csv_rows(directive) if directive.name == "csv-table" else list(_list_rows(directive.body))
        return Rewritten([*title, *_table(rows)], [""], keeps_body=False)
    if directive.name in _SILENT.split() or directive.told:
        return Rewritten([""], [""], keeps_body=False)
    if directive.is_prose:
        return Rewritten(title, [""], keeps_body=True)
    language = "math" if directive.name == "math" else directive.argument
    return Rewritten([*title, fence + language], [fence], keeps_body=True)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]
    return [*lines[:1], "|" + "---|" * len(rows[0]), *lines[1:], ""] if rows else []


def _csv_rows(directive: Directive) -> list[list[str]]:
    head = directive.options.get("header")
    lines = [*([head] if head else []), *(line.strip() for line in directive.body)]
    return list(csv.reader([line for line in lines if line], skipinitialspace=True))


def _list_rows(lines: Sequence[str]) -> list[list[str]]:
    """The rows of a list of lists."""
    rows: list[list[str]] = []
    for line in lines:
        words = line.strip()
        if match := re.match(r"[*-][ \t]+[*-](?:[ \t]+|\Z)", words):
            rows.append([words[match.end() :]])
        elif rows and re.match(r"[*-](?:[ \t]|\Z)", words):
            rows[-1].append(words[1:].strip())
        elif rows and words:
            rows[-1][-1] = f"{rows[-1][-1]} {words}".strip()
    return rows
