from __future__ import annotations

import pytest

from docmind.chunking.fixed import Fixed
from docmind.errors import UsageError
from docmind.retrieval.strategies import chunker
from docmind.types import Document


def bodies(text, embedder, size, overlap):
    return [chunk.body for chunk in Fixed(embedder, size, overlap).split(Document("d", "d", text)).chunks]


def test_windows_share_the_overlap(hash_embedder):
    # Twelve words of a token each: windows of 5 that share 2 start at word 0, 3, 6 and 9.
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    expected = [" ".join(words[i : i + 5]) for i in (0, 3, 6)] + [" ".join(words[9:])]
    assert bodies(" ".join(words), hash_embedder, 5, 2) == expected


def test_neither_end_stands_inside_a_word(hash_embedder):
    # "1,480" has three tokens, "C07" has three.
    assert hash_embedder.tokenizer.count("1,480") == 3
    words = ("1,480 C07 unbelievably reimbursable " * 40).split()
    for body in bodies(" ".join(words), hash_embedder, 10, 4):
        assert set(body.split()) <= set(words)


def test_a_word_longer_than_a_window_is_cut_and_nothing_is_lost(hash_embedder):
    text = "a b c " + "x-" * 20 + " d e f"
    found = bodies(text, hash_embedder, 8, 2)
    assert all(hash_embedder.tokenizer.count(body) <= 8 for body in found)
    assert found[0] == "a b c"
    assert found[-1].endswith("d e f")


def test_text_without_blanks_is_cut_between_tokens(hash_embedder):
    assert bodies("一二三四五六七八九", hash_embedder, 4, 1) == ["一二三四", "四五六七", "七八九"]


def test_white_space_inside_is_the_sources_own(hash_embedder):
    assert bodies("one\n\n- two\tthree", hash_embedder, 10, 0) == ["one\n\n- two\tthree"]


@pytest.mark.parametrize("overlap", [100, 101])
def test_windows_cannot_share_all_that_they_hold(overlap):
    with pytest.raises(UsageError, match=f"size=100 stands with overlap={overlap}; expected: an overlap that is less"):
        chunker(f"fixed(size=100,overlap={overlap})")
    assert dict(chunker("fixed(size=100,overlap=99)").values) == {"size": 100, "overlap": 99}
