"""Checks the handbook in corpus/ against its fact sheet and plan: figures that must agree, sizes, near-duplicates, links.

Every figure and vendor that eval/handbook_facts.yaml gives a page must stand on it, in digits or in words; the table of
all countries must agree with the sheet; outdated figures may stand on the pages alone that are marked for it. Prints the
faults and ends with 1 if there are any, and with 2 where they cannot be looked for. What a page says beside its
facts is not checked.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml

CORPUS = Path("corpus")
FACTS = Path("eval/handbook_facts.yaml")
PLAN = Path("eval/handbook_plan.md")

TABLES = "tables-at-a-glance.md"

SHINGLE = 5
"""Words of a shingle; two country pages are near-duplicates by the share of shingles that both hold (Jaccard)."""
NEAREST = 0.35
BYTES = range(4_000, 25_700)

OUTDATED = {
    r"€\s?52\b": {"travel.md", "announcement-travel-meals-2026.md", "meeting-notes-people-council-2026-05.md"},
    r"€\s?600\b.{0,60}home office|home office.{0,60}€\s?600\b": {"announcement-home-office-2026.md"},
}
"""What was replaced, and the pages that may still name it."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
             "twelve": "twelfth"}  # fmt: skip
_SAID = {
    "0": r"no|none|nothing|without", "50": r"half", "100": r"full|fully|whole|in full", "150": r"one and a half|half as much",
    "200": r"double|twice",
}  # fmt: skip
"""Words that say a figure otherwise."""
_COMMON = {"1", "2"}
"""Said in too many ways ("a", "both", "the first") to be looked for."""


@dataclass(frozen=True, slots=True)
class Row:
    """A page of the plan: its file, and the blocks of the fact sheet that it states."""

    page: str
    blocks: tuple[str, ...]


def rows() -> list[Row]:
    """The pages of the plan, in its order."""
    found = []
    for line in PLAN.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        page = re.fullmatch(r"`(\S+\.md)`", cells[3]) if len(cells) > 11 else None
        if page:
            states = re.sub(r"\(.*?\)", "", cells[11])
            found.append(Row(page[1], tuple(re.findall(r"\b(?:global|countries|mess)\.\w+", states))))
    return found


def numbers(text: str) -> set[str]:
    """Every number of `text`, written in digits or words, in one form: "1,350" as "1350", "twenty-five" as "25"."""
    found = {_plain(number) for number in _NUMBER.findall(text)}
    lowered = re.sub(r"[\u2010-\u2015]", "-", text.casefold())
    found |= {number for number, words in _SAID.items() if re.search(rf"\b(?:{words})\b", lowered)}
    for value, word, half in _numerals():
        if word.search(lowered):
            found.add(str(value))
            if half.search(lowered):
                found.add(f"{value}.5")
    return found


def _plain(number: str) -> str:
    digits = re.sub(r",(?=\d{3}\b)", "", number).replace(",", ".")
    return (
        digits.lstrip("0").removesuffix(".") or "0" if "." not in digits else digits.lstrip("0").rstrip("0").rstrip(".")
    )


@cache
def _numerals() -> tuple[tuple[int, re.Pattern[str], re.Pattern[str]], ...]:
    """For each value what finds its words, cardinal or ordinal, and what finds it with a half."""

    def ordinal(word: str) -> str:
        return re.sub(r"\w+$", lambda last: _ORDINALS.get(last[0], f"{re.sub('y$', 'ie', last[0])}th"), word)

    return tuple(
        (value, re.compile(rf"\b(?:{word}|{ordinal(word)})\b"), re.compile(rf"\b{word}(?: \w+)? and a half\b"))
        for value, word in _words()
    )


def _words() -> Iterator[tuple[int, str]]:
    """The numerals up to 199, and the whole hundreds below a thousand."""
    for value in range(100):
        tens, ones = divmod(value, 10)
        word = _ONES[value] if value < 20 else _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")
        yield value, word
        yield 100 + value, f"(?:a|one) hundred and {word}"
    yield 100, "a hundred"
    for hundreds in range(1, 10):
        yield 100 * hundreds, f"{_ONES[hundreds]} hundred"


def leaves(value: Any) -> Iterator[str]:
    """Every value of a block as text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("page", "country"):
                yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield str(value)


def missing_figures(facts: dict[str, Any], text: str, blocks: tuple[str, ...]) -> Iterator[str]:
    """Figures and vendors of `blocks` that do not stand in `text`."""
    there = numbers(text)
    for block in blocks:
        part, name = block.split(".")
        for value in (re.sub(r"\(before: .*?\)", "", leaf) for leaf in leaves(facts[part][name])):
            absent = {number for number in map(_plain, _NUMBER.findall(value)) if number not in there | _COMMON}
            if absent:
                yield f"{block}: {', '.join(sorted(absent))} of {value!r} does not stand on the page"
        for vendor in (
            inner["vendor"] for inner in facts[part][name].values() if isinstance(inner, dict) and "vendor" in inner
        ):
            if vendor not in text:
                yield f"{block}: the vendor {vendor} is not named"


def wrong_in_tables(facts: dict[str, Any], text: str) -> Iterator[str]:
    """Rows of the tables by country that say another figure than the sheet."""
    by_name = {country["name"]: country for country in facts["countries"].values()}
    for heading, value in (
        ("Payday By Country", lambda country: country["payday"]),
        ("Weekly Hours By Country", lambda country: country["hours"]),
        ("Notice In Probation By Country", lambda country: country["notice"]["probation"]),
    ):
        table = text.split(f"## {heading}\n")[1].split("\n## ", maxsplit=1)[0]
        cells = dict(
            re.findall(r"^\| ([A-Z][\w ]+?) \| ([^|]*?) \|", re.sub(r"<sup>.*?</sup>", "", table), re.MULTILINE)
        )
        cells.pop("Country")
        for name, country in by_name.items():
            if name not in cells:
                yield f"{heading}: {name} has no row"
            elif set(_NUMBER.findall(cells[name])) != set(_NUMBER.findall(str(value(country)))):
                yield f"{heading}: {name} has {cells[name]!r}, the sheet says {value(country)!r}"


def shingles(text: str) -> set[tuple[str, ...]]:
    """The runs of SHINGLE words."""
    words = re.findall(r"\w+", text.casefold())
    return set(zip(*(words[i:] for i in range(SHINGLE)), strict=False))


def faults() -> Iterator[str]:
    """All that is wrong, a sentence each."""
    facts = yaml.safe_load(FACTS.read_text(encoding="utf-8"))
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(CORPUS.glob("*.md"))}
    texts.pop("NOTICE.md")
    planned = rows()
    for page in sorted({row.page for row in planned} ^ texts.keys()):
        yield f"{page} is in the plan or in the corpus alone"
    for row in planned:
        text = texts.get(row.page, "")
        yield from (f"{row.page}: {fault}" for fault in missing_figures(facts, text, row.blocks))
        if len(text.encode()) not in BYTES:
            yield f"{row.page}: has {len(text.encode())} bytes, {BYTES.start} to {BYTES.stop} were planned"
    for page, text in texts.items():
        for link in re.findall(r"\]\(([^)#\s:]+\.md)", text):
            if link not in texts:
                yield f"{page}: links to {link}, which is not there"
        for pattern, allowed in OUTDATED.items():
            if page not in allowed and re.search(pattern, text, re.IGNORECASE):
                yield f"{page}: holds an outdated figure ({pattern})"
    yield from (f"{TABLES}: {fault}" for fault in wrong_in_tables(facts, texts[TABLES]))
    countries = {page: shingles(text) for page, text in texts.items() if page.startswith("country-")}
    for one, other in combinations(sorted(countries), 2):
        a, b = countries[one], countries[other]
        if len(a & b) / len(a | b) >= NEAREST:
            yield f"{one} and {other} share too many shingles"


def main() -> int:
    """Print the faults, and return the exit code."""
    try:
        found = list(faults())
    except Exception:  # Python would end with 1, which means that the handbook has faults
        traceback.print_exc()
        return 2
    print("\n".join(found) or "the handbook agrees with its facts")  # noqa: T201
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
