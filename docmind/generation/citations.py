"""Checks the citations of an answer after the fact: only passages that were given may be cited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from docmind.text import CITATION

_WITH_BLANKS = re.compile(rf"(?<![ \t])([ \t]*){CITATION.pattern}")
_NUMBERS = re.compile(r"(\d+)(?:\s*[^\s\d,;]\s*(\d+))?")

LONGEST_RANGE = 100
"""Passages of a range, "[1-3]"; of a longer one only the ends are read."""


@dataclass(frozen=True, slots=True)
class Checked:
    """`text` with the false citations taken out; `cited` are the numbers that stand in it, in order of first use, and
    `removed` those that were taken out."""

    text: str
    cited: tuple[int, ...]
    removed: tuple[int, ...]


def check(text: str, given: int) -> Checked:
    """The text with its citations (text.CITATION) of passages 1 to `given`; one of any other number is removed."""
    cited: dict[int, None] = {}
    removed: dict[int, None] = {}

    def keep(match: re.Match[str]) -> str:
        numbers = list(_numbers(match[2]))
        known = [number for number in numbers if 1 <= number <= given]
        cited.update(dict.fromkeys(known))
        removed.update(dict.fromkeys(number for number in numbers if number not in known))
        if known == numbers:
            return match[0]
        return "".join(f"{match[1]}[{number}]" for number in known)

    return Checked(_WITH_BLANKS.sub(keep, text), tuple(cited), tuple(removed))


def _numbers(cited: str) -> Iterator[int]:
    for match in _NUMBERS.finditer(cited):
        first, last = (int(number[:9]) for number in (match[1], match[2] or match[1]))
        yield from range(first, last + 1) if first <= last < first + LONGEST_RANGE else (first, last)
