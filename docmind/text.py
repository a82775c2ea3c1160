"""Plain text: words for lexical search, and finding a quotation in spite of typography. It knows no Markdown structure.

What has no width is no part of a word anywhere: words, quotations and the models' tokens are all read without it.

Positions are characters of the text that was passed in, half-open.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

_FUNCTION_WORDS = """
    a about all am an and any are as at be because been before being both but by can could d did do does doing during
    each few for from further had has have having he her here hers him his how i if in into is its just ll m me might
    more most my no nor not of off on once only or other our ours out over own re s same shall she should so some such
    t than that the their theirs them then there these they this those through to too under until up ve very was we
    were what when where which while who whom whose why will with would you your yours
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
"""English function words, and what an apostrophe leaves of them. Not "it", "us" and "may": case-folded, they are also
a department, a country and a month."""

_WIDTHLESS = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
WIDTHLESS = re.compile(f"[{_WIDTHLESS}]")
"""A character that takes no room: a soft hyphen (U+00AD, &shy;), blanks and joiners of no width, marks of direction. A page
that was set for print or the web has them in the middle of words."""
MOST_MARKS = 30
"""Of combining marks one after another. Unicode's stream-safe format has that limit too: sorting more takes quadratic time."""
_JOINER = "\u034f"
"""The combining grapheme joiner, which is not sorted and not seen."""
_MAYBE_MARKS = re.compile(rf"[^\x00-\u02ff\w\s{_JOINER}]{{{MOST_MARKS + 1},}}")


def nfc(text: str) -> str:
    """`text` in Unicode's normal form C, in linear time: a run of more than MOST_MARKS combining marks is parted by joiners
    (UAX #15, stream-safe text format)."""
    return unicodedata.normalize("NFC", _MAYBE_MARKS.sub(_parted, text))


def _parted(run: re.Match[str]) -> str:
    out = []
    marks = 0
    for character in run[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks > MOST_MARKS:
            out.append(_JOINER)
            marks = 1
        out.append(character)
    return "".join(out)


_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_PLACE = re.compile(rf"[^\W_]+(?:[_{_WIDTHLESS}]+[^\W_]+)*")


def readable(text: str) -> str:
    """`text` without the characters of no width: what words, quotations and tokens are made from."""
    return WIDTHLESS.sub("", text)


def words(text: str) -> list[str]:
    """The words of `text` in order, NFKC and case-folded. `snake_case` is one word; `_emphasis_` loses its marks."""
    return _WORD.findall(unicodedata.normalize("NFKC", nfc(readable(text))).casefold())


def word_places(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Where the words of `text` stand between `start` and `end`, rising."""
    return (match.span() for match in _PLACE.finditer(text, start, len(text) if end is None else end))


_CITED = r"\d+(?:\s*[-‐‑–—]\s*\d+)?"
CITATION = re.compile(rf"[\[【［]\s*({_CITED}(?:\s*[,;]\s*{_CITED})*)\s*(?:†[^\[\]【】\n]*)?[\]】］]")
"""Passages that are cited by number, which stand in its group: "[1]", "[1, 2]", "[ 1 ]", "[1-3]", "【1】", "【1†source】". A
date, "[2026-01-31]", is none."""


_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def visible(text: str, instead: str = "\N{REPLACEMENT CHARACTER}") -> str:
    """`text` with `instead` for each character that XML, browsers or terminals refuse or take for an order, and for those
    that turn the direction of what follows, which right-to-left letters do not need."""
    return _UNSEEN.sub(instead, text)


def plural(n: int, thing: str) -> str:
    """(1, "question") as "1 question", (2, "question") as "2 questions"."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def same_title(one: str, other: str) -> bool:
    """Whether two titles differ in case and white space alone."""
    return readable(one).casefold().split() == readable(other).casefold().split()


def stems(text: str) -> list[str]:
    """The words of `text` without STOP_WORDS, stemmed by Snowball's English stemmer (Porter2).

    A text of stop words alone gives the stems of all its words, so that there is something to search with.
    """
    found = words(text)
    telling = [word for word in found if word not in STOP_WORDS]
    return _stem_words()(telling or found)


@cache
def _stem_words() -> Callable[[list[str]], list[str]]:
    import Stemmer

    stem: Callable[[list[str]], list[str]] = Stemmer.Stemmer("english").stemWords
    return stem


@dataclass(frozen=True, slots=True)
class Folded:
    """`text` as it is compared. Its character i stands for the source's `starts[i]` to `ends[i]`."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


_UNSEEN_MARKS = re.compile(rf"`+|\\(?=[{_WIDTHLESS}]*+[!-/:-@\[-`{{-~])|[{_WIDTHLESS}]+")
"""Backticks, the backslash of an escape, and characters of no width. Their neighbours are next to each other."""
_LETTER = r"[^\W_]"
_TYPOGRAPHY: dict[int, str] = {
    **dict.fromkeys(map(ord, "‘’‚‛′"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″«»"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    ord("…"): "...",
    **{code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)},
}
_FOLDING = re.compile(
    rf"""
      (?P<blank> \s+ )
    | (?P<mark>
        (?<!\S) [-–—+*_>#|:~]+ (?!\S)  # alone between blanks: bullet, heading, quote, table border, rule
      | (?<![*_]) (?: (?<!{_LETTER}) [*_]++ | [*_]++ (?!{_LETTER}) )  # emphasis, unless inside a word: snake_case, 5*3
      )
    | (?P<typographic> [{"".join(map(chr, _TYPOGRAPHY))}] )
    | (?P<composed> \w [\u0300-\u036f]+ )
    """,
    re.VERBOSE,
)
_FOLDED: dict[str, Callable[[str], str]] = {
    "blank": lambda _: " ",
    "mark": lambda _: "",
    "typographic": lambda character: _TYPOGRAPHY[ord(character)],
    "composed": nfc,
}


def fold(text: str) -> Folded:
    """`text` with differences of setting undone; case, letters and digits are kept.

    Runs of white space become one blank, none at the ends. Quotes, dashes, ellipses and ligatures get their ASCII
    form, letters with combining marks their composed one (NFC). Characters of no width, backticks, emphasis, escaping
    backslashes and marks that stand alone between blanks are dropped, wherever in the line they stand, since a quotation
    may be wrapped otherwise than its source. Numbers of lists are kept.
    """
    plain, at = _without(_UNSEEN_MARKS, text)
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    after_blank = True
    for match in _FOLDING.finditer(plain):
        start, end = match.span()
        out.append(plain[done:start])
        starts.extend(range(done, start))
        ends.extend(range(done + 1, start + 1))
        after_blank = after_blank and done == start
        piece = _FOLDED[match.lastgroup or ""](match[0])
        if piece and not (after_blank and piece == " "):
            out.append(piece)
            starts.extend([start] * len(piece))
            ends.extend([end] * len(piece))
            after_blank = piece == " "
        done = end
    out.append(plain[done:])
    starts.extend(range(done, len(plain)))
    ends.extend(range(done + 1, len(plain) + 1))
    folded = "".join(out)
    kept = len(folded.rstrip(" "))
    return Folded(
        folded[:kept], tuple(at[start] for start in starts[:kept]), tuple(at[end - 1] + 1 for end in ends[:kept])
    )


def _without(unseen: re.Pattern[str], text: str) -> tuple[str, Sequence[int]]:
    """`text` without what `unseen` matches, and where each character of the rest stands."""
    parts = []
    at: list[int] = []
    done = 0
    for match in unseen.finditer(text):
        parts.append(text[done : match.start()])
        at.extend(range(done, match.start()))
        done = match.end()
    parts.append(text[done:])
    at.extend(range(done, len(text)))
    return "".join(parts), at


UNPARTED = "\u0e00"
"""From this character on (Thai, Chinese, Japanese and others) words are commonly written without blanks between them."""


def find_all(text: Folded | str, evidence: str) -> list[tuple[int, int]]:
    """Every place of `evidence` in `text`, rising, both folded. Fold a text once where much is looked up in it.

    Only places bounded by word borders count: "10 days" does not stand in "110 days".
    Evidence without a letter, digit or sign to compare is found nowhere.
    """
    folded = fold(text) if isinstance(text, str) else text
    wanted = fold(evidence).text
    if not wanted:
        return []
    bounded = [i for i in _places(folded.text, wanted) if _bounded(folded.text, i, i + len(wanted))]
    return [(folded.starts[i], folded.ends[i + len(wanted) - 1]) for i in bounded]


def _places(text: str, wanted: str) -> Iterator[int]:
    """Every place of `wanted` in `text`, overlapping ones too, in linear time.

    Where two overlap, they are apart by a period of `wanted`: by its smallest, or by more than what is left of its length
    (Fine and Wilf). So a search begins anew only behind that, and what repeats itself is not compared again as a whole.
    """
    length = len(wanted)
    period = 0
    at = text.find(wanted)
    while at >= 0:
        yield at
        period = period or _period(wanted)
        while text.startswith(wanted[length - period :], at + length):
            at += period
            yield at
        at = text.find(wanted, at + max(1, length - period + 1))


def _period(word: str) -> int:
    """The smallest distance at which `word` can be laid over itself (by the failure function of Knuth, Morris and Pratt)."""
    borders = [0] * len(word)
    border = 0
    for i in range(1, len(word)):
        while border and word[i] != word[border]:
            border = borders[border - 1]
        border += word[i] == word[border]
        borders[i] = border
    return len(word) - border


def _bounded(text: str, start: int, end: int) -> bool:
    """Whether neither border of the range cuts a word in two, in the scripts that part words by blanks."""
    borders = (text[border - 1 : border + 1] for border in (start, end) if 0 < border < len(text))
    return not any(pair.isalnum() and max(pair) < UNPARTED for pair in borders)


def nearest(text: str, evidence: str) -> str:
    """The passage of `text`, about as long as `evidence`, that shares most words with it; "" where none is shared.

    Words count as often as they occur in both (a bag of words slid over the text, in linear time).
    """
    wanted = Counter(words(evidence))
    length = wanted.total()
    places = [(place, word) for place in word_places(text) for word in words(text[slice(*place)])]
    held: Counter[str] = Counter()
    shared = best = last = 0
    for i, (_, word) in enumerate(places):
        held[word] += 1
        shared += held[word] <= wanted[word]
        if i >= length:
            left = places[i - length][1]
            shared -= held[left] <= wanted[left]
            held[left] -= 1
        if shared > best:
            best, last = shared, i
    if not best:
        return ""
    return text[places[max(0, last - length + 1)][0][0] : places[last][0][1]]
