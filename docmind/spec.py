"""How a strategy is written: `chunker(size=300)+mode(inner(depth=50),depth=20)`. Which parts there are is not known here.

    spec  = call "+" call                      the chunker's brackets hold parameters alone
    call  = name ["(" [inner] [values] ")"]    inner modes stand first and by position, parameters by name after them
    inner = call {"," call}
    value = name "=" scalar {":" scalar}       a list has colons: weights=2:1

Blanks may stand around every sign. `str` of what is parsed is the same text without them.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from docmind.errors import UsageError

EXAMPLE = "headers(size=300)+rerank(depth=100)"
"""What every message of a mistake ends with."""

LONGEST = 1_000
"""Characters of a spec."""

DEEPEST = 16
"""Brackets in brackets."""

SLUG = 80
"""Characters that a slug has at most."""

_BLANKS = re.compile(r"[ \t\r\n]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SCALAR = re.compile(r"[^\s(),=:]+")


@dataclass(frozen=True, slots=True)
class Call:
    """A part as it is written: its name, and in brackets inner parts and values by name, each still text."""

    name: str
    inner: tuple[Call, ...] = ()
    values: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        held = ",".join([*map(str, self.inner), *(f"{name}={value}" for name, value in self.values)])
        return f"{self.name}({held})" if held else self.name


@dataclass(frozen=True, slots=True)
class Spec:
    """A strategy as it is written. The chunker has no inner parts."""

    chunker: Call
    mode: Call

    def __str__(self) -> str:
        return f"{self.chunker}+{self.mode}"


def parse(text: str) -> Spec:
    """The strategy that `text` writes. Raises UsageError, which says where the text goes wrong, for anything else."""
    reader = _Reader(text, "strategy", EXAMPLE)
    chunker = reader.call(composed=False)
    if not reader.take("+"):
        raise reader.fault("'+' and a mode are expected" if reader.ended else "a sign stands where '+' is expected")
    mode = reader.call(composed=True)
    if reader.take("+"):
        raise reader.fault("a second '+' stands; one is expected, between chunker and mode")
    reader.end()
    return Spec(chunker, mode)


def parse_call(text: str, *, composed: bool) -> Call:
    """The one part that `text` writes; only where it is `composed` may it hold inner parts. Raises UsageError."""
    reader = _Reader(text, "part", "rerank(hybrid,depth=100)" if composed else "headers(size=300)")
    found = reader.call(composed=composed)
    reader.end()
    return found


def names(text: str) -> tuple[str, ...]:
    """The parts of a list between its commas, those in brackets aside: trimmed, and without empty ones."""
    found, depth, start = [], 0, 0
    for sign in re.finditer(r"[(),]", text):
        if sign[0] == "(":
            depth += 1
        elif sign[0] == ")":
            depth = max(0, depth - 1)
        elif depth == 0:
            found.append(text[start : sign.start()])
            start = sign.end()
    found.append(text[start:])
    return tuple(name.strip() for name in found if name.strip())


def slug(name: str) -> str:
    """`name` for the name of a file: as it is where it has no brackets, else readable and with a hash of the whole; SLUG
    characters at most, of a-z, 0-9, "_", "+", "." and "-"."""
    plain = re.sub(r"[^a-z0-9_+.-]+", "-", name.lower()).strip("-.")
    if plain == name and len(name) <= SLUG:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{plain[: SLUG - len(digest) - 1].rstrip('-.')}-{digest}"


class _Reader:
    """Reads a text once from left to right; `what` it is, and an `example` of one, are told in its faults."""

    def __init__(self, text: str, what: str, example: str) -> None:
        self._text = text
        self._what = what
        self._example = example
        self._at = 0
        if len(text) > LONGEST:
            self._at = LONGEST
            raise self.fault(f"{len(text):,} characters stand; {LONGEST:,} are read at most")

    @property
    def ended(self) -> bool:
        """Whether nothing is left but blanks."""
        self._skip(_BLANKS)
        return self._at == len(self._text)

    def take(self, sign: str) -> bool:
        """Whether `sign` is next; then it is read."""
        there = not self.ended and self._text[self._at] == sign
        self._at += there
        return there

    def end(self) -> None:
        """Raise UsageError where something is left."""
        if not self.ended:
            raise self.fault(f"{self._text[self._at]!r} stands where nothing more is expected")

    def call(self, *, composed: bool, depth: int = 0) -> Call:
        """A name, and its brackets if there are any."""
        name = self._name("a name is expected")
        return self._held(name, composed, depth + 1) if self.take("(") else Call(name)

    def fault(self, told: str) -> UsageError:
        """An error at the place where the reader is."""
        text, before = self._text, self._text[: self._at]
        shown = repr(text if len(text) <= 200 else f"{text[:199]}…")
        if len(before) > 40:
            before = f"…{before[-39:]}"
        place = f"after {before!r}" if before else "at its start"
        return UsageError(f"{self._what} {shown}, {place}: {told}. Right would be {self._example}.")

    def _held(self, name: str, composed: bool, depth: int) -> Call:
        """What stands in the brackets of `name`, the first of which is read."""
        if depth > DEEPEST:
            raise self.fault(f"brackets stand more than {DEEPEST} deep")
        inner: list[Call] = []
        values: dict[str, str] = {}
        if self.take(")"):
            return Call(name)
        while True:
            start = self._at
            if self.ended:
                raise self.fault(f"the bracket behind {name!r} is not closed")
            word = self._name("a mode or a parameter is expected" if composed else "a parameter is expected")
            if self.take("="):
                if word in values:
                    raise self.fault(f"{word!r} stands twice in the brackets of {name!r}")
                values[word] = self._value(word)
            else:
                inner.append(self._inner(word, name, composed, bool(values), start, depth))
            if self.take(")"):
                return Call(name, tuple(inner), tuple(values.items()))
            if not self.take(","):
                told = f"the bracket behind {name!r} is not closed" if self.ended else "',' or ')' is expected"
                raise self.fault(told)

    def _inner(self, word: str, name: str, composed: bool, behind: bool, start: int, depth: int) -> Call:
        """The inner part `word`, whose name began at `start`; `behind` a parameter none may stand."""
        if not composed:
            self._at = start
            raise self.fault(f"{word!r} has no value, and {name!r} holds no modes; write {word}=…")
        if behind:
            self._at = start
            raise self.fault(
                f"{word!r} stands behind a parameter; modes come first, and a parameter is written {word}=…"
            )
        return self._held(word, composed, depth + 1) if self.take("(") else Call(word)

    def _name(self, told: str) -> str:
        self._skip(_BLANKS)
        found = _NAME.match(self._text, self._at)
        if not found:
            there = "" if self.ended else f", and {self._text[self._at]!r} stands there"
            raise self.fault(f"{told}: letters, digits and _{there}")
        self._at = found.end()
        return found[0]

    def _value(self, name: str) -> str:
        found: list[str] = []
        while True:
            self._skip(_BLANKS)
            start = self._at
            self._skip(_SCALAR)
            if self._at == start:
                raise self.fault(
                    f"{name!r} has no value" if not found else f"a value of {name!r} is missing behind ':'"
                )
            found.append(self._text[start : self._at])
            if not self.take(":"):
                return ":".join(found)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found else self._at
