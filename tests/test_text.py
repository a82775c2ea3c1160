"""Words, stems, folding and finding quotations."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.text import (
    STOP_WORDS,
    find_all,
    fold,
    nearest,
    nfc,
    plural,
    same_title,
    stems,
    visible,
    word_places,
    words,
)


def test_words_ignore_case_punctuation_and_form() -> None:
    assert words("Is leave paid?") == ["is", "leave", "paid"]
    assert words("PAID, Straße, ﬁve") == ["paid", "strasse", "five"]


def test_words_lose_emphasis_but_keep_inner_underscores() -> None:
    assert words("_before_ snake_case __init__") == ["before", "snake_case", "init"]


def test_stems_join_forms_and_drop_function_words() -> None:
    assert stems("The days of leaving") == stems("day leaves") == ["day", "leav"]
    assert "the" in STOP_WORDS


def test_stems_of_stop_words_alone_are_still_searchable() -> None:
    assert stems("what is it about") == ["it"]
    assert stems("who are you") == ["who", "are", "you"]
    assert stems("?!") == []


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("“ten” days–off…", '"ten" days-off...'),
        ("oﬃce ﬁve", "office five"),
        ("a\u00a0b\u2009c\n\n d ", "a b c d"),
        ("co\u00adop\u200b", "coop"),
        ("e\u0301t\u00e9", "\u00e9t\u00e9"),
        ("## **Sick** _pay_\n> - `code`", "Sick pay code"),
        ("snake_case 5*3 un*b*c **Note**: x", "snake_case 5*3 un*b*c Note: x"),
        ("| A\\|B | 25 |\n|---|:-:|\n| C | 1,480 |", "A|B 25 C 1,480"),
        ("Case Kept", "Case Kept"),
        ("1. First", "1. First"),
        ("* _", ""),
        ("start with `#`, `-` or `>`; `|` parts, `~` is home, `:` ends", "start with #, or >; parts, is home, ends"),
        ("start with #, - or >; | parts, ~ is home, : ends", "start with #, or >; parts, is home, ends"),
        ("a \\# b \u200b#\u200b c", "a b c"),
        ("a # b # c", "a b c"),
        ("`*args` and `x`", "args and x"),
    ],
)
def test_fold_undoes_setting_and_keeps_words(text: str, folded: str) -> None:
    assert fold(text).text == folded


def test_a_ligature_maps_both_letters_to_its_one_place() -> None:
    # "oﬃce": o 0, ﬃ 1, c 2, e 3; folded o f f i c e
    assert fold("oﬃce").starts == (0, 1, 1, 1, 2, 3)
    assert fold("oﬃce").ends == (1, 2, 2, 2, 3, 4)


WIDTHLESS = ["\u00ad", "\u200b", "\u200c", "\u200d", "\u200e", "\u202c", "\u2060", "\u2069", "\ufeff"]


@pytest.mark.parametrize("character", WIDTHLESS)
def test_what_has_no_width_is_no_part_of_a_word(character: str) -> None:
    text = f"The of{character}fice{character} {character}pol{character}icy {character}- is new."
    assert words(text) == words("The office policy - is new.")
    assert stems(text) == ["offic", "polici", "new"]
    assert fold(text).text == "The office policy is new."
    found = f"of{character}fice{character} {character}pol{character}icy"
    assert [text[a:b] for a, b in find_all(text, "office policy")] == [found]
    assert [text[a:b].replace(character, "") for a, b in word_places(text)] == ["The", "office", "policy", "is", "new"]
    assert nearest(text, "office policy") == found
    assert same_title(text, "the office policy - is new.")


@given(st.lists(st.text("aé1 .*_`#>|-\\“–…ﬁ\u0301\n", max_size=3), max_size=20), st.sampled_from(WIDTHLESS))
def test_wherever_it_stands_words_and_folding_are_as_without_it(parts: list[str], character: str) -> None:
    with_it, without = character.join(parts), "".join(parts)
    assert words(with_it) == words(without)
    folded = fold(with_it)
    assert folded.text == fold(without).text
    places = zip(folded.text, folded.starts, folded.ends, strict=True)
    assert all(with_it[start:end] == "a" for piece, start, end in places if piece == "a")


TEXT = st.text("ab1 .*_`#>|-\\\n“”–…ﬁ\u00a0\u00ad\u200be\u0301", max_size=60)


@given(TEXT)
def test_folded_characters_map_to_rising_places_in_the_source(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert list(folded.starts) == sorted(folded.starts)
    assert all(0 <= a < b <= len(text) for a, b in zip(folded.starts, folded.ends, strict=True))


@given(TEXT)
def test_a_folded_text_has_single_blanks_and_none_at_its_ends(text: str) -> None:
    assert fold(text).text == " ".join(fold(text).text.split())


@given(TEXT, TEXT, TEXT)
def test_a_line_is_found_where_it_stands(before: str, line: str, after: str) -> None:
    text = f"{before}\n{line}\n{after}"
    start = len(before) + 1
    places = find_all(text, line)
    if fold(line).text:
        assert any(start <= a and b <= start + len(line) for a, b in places)
    else:
        assert places == []


def test_every_place_is_found_in_source_characters() -> None:
    text = "# Sick\nYou get 10 days.\n# Study\nYou get 10 days.\n"
    # "# Sick\n" is 7 characters, "You get " 8: the first stands at 15, the second 25 later ("10 days.\n# Study\nYou get ")
    assert find_all(text, "10 days") == [(15, 22), (40, 47)]


def test_only_whole_words_are_found_in_scripts_that_part_them_by_blanks() -> None:
    assert find_all("110 days or 10 days", "10 days") == [(12, 19)]
    assert find_all("You get 25 days", "5 days") == []
    assert find_all("leaves", "leave") == []
    assert find_all("休暇は二十五日です", "二十五日") == [(3, 7)]


def test_marks_and_typography_between_are_covered() -> None:
    text = "You get **25 days**\nof “paid” leave."
    assert [text[a:b] for a, b in find_all(text, '25 days of "paid" leave')] == ["25 days**\nof “paid” leave"]
    assert find_all("- A\\|B | 25", "A|B | 25") == find_all("- A\\|B | 25", "A\\|B | 25") == [(2, 11)]
    assert find_all("x 5*3 y", "5*3") == [(2, 5)]
    assert find_all("x 5*3 y", "53") == []


def test_a_folded_text_can_be_searched_again() -> None:
    folded = fold("a b a")
    assert find_all(folded, "a") == [(0, 1), (4, 5)]


def test_places_that_overlap_are_all_found():
    assert find_all("ab ab ab ab", "ab ab") == [(0, 5), (3, 8), (6, 11)]
    assert find_all("aab aab aaba", "aab aab") == [(0, 7)]
    assert find_all("55 5 5", "5 5") == [(3, 6)]


@given(st.text("ab ", max_size=40), st.text("ab", min_size=1, max_size=6).map(" ".join))
def test_places_are_those_of_a_plain_search(text: str, evidence: str) -> None:
    folded = fold(text).text
    pattern = rf"(?<!\w)(?={re.escape(evidence)}(?!\w))"
    assert [start for start, _ in find_all(folded, evidence)] == [
        match.start() for match in re.finditer(pattern, folded)
    ]


@given(st.text("ae\u0301\u0323\u0327\u0344 x\u2500", max_size=100))
def test_normal_form_c_but_for_joiners_in_long_runs_of_marks(text: str) -> None:
    assert nfc(text).replace("\u034f", "") == nfc(text) or len(text) > 30
    assert nfc(nfc(text)) == nfc(text)
    if len(text) <= 30:
        assert nfc(text) == unicodedata.normalize("NFC", text)


def test_a_long_run_of_marks_is_parted_and_one_of_signs_is_not():
    assert nfc("a" + "\u0301" * 70).count("\u034f") == 2
    assert nfc("\u2500" * 70) == "\u2500" * 70


def test_evidence_without_a_sign_is_found_nowhere() -> None:
    assert find_all("a * b", " * ") == []


def test_nearest_is_the_passage_that_shares_most_words() -> None:
    text = "Leave is 25 days a year. Sick pay lasts ten weeks. Pay is monthly."
    assert nearest(text, "sick pay lasts 10 weeks") == "Sick pay lasts ten weeks"
    assert nearest(text, "zebra") == ""
    assert nearest("", "zebra") == ""
    assert nearest("short", "short and much longer evidence") == "short"


def test_text_keeps_all_that_can_be_seen():
    assert visible("tab\tline\n é 🎉 כמה \u200f") == "tab\tline\n é 🎉 כמה \u200f"
    assert visible("\x00\x08\x0b\x1f\x7f\x80\x9f\ud800\ufffe") == "\ufffd" * 9
    assert visible("a\u202eb\u2066c\u2069", "") == "abc"


def test_titles_are_the_same_whatever_their_case_and_blanks():
    assert same_title("Sweden page", " Sweden\n Page")
    assert not same_title("Sweden page", "Sweden")


def test_one_thing_and_more():
    assert [plural(n, "page") for n in (0, 1, 2)] == ["0 pages", "1 page", "2 pages"]
