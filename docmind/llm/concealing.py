"""Takes secrets out of text that a server sends, however it writes them. It knows no account."""

from __future__ import annotations

import base64
import html.entities
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

MARK = "[key]"
"""Stands in the place of a secret."""

LONG = 16
"""Characters from which on a key is looked for in any spelling, and in answers too. A shorter one may be a word ("none",
"changeme") that a server of one's own takes for a key: an answer may well hold it."""

BEGUN = 4
"""Characters of a secret from which on the end of a piece is kept back: any word has its first one or two."""

KEPT = 32
"""Characters of what was given that are looked at again, for a secret that begins there."""

_PART = re.compile(
    r"""
      \\++ (?: u (?P<json>[0-9a-f]{4}) | [nrt] )?     # an escape of JSON, also of JSON within JSON
    | % (?P<address>[0-9a-f]{2})
    | & (?: \# x 0* (?P<hex>[0-9a-f]{1,6}) | \# 0* (?P<decimal>[0-9]{1,7}) | (?P<name>[a-z]{2,8}) ) ;
    | (?P<break> [\s\u00ad\u200b-\u200d\u2060\ufeff] )
    | (?P<plain> . )
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_UNFINISHED = re.compile(r"(?:(?<!\\)\\++(?:u[0-9a-f]{0,3})?|%[0-9a-f]?|&[#\w]{0,9})\Z", re.IGNORECASE)
"""What may be the beginning of an escape, where text ends for now."""

_BASE64 = re.compile(r"[A-Za-z0-9+/_=-]*")


@dataclass(frozen=True, slots=True)
class _Folded:
    """Text without escapes; its character i stands for the source's `starts[i]` to `ends[i]`. Loosely, also without breaks and
    capitals."""

    text: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, text: str, *, loosely: bool) -> _Folded:
        letters, starts, ends = [], [], []
        for part in _PART.finditer(text):
            letter = _letter(part, loosely=loosely)
            if letter:
                letters.append(letter)
                starts.append(part.start())
                ends.append(part.end())
        return cls("".join(letters), starts, ends)


def conceal(text: str, secrets: Iterable[str]) -> str:
    """`text` with MARK for each of `secrets`, which are ASCII: as it is or as JSON, an address or HTML escapes it. One of LONG
    characters or more also in other cases, with white space in it, or within something in base64."""
    for secret in secrets:
        loosely = len(secret) >= LONG
        folded = _Folded.of(text, loosely=loosely)
        places = [
            _place(text, folded, at, at + len(spelling), whole=number > 0)
            for number, spelling in enumerate(_spellings(secret, loosely=loosely))
            for at in _all(folded.text, spelling)
        ]
        for start, end in reversed(_united(places)):
            text = text[:start] + MARK + text[end:]
    return text


class Concealing:
    """Text that comes in pieces, cut anywhere, from which `secrets` are taken out: `emit` gets what is no part of one, but for
    the first characters, fewer than BEGUN."""

    def __init__(self, emit: Callable[[str], object], secrets: Iterable[str]) -> None:
        self._emit = emit
        self._secrets = tuple(secrets)
        self._given = ""
        self._held = ""

    def write(self, piece: str) -> None:
        """Take in `piece`; its end may be kept back until it is known how it goes on."""
        whole = conceal(self._given + self._held + piece, self._secrets)
        same = takewhile(lambda pair: pair[0] == pair[1], zip(whole, self._given, strict=False))
        given = len(list(same))  # a secret may have begun within what was given
        safe = min((_safe(whole, secret) for secret in self._secrets), default=len(whole))
        self._let_go(whole[given : max(given, safe)], whole[max(given, safe) :])

    def end(self) -> None:
        """Give what was kept back."""
        self._let_go(self._held, "")

    def _let_go(self, free: str, held: str) -> None:
        self._held = held
        self._given = (self._given + free)[-KEPT:]
        if free:
            self._emit(free)


def _letter(part: re.Match[str], *, loosely: bool) -> str:
    """The character that is meant, or none."""
    found = part.groupdict()
    for group, radix in (("json", 16), ("address", 16), ("hex", 16), ("decimal", 10)):
        if found[group]:
            code = int(found[group], radix)
            letter = chr(code) if code <= 0x10FFFF else ""
            break
    else:
        name = found["name"]
        letter = html.entities.html5.get(f"{name};", "") if name else found["plain"] or found["break"] or ""
    if loosely and (found["break"] or letter.isspace()):
        return ""
    return letter.lower() if loosely and letter.isascii() else letter[:1]


@cache
def _spellings(secret: str, *, loosely: bool) -> tuple[str, ...]:
    """How a folded text may hold it: itself and, loosely, what is the same of its base64 wherever in other data it stands."""
    if not loosely:
        return (secret,)
    found = [secret]
    for before in range(3):
        data = b"\0" * before + secret.encode()
        first, last = -(-before * 8 // 6), len(data) * 8 // 6  # the characters that depend on the secret alone
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            found.append(encode(data).decode()[first:last])
    return tuple(dict.fromkeys(spelling.lower() for spelling in found))


def _all(text: str, wanted: str) -> Iterable[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted))


def _place(text: str, folded: _Folded, start: int, end: int, *, whole: bool) -> tuple[int, int]:
    """Where in `text` the folded characters stand; `whole` with what of base64 stands around them."""
    first, last = folded.starts[start], folded.ends[end - 1]
    if whole:
        before = _BASE64.match(text[:first][::-1])
        after = _BASE64.match(text, last)
        first, last = first - (before.end() if before else 0), after.end() if after else last
    return first, last


def _united(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """`places` rising, those that overlap as one."""
    united: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united


def _safe(text: str, secret: str) -> int:
    """How much of `text` is no beginning of `secret`."""
    unfinished = _UNFINISHED.search(text)
    safe = unfinished.start() if unfinished else len(text)
    loosely = len(secret) >= LONG
    folded = _Folded.of(text[:safe], loosely=loosely)
    begun = (
        size
        for spelling in _spellings(secret, loosely=loosely)
        for size in range(min(len(spelling) - 1, len(folded.text)), BEGUN - 1, -1)
        if folded.text.endswith(spelling[:size])
    )
    longest = max(begun, default=0)
    return folded.starts[-longest] if longest else safe
