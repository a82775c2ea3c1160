"""Splits a passage into what can be quoted: sentences, list items, table rows; and says a row in words. It judges none."""

from __future__ import annotations

import re
from itertools import takewhile

_CLOSING = r"[\"'”’»)\]*_]*"
_BREAK = re.compile(
    rf"""
      (?<=[.!?]) (?P<closing> {_CLOSING} ) \s+ (?= [\"'“‘«(\[*_]* [^\W_a-z] )   # a sentence ends, the next begins
    | (?P<line> \n (?= \s* (?: \n | \| | [-*+]\s | \d+[.)]\s | \#{{1,6}}\s | > ) ) \s* )  # an item, a row, a paragraph
    | (?P<row> (?<= \| ) [ \t]* \n )
    """,
    re.VERBOSE,
)
_ABBREVIATION = re.compile(
    r"\b(?:(?:[a-z]\.)+[a-z]|etc|cf|vs|no|nos|approx|incl|dr|mr|mrs|ms|prof|st|art|para|p|pp)\.$", re.IGNORECASE
)
_NUMBER = re.compile(r"\s*\d{1,3}[.)]")
_MARK = re.compile(rf"(?:[-*+>]|{_NUMBER.pattern}|\#{{1,6}})\s+(?:\[[ xX]\]\s+)?")

_CELL = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[ \t]*\|[ \t:|-]*-[ \t:|-]*")
_HEAD = re.compile(rf"[ \t]*\|.*\n{_RULE.pattern}$", re.MULTILINE)
_ROW = re.compile(r"[ \t]*\|")
_TITLE = re.compile(r"\s*#{1,6}[ \t]+.*")


def sentences(text: str) -> list[tuple[int, int]]:
    """The ranges of the sentences, items and rows of `text`, rising, white space and leading list marks left out.

    A heading is none, nor is the head of a table, nor what holds no letter and no digit, such as the rule below that head:
    they answer nothing. The number of a list, such as "1.", ends no sentence, and no sentence ends within a row.
    """
    found = []
    start = 0
    for match in _BREAK.finditer(text):
        end = match.end("closing") if match["closing"] is not None else match.start()
        if match["closing"] is not None and (
            _ABBREVIATION.search(text, start, end)
            or _NUMBER.fullmatch(text, start, end)
            or _ROW.match(text, max(start, text.rfind("\n", 0, end) + 1))
        ):
            continue
        found.append((start, end))
        start = match.end()
    found.append((start, len(text)))
    return [trimmed for start, end in found if not _is_head(text, start) and (trimmed := _trim(text, start, end))]


def _is_head(text: str, start: int) -> bool:
    """Whether a table begins there: a row, a rule below it, and no row above."""
    return bool(_HEAD.match(text, start)) and not _ROW.match(text[:start].rpartition("\n")[0].rpartition("\n")[2])


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    end = start + len(text[start:end].rstrip())
    if title := _TITLE.match(text, start, end):
        start = title.end()
    start = end - len(text[start:end].lstrip())
    if mark := _MARK.match(text, start, end):
        start = mark.end()
    return (start, end) if any(map(str.isalnum, text[start:end])) else None


def quotation(text: str, start: int, end: int) -> str:
    """The characters `start` to `end` of `text` as they are read out. Of a row of a table, each cell with the head of its
    column: "Country: Spain; Days: 22". All else stands as it is."""
    found = text[start:end]
    if not found.startswith("|"):
        return found
    cells = _cells(found)
    heads = _heads(text[:start])
    if len(heads) != len(cells):
        return "; ".join(filter(None, cells))
    return "; ".join(f"{head}: {cell}" if head else cell for head, cell in zip(heads, cells, strict=True) if cell)


def _heads(above: str) -> list[str]:
    """The heads of the table that the line after `above` belongs to; none where that is no table's, or is its head."""
    lines = above.split("\n")[:-1]
    *_, rule, head = ("", "", *takewhile(_ROW.match, reversed(lines)))
    return _cells(head) if _RULE.fullmatch(rule) else []


def _cells(row: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(row.strip().removeprefix("|").removesuffix("|"))]
