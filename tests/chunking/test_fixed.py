from __future__ import annotations

from docmind.chunking.fixed import Fixed
from docmind.types import Document


def bodies(text, tokenizer, size, overlap):
    return [chunk.body for chunk in Fixed(tokenizer, size, overlap).split(Document("d", "d", text))]


def test_windows_share_the_overlap(tokenizer):
    # Twelve words of a token each: windows of 5 that share 2 start at word 0, 3, 6 and 9.
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    expected = [" ".join(words[i : i + 5]) for i in (0, 3, 6)] + [" ".join(words[9:])]
    assert bodies(" ".join(words), tokenizer, 5, 2) == expected


def test_neither_end_stands_inside_a_word(tokenizer):
    # "1,480" has three tokens, "C07" has three.
    assert tokenizer.count("1,480") == 3
    words = ("1,480 C07 unbelievably reimbursable " * 40).split()
    for body in bodies(" ".join(words), tokenizer, 10, 4):
        assert set(body.split()) <= set(words)


def test_a_word_longer_than_a_window_is_cut_and_nothing_is_lost(tokenizer):
    text = "a b c " + "x-" * 20 + " d e f"
    found = bodies(text, tokenizer, 8, 2)
    assert all(tokenizer.count(body) <= 8 for body in found)
    assert found[0] == "a b c"
    assert found[-1].endswith("d e f")


def test_text_without_blanks_is_cut_between_tokens(tokenizer):
    assert bodies("一二三四五六七八九", tokenizer, 4, 1) == ["一二三四", "四五六七", "七八九"]


def test_white_space_inside_is_the_sources_own(tokenizer):
    assert bodies("one\n\n- two\tthree", tokenizer, 10, 0) == ["one\n\n- two\tthree"]
