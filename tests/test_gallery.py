"""The gallery of pages, read as a corpus is read: every page holds what is seen of it, where it belongs, and nothing else."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from logging.handlers import BufferingHandler
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from docmind.corpus import load
from docmind.errors import AnswerKeyError
from docmind.evaluation.key.evidence import Pages
from docmind.markup import clean
from docmind.text import fold, words
from docmind.types import Document, blocks_in

GALLERY = Path(__file__).parent / "gallery"
FEWEST = 120
MDX = ("docusaurus", "mintlify")
"""The tools whose pages hold components and JavaScript, by the suffix of their files."""

KINDS = {
    **{f"h{level}": {"heading"} for level in range(1, 7)},
    "p": {"paragraph", "list_item", "quote"},
    "li": {"list_item"},
    "quote": {"quote"},
    "head": {"table"},
    "row": {"table"},
    "code": {"code"},
    "any": {"heading", "paragraph", "list_item", "quote", "table", "code"},
}
"""What a block of the page may be, by the word that the gallery has for what is seen."""

MARKS = """
    {{ }} {% %} {: {# {. {++ {-- {~~ {>> {== {/* */} ::: !!! ??? === /// --8<-- ++ %% [[ ]] ]( [! ^[ <!-- </ />
    &nbsp; &amp; &#
"""
"""What no page may have left, unless a reader sees it."""


@dataclass(frozen=True)
class Construct:
    """One page of the gallery; `seen` holds the word and the text of each line below its source."""

    tool: str
    name: str
    source: str
    seen: tuple[tuple[str, str], ...]

    @property
    def file(self) -> str:
        return "page.mdx" if self.tool in MDX else "page.md"

    def all(self, *wanted: str) -> list[str]:
        return [text for word, text in self.seen if word in wanted]

    @property
    def blocks(self) -> list[tuple[str, str]]:
        return [(word, text) for word, text in self.seen if word in KINDS]


def constructs(path: Path) -> Iterator[Construct]:
    _, *entries = re.split(r"^§ ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for entry in entries:
        name, _, rest = entry.partition("\n")
        source, line, seen = rest.partition("§§\n")
        assert line, f"{path.name}: {name}: a line §§ below the source was expected"
        seen = seen.replace("\n        ", "\n\t")  # a line that goes on
        lines = re.findall(r"^(\S+)[ ]*(.*(?:\n\t.*)*)", seen, re.MULTILINE)
        yield Construct(path.stem, name, source, tuple((word, text.replace("\n\t", "\n")) for word, text in lines))


CONSTRUCTS = [construct for path in sorted(GALLERY.glob("*.txt")) for construct in constructs(path)]
each = pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda construct: f"{construct.tool}: {construct.name}")


@dataclass(frozen=True)
class Page:
    """The page of a construct as the project reads it, and the warnings it gave."""

    document: Document
    warnings: tuple[str, ...]


@cache
def read(construct: Construct) -> Page:
    told = BufferingHandler(1000)
    logging.getLogger("docmind").addHandler(told)
    try:
        with TemporaryDirectory() as folder:
            (Path(folder) / construct.file).write_bytes(construct.source.encode("utf-8"))
            [document] = load(Path(folder))
    finally:
        logging.getLogger("docmind").removeHandler(told)
    return Page(document, tuple(record.getMessage().removeprefix(folder) for record in told.buffer))


@pytest.fixture
def page(construct: Construct) -> Page:
    return read(construct)


def test_the_gallery_is_large_and_says_nothing_twice() -> None:
    assert len(CONSTRUCTS) >= FEWEST
    for part in ("name", "source"):
        assert [text for text, n in Counter(getattr(c, part) for c in CONSTRUCTS).items() if n > 1] == []


@each
def test_a_construct_is_written_in_the_words_of_the_gallery(construct: Construct) -> None:
    assert {word for word, _ in construct.seen} <= {*KINDS, "title", "maybe", "hidden", "told"}
    assert construct.blocks
    assert all(text.strip() for word, text in construct.seen if word != "head")


@each
def test_the_words_of_a_page_are_those_that_are_seen(construct: Construct, page: Page) -> None:
    found = plain_words(without_fences(page.document))
    reached = {0}
    for wanted, needed in parts(construct):
        after = {at + len(wanted) for at in reached if found[at : at + len(wanted)] == wanted}
        if needed:
            there = max(reached)
            assert after, f"{wanted} was expected where the page has {found[there:]}, behind {found[:there]}"
        reached = after if needed else reached | after
    assert len(found) in reached, f"the page goes on with {found[max(reached) :]}"


@each
def test_each_block_is_found_where_it_belongs(construct: Construct, page: Page) -> None:
    """Looked up as the evidence of an answer key is, and in the order in which it is seen."""
    pages = Pages([page.document])
    done = 0
    for word, text in construct.blocks:
        for piece in copied(word, text):
            try:
                places = pages.find(construct.file, piece)
            except AnswerKeyError as error:
                pytest.fail(str(error))
            place = next((place for place in places if place.start >= done), None)
            assert place, f"{piece!r} stands before what is seen above it"
            kinds = {block.kind for block in blocks_in(page.document, place.start, place.end)}
            assert kinds <= KINDS[word], f"{piece!r} is in {kinds}"
            done = place.end


@each
def test_titles_are_those_of_the_rendered_page(construct: Construct, page: Page) -> None:
    headings = [(word, text.replace("…", "").strip()) for word, text in construct.seen if re.fullmatch("h[1-6]", word)]
    found = [(f"h{b.level}", b.title) for b in page.document.blocks if b.kind == "heading" and b.title]
    assert found == headings
    first = next((text for _, text in headings), "page")
    assert page.document.title == next(iter(construct.all("title")), first)


@each
def test_tables_keep_head_rows_and_cells(construct: Construct, page: Page) -> None:
    wanted = list(tables(construct))
    if construct.all("any"):
        return
    found = [block for block in page.document.blocks if block.kind == "table"]
    assert [len(table.cells) for table in found] == [len(rows) for rows in wanted]
    for table, rows in zip(found, wanted, strict=True):
        for spans, row in zip(table.cells, rows, strict=True):
            for span, cell in zip_longest(spans, row):
                text, covered = cell or ("", False)
                held = plain_words(page.document.text[span.start : span.end]) if span else []
                assert held == plain_words(text) or (covered and not held)


@each
def test_no_marks_are_left(construct: Construct, page: Page) -> None:
    text = f"{page.document.title}\n{page.document.text}"
    seen = "\n".join(construct.all("title", "maybe", *KINDS))
    assert [mark for mark in MARKS.split() if text.count(mark) > seen.count(mark)] == []
    assert [hidden for hidden in construct.all("hidden") if hidden in text] == []
    for line in fences(page.document).values():
        assert re.fullmatch(r"[`~]+[\w+#.-]*", line), f"more than a language: {line!r}"


@each
def test_a_page_that_is_cleaned_again_stays_as_it_is(construct: Construct, page: Page) -> None:
    """Evidence is cleaned as pages are, so what is quoted from a cleaned page must come out as it went in."""
    again = clean(page.document.text)
    assert again.text == page.document.text


@each
def test_line_ends_of_windows_change_nothing(construct: Construct, page: Page) -> None:
    assert read(replace(construct, source=construct.source.replace("\n", "\r\n"))) == page


@each
def test_what_follows_a_construct_is_left_alone(construct: Construct, page: Page) -> None:
    followed = read(replace(construct, source=f"{construct.source}\n\nThe last words.\n")).document
    assert followed.text == f"{page.document.text}\n\nThe last words."
    assert followed.blocks[-1].kind == "paragraph"


@each
def test_what_a_page_does_not_hold_is_told(construct: Construct, page: Page) -> None:
    told = construct.all("told")
    assert all(any(text in warning for warning in page.warnings) for text in told), page.warnings
    assert told or not page.warnings


def plain_words(text: str) -> list[str]:
    return words(fold(text.replace(r"\|", "|")).text)


def fences(document: Document) -> dict[tuple[int, int], str]:
    """The line that opens each fence, by the first and the last line of its block; indented code has none."""
    lines = document.text.split("\n")
    spans = [block.span for block in document.blocks if block.kind == "code"]
    numbers = [(document.text.count("\n", 0, span.start), document.text.count("\n", 0, span.end)) for span in spans]
    opened = {(first, last): lines[first].lstrip("> -*0123456789.") for first, last in numbers}
    return {place: line for place, line in opened.items() if line.startswith(("```", "~~~"))}


def without_fences(document: Document) -> str:
    """The text, but for the lines that open and close a block of code: they are drawn, not written."""
    lines = document.text.split("\n")
    for first, last in fences(document):
        lines[first] = lines[last] = ""
    return "\n".join(lines)


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)]


Row = list[tuple[str, bool]]
"""The text of each cell, and whether another one covers it, whose text it is then."""


def tables(construct: Construct) -> Iterator[list[Row]]:
    rows: list[Row] = []
    for word, text in construct.blocks:
        if word == "head" and rows:
            yield rows
            rows = []
        if word in ("head", "row"):
            row: Row = []
            for i, cell in enumerate(cells(text)):
                covering = rows[-1][i] if cell == "^" else row[-1] if cell == "<" else None
                row.append((covering[0], True) if covering else (cell, False))
            rows.append(row)
    if rows:
        yield rows


def parts(construct: Construct) -> Iterator[tuple[list[str], bool]]:
    """The words that stand in the page one after another, and whether they must. A covered cell may repeat its words."""
    rows = (row for table in tables(construct) for row in table)
    for word, text in construct.seen:
        if word in ("head", "row"):
            yield from ((plain_words(cell), not covered) for cell, covered in next(rows))
        elif word in KINDS or word == "maybe":
            yield plain_words(text), word != "maybe"


def copied(word: str, text: str) -> list[str]:
    """What a reader would copy from the rendered page: of a row its cells, parted by tabs."""
    if word in ("head", "row"):
        text = "\t".join(cell.replace(r"\|", "|") for cell in cells(text) if cell not in ("^", "<", ""))
    return [piece.strip() for piece in text.split("…") if any(map(str.isalnum, piece))]
