from __future__ import annotations

from docmind.chunking.cap import cap, capped
from docmind.types import Document, Span


def cut(text, limit, tokenizer, prefix=""):
    return [text[s.start : s.end] for s in cap(text, Span("d", 0, len(text)), limit, tokenizer, prefix)]


def test_what_fits_stays_whole_and_is_trimmed(tokenizer):
    assert cut("\n\n  one two\n", 2, tokenizer) == ["  one two"]


def test_what_is_blank_gives_nothing(tokenizer):
    assert cut(" \n ", 2, tokenizer) == []


def test_the_cut_comes_at_a_paragraph_before_a_line_before_a_sentence_before_a_word(tokenizer):
    # Nine tokens, limit 6: the cut lies behind token 3 to 6.
    assert cut("a b c\nd\n\ne f\ng h i", 6, tokenizer) == ["a b c\nd", "e f\ng h i"]
    assert cut("a b c\nd. e f g h", 6, tokenizer) == ["a b c", "d. e f g h"]
    assert cut("a b c. d e f g h", 6, tokenizer) == ["a b c.", "d e f g h"]
    assert cut("a b c d e f g h", 6, tokenizer) == ["a b c d e f", "g h"]


def test_a_run_without_blanks_is_cut_between_characters(tokenizer):
    assert cut("漢字漢字漢", 2, tokenizer) == ["漢字", "漢字", "漢"]


def test_the_prefix_is_counted(tokenizer):
    # Two tokens of prefix leave four for the body.
    assert cut("a b c d e f", 6, tokenizer, prefix="x y\n\n") == ["a b c d", "e f"]


def test_a_cut_inside_a_word_is_counted_again(tokenizer):
    text = "ab" * 500  # one [UNK] as a whole, counted as ten; pieces of up to 100 characters have many real tokens
    pieces = cut(text, 7, tokenizer)
    assert "".join(pieces) == text
    assert len(pieces) >= 2
    assert all(tokenizer.count(piece) <= 7 for piece in pieces)


def test_pieces_that_another_chunk_covers_are_left_out(tokenizer):
    document = Document("d", "d", "one two three four")
    spans = [Span("d", 0, 7), Span("d", 4, 7), Span("d", 0, 3), Span("d", 4, 18), Span("d", 4, 18)]
    assert [chunk.body for chunk in capped(document, spans, tokenizer)] == ["one two", "two three four"]
