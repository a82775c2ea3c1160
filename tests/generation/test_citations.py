"""Only passages that were given can be cited; everything else of an answer stays as it was written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.generation.citations import Checked, check


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Five days [7].", Checked("Five days.", (), (7,))),
        ("Five days [1].", Checked("Five days [1].", (1,), ())),
        ("Both [1, 2].", Checked("Both [1, 2].", (1, 2), ())),
        ("Both [1][2].", Checked("Both [1][2].", (1, 2), ())),
        ("Both [1; 2] and [3 ,1].", Checked("Both [1; 2] and [3 ,1].", (1, 2, 3), ())),
        ("Some [1, 7].", Checked("Some [1].", (1,), (7,))),
        ("Some [1, 7, 3].", Checked("Some [1] [3].", (1, 3), (7,))),
        ("Some[2][7].", Checked("Some[2].", (2,), (7,))),
        ("None [0], [4] and [10].", Checked("None, and.", (), (0, 4, 10))),
        ("First [3], then [1], then [3] again.", Checked("First [3], then [1], then [3] again.", (3, 1), ())),
        ("Blanks [ 1 ], [ 9 ] and [ 2 , 9 ].", Checked("Blanks [ 1 ], and [2].", (1, 2), (9,))),
        ("A range [1-3], [7-9].", Checked("A range [1-3],.", (1, 2, 3), (7, 8, 9))),
        ("A dash [1–2; 3] or [2 — 5].", Checked("A dash [1–2; 3] or [2] [3].", (1, 2, 3), (4, 5))),
        ("Backwards [3-1] and [1-99999].", Checked("Backwards [3-1] and [1].", (3, 1), (99999,))),
        ("Other brackets【1】, 【9】 and ［2］.", Checked("Other brackets【1】, and ［2］.", (1, 2), (9,))),
        ("Sourced 【2†source】【9†L3-L5】.", Checked("Sourced 【2†source】.", (2,), (9,))),
        ("Twice [9] and [9].", Checked("Twice and.", (), (9,))),
        ("", Checked("", (), ())),
    ],
)
def test_of_three_passages_only_three_can_be_cited(text, expected):
    assert check(text, 3) == expected


def test_a_number_in_brackets_is_a_citation_even_if_it_could_be_a_year():
    # It would be read as a source that nobody can open; that it was removed is told.
    assert check("In 2026 [2026] it is 25 days [1].", 3) == Checked("In 2026 it is 25 days [1].", (1,), (2026,))


def test_without_a_passage_every_citation_is_false():
    assert check("Yes [1].", 0) == Checked("Yes.", (), (1,))


@pytest.mark.parametrize(
    "text",
    ["a[i] = b[-1]", "[x] done, [ ] open", "[HR] and [see 7]", "(7) and 7 and {7}", "in [1.5, 2.5]",
     "[]", "[ ]", "on [2026-01-31]", "[7-]", "[-7]", "[9:30-10]", "【see】", "[7", "7]",
     "two  blanks\n\n  and a line \t", "[the page](x.md)", "[^7]"],
)  # fmt: skip
def test_what_is_no_citation_is_not_touched(text):
    assert check(text, 3) == Checked(text, (), ())


WORDS = st.sampled_from(["Five days", ".", " ", "\n", "\t", "é", "25", "(7)", "[a]", ","])
CITED = st.builds(
    lambda numbers, form, joint: form.format(joint.join(map(str, numbers))),
    st.lists(st.integers(0, 6), min_size=1, max_size=3),
    st.sampled_from(["[{}]", "[ {} ]", "【{}】", "［{}］", "【{}†source】"]),
    st.sampled_from([", ", ";"]),
) | st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda ends: f"[{ends[0]}-{ends[1]}]")


@given(st.lists(st.tuples(WORDS, CITED), max_size=8), st.integers(0, 4))
def test_what_remains_are_the_words_and_true_citations(parts, passages):
    checked = check("".join(word + citation for word, citation in parts), passages)
    again = check(checked.text, passages)
    assert again == Checked(checked.text, checked.cited, ())
    assert all(1 <= number <= passages for number in checked.cited)
    assert not any(1 <= number <= passages for number in checked.removed)
    bare = "".join(word for word, _ in parts)
    left = check(checked.text, 0).text  # all citations taken out
    assert left.split() == check("".join(f"{word}[0]" for word, _ in parts), 0).text.split()
    assert "".join(left.split()) == "".join(bare.split())


def test_a_number_too_long_to_read_is_a_false_citation():
    found = check(f"So it is [{'9' * 6000}].", 3)
    assert (found.text, found.cited) == ("So it is.", ())


def test_many_blanks_take_no_long_time():
    text = f"x{' ' * 200_000}[y"
    assert check(text, 3).text == text
    assert check(f"x{' ' * 200_000}[7]", 3).text == "x"
    for text in (
        f"[1{' ' * 200_000}",
        f"[{' ' * 200_000}",
        f"[{'1,' * 100_000}",
        "[1 " * 100_000,
        f"【1†{'x' * 200_000}",
    ):
        assert check(text, 3).text == text
