"""A text as the words that a passage is recognised by, and where they stand. It compares none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docmind.text import UNPARTED, WIDTHLESS, nfc, readable, words

_LETTER = "[^\\W_]"
_NUMBER = r"^[ \t>#*+-]*+\d{1,9}[.)](?=\s)"
_PIECE = re.compile(
    rf"{_NUMBER}|({_LETTER}++(?:(?:[\u0300-\u036f]|{WIDTHLESS.pattern})++{_LETTER}++)*+[\u0300-\u036f]*+)", re.MULTILINE
)
"""What stands between blanks and signs, as a group. The underscore is a sign: some systems put a backslash before it in
snake_case, others take it for emphasis. So is the number of a list's item, which a renderer makes and no text of it holds."""
NUMBERED = re.compile(r"(?<!\S)\d{1,9}[.)](?=\s)")
"""What may have been the number of an item, where line breaks are gone."""

_LONE = (
    f"[{UNPARTED}-\u109f\u1780-\u17ff\u1950-\u1aaf\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff66-\uffdc"
    "\U00020000-\U0003ffff]"
)
"""A letter of a script that is written without blanks, or with few: Thai to Burmese, Khmer, Chinese, Japanese, Korean. Not
all that comes behind UNPARTED: Vietnamese and Greek have letters there too."""
_PART = re.compile(rf"{_LONE}|(?:(?!{_LONE}).)+", re.DOTALL)
_ALONE = re.compile(_LONE)

_APART = re.compile(r"[^\w\s]|[\r\n_]")

WORD = 2
LONE = 1
"""What a word weighs, and what a letter that is a word by itself: five such letters in a row say less than five words, and
stand by accident in any large text of their language."""


def pieces(text: str) -> Iterator[tuple[int, str]]:
    """The pieces of `text` that hold words, and where they begin, rising."""
    return ((match.start(1), match[1]) for match in _PIECE.finditer(text) if match[1])


def parts(piece: str) -> list[tuple[str, int, int]]:
    """The words of a piece, NFKC and case-folded, each with the characters of the piece that it is made of."""
    return [(word, part.start(), part.end()) for part in _PART.finditer(piece) for word in words(part[0])]


def wording(text: str) -> list[str]:
    """The words of `text`, as `parts` has them."""
    return [word for word, _ in bounded(text)]


def bounded(text: str) -> Iterator[tuple[str, bool]]:
    """The words of `text`, and whether more than blanks stands before each: a sign, a line break, or the beginning."""
    plain = nfc(readable(text))
    end = 0
    for at, piece in pieces(plain):
        apart = not end or bool(_APART.search(plain, end, at))
        for word, _, _ in parts(piece):
            yield word, apart
            apart = False
        end = at + len(piece)


def weight(word: str) -> int:
    """WORD or LONE."""
    return LONE if _ALONE.fullmatch(word) else WORD
