"""Checks the citations of an answer after the fact: only passages that were given may be cited."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CITATION = re.compile(r"(?<![ \t])[ \t]*\[(\d+(?:\s*[,;]\s*\d+)*)\]")


@dataclass(frozen=True, slots=True)
class Checked:
    """`text` with the false citations taken out; `cited` are the numbers that stand in it, in order of first use, and
    `removed` those that were taken out."""

    text: str
    cited: tuple[int, ...]
    removed: tuple[int, ...]


def check(text: str, given: int) -> Checked:
    """The text with its citations "[1]" or "[1, 2]" of passages 1 to `given`; a citation of any other number is removed."""
    cited: dict[int, None] = {}
    removed: dict[int, None] = {}

    def keep(match: re.Match[str]) -> str:
        numbers = [int(number[:9]) for number in re.findall(r"\d+", match[1])]
        known = [number for number in numbers if 1 <= number <= given]
        cited.update(dict.fromkeys(known))
        removed.update(dict.fromkeys(number for number in numbers if number not in known))
        if known == numbers:
            return match[0]
        blanks = match[0][: match[0].index("[")]
        return "".join(f"{blanks}[{number}]" for number in known)

    return Checked(_CITATION.sub(keep, text), tuple(cited), tuple(removed))
