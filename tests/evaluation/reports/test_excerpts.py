"""What is shown of a passage: by blocks, without marks, cut at words, the gold where it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.corpus.markdown import document
from docmind.evaluation.reports.excerpts import CUT, REACH, excerpt
from docmind.types import Document


def whole(page, *gold):
    """The whole of a document, the gold given by its words."""
    at = [page.text.index(words) for words in gold]
    return excerpt(
        page, [(0, len(page.text))], [(start, start + len(words)) for start, words in zip(at, gold, strict=True)]
    )


def test_a_passage_is_cut_around_its_gold_and_else_at_its_end():
    page = Document("a.txt", "", "x" * 5000)
    plain, gold, rest = excerpt(page, [(1000, 4000)], [(2000, 2100)])
    # (600 - 100) / 2 = 250 characters on either side
    assert (plain, gold, rest) == ("…" + "x" * 250, "x" * 100, "x" * 250 + "…")
    assert excerpt(page, [(0, 5000)], []) == ["x" * CUT + "…"]
    assert excerpt(page, [(0, 700)], [(690, 700)]) == ["…" + "x" * 590, "x" * 10]
    assert excerpt(page, [(0, 5000)], [(100, 4000)]) == ["…", "x" * CUT + "…"]


def test_parts_of_a_passage_are_joined_and_gold_goes_on_across_them():
    page = Document("a.txt", "", "Title. Body text.")
    assert excerpt(page, [(0, 5), (7, 16)], [(3, 11)]) == ["Tit", "le", " … ", "Body", " text"]


def test_it_is_cut_at_words():
    text = "word " * 300  # gold at 750: it would begin at 750 - 298 = 452 and end at 1052, both inside of words
    plain, gold, rest = excerpt(Document("a.txt", "", text), [(0, 1500)], [(750, 754)])
    assert (gold, plain[:6], rest[-6:]) == ("word", "…word ", " word…")
    assert len(plain + gold + rest) <= CUT + 2


def test_it_is_cut_at_a_block_where_one_is_near():
    blocks = ["seven words of text are standing here"] * 40  # 37 characters and the blank line: 39 a block
    page = document("a.md", "\n\n".join(blocks))
    [shown] = excerpt(page, [(0, len(page.text))], [])
    # 600 // 39 = 15 blocks of 583 characters in all, of which the last has no blank line behind it
    assert shown == "\n\n".join(blocks[:15]) + "…"


def test_gold_is_never_cut_off_to_begin_with_a_word():
    text = f"{'x' * 1000} {'y' * 10} {'z' * 1000}"
    plain, gold, _ = excerpt(Document("a.txt", "", text), [(0, len(text))], [(1001, 1011)])
    assert (plain[0], gold) == ("…", "y" * 10)
    # gold longer than what is shown: it begins where the gold does
    _, gold = excerpt(Document("a.txt", "", text), [(0, len(text))], [(995, 2012)])
    assert gold.startswith("xxxxx " + "y" * 10)


MARKED = "## **Leave** by country\n\n| Country | Days |\n|:---|---:|\n| Spain |  22 |\n| Italy | |\n\n> Ask.\n\n---\n\n- [x] Done"


def test_headings_are_their_titles_and_rows_their_cells():
    assert whole(document("a.md", MARKED)) == [
        "**Leave** by country\n\nCountry · Days\nSpain · 22\nItaly\n\n> Ask.\n\n---\n\n- [x] Done"
    ]


@pytest.mark.parametrize(
    ("gold", "marked"),
    [
        ("22", ["22"]),
        ("| Spain |  22 |", ["Spain · 22"]),
        ("pain |  2", ["pain · 2"]),
        ("Days |\n|:---|---:|\n| Spain", ["Days\nSpain"]),
        ("## **Leave** by", ["**Leave** by"]),
        ("|:---|---:|", []),
        ("22 |\n| Italy | |\n\n> A", ["22\nItaly\n\n> A"]),
    ],
)
def test_gold_is_marked_exactly_whatever_marks_it_holds(gold, marked):
    parts = whole(document("a.md", MARKED), gold)
    assert parts[1::2] == marked
    assert "".join(parts) == "".join(whole(document("a.md", MARKED)))


def test_a_passage_that_begins_inside_a_heading_or_a_table_shows_what_is_there():
    page = document("a.md", MARKED)
    start = MARKED.index("22")
    assert excerpt(page, [(MARKED.index("country"), start + 1)], []) == ["country\n\nCountry · Days\nSpain · 2"]
    assert excerpt(page, [(MARKED.index("|:-"), start + 2)], [(start, start + 1)]) == ["Spain · ", "2", "2"]
    assert excerpt(page, [(MARKED.index("|:-"), MARKED.index("| Spain"))], []) == [""]


@given(st.text("ab #|-\n", max_size=80), st.integers(0, 80), st.integers(0, 80))
def test_letters_of_the_gold_are_marked_and_no_others(text, start, end):
    page = document("a.md", f"{text}\n\n| c | d |\n|---|---|\n| e | f |")
    start, end = sorted((min(start, len(page.text)), min(end, len(page.text))))
    gold = [(start, end)] if start < end else []
    parts = excerpt(page, [(0, len(page.text))], gold)
    letters = "".join(filter(str.isalpha, page.text[start:end]))
    assert "".join(filter(str.isalpha, "".join(parts[1::2]))) == letters
    assert "".join(filter(str.isalpha, "".join(parts))) == "".join(filter(str.isalpha, page.text))


def test_a_window_is_never_longer_than_it_may_be():
    page = document("a.md", "\n\n".join(f"# Title {n}\n\nSome text of section {n}." for n in range(200)))
    for at in range(0, 4000, 97):
        parts = excerpt(page, [(0, len(page.text))], [(at, at + 20)])
        assert CUT - 2 * REACH <= len("".join(parts)) <= CUT + 2
