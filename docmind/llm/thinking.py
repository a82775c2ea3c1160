"""Parts what a model thinks aloud from what it says, where both come as one text. It judges neither."""

from __future__ import annotations

import re

_NAMES = "think|thinking|thought|reasoning"
_MARK = re.compile(rf"<(?P<end>/?)(?:{_NAMES})>|\[(?P<END>/?)THINK\]", re.IGNORECASE)
_BEGUN = re.compile(r"[<\[][/a-z]{0,10}\Z", re.IGNORECASE)
"""What may become a mark when more has come."""


class Thinking:
    """Takes a text piece by piece. `<think>…</think>` is thought, under any of its names, as is all that stands before a
    `</think>` that nothing opened, which some servers leave of it, and what follows an opened one that is never closed."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        self._said: list[str] = []
        self._thought: list[str] = []

    def more(self, piece: str) -> str:
        """Take the next piece; what of it, and of what was held back, is known to be said."""
        self._held += piece
        begun = _BEGUN.search(self._held)
        return self._take(begun.start() if begun else len(self._held))

    def rest(self) -> str:
        """What was held back and is said, at the end of the text."""
        return self._take(len(self._held))

    @property
    def said(self) -> str:
        """All that is said, so far."""
        return "".join(self._said)

    @property
    def thought(self) -> str:
        """All that is thought, so far, without white space around it."""
        return "".join(self._thought).strip()

    def _take(self, end: int) -> str:
        before, at = len(self._said), 0
        for mark in _MARK.finditer(self._held, 0, end):
            self._part(self._held[at : mark.start()])
            closing = bool(mark["end"] or mark["END"])
            if closing and not self._inside:
                self._thought += self._said
                self._said.clear()
                before = 0
            self._inside = not closing
            at = mark.end()
        self._part(self._held[at:end])
        self._held = self._held[end:]
        return "".join(self._said[before:])

    def _part(self, text: str) -> None:
        if self._inside:
            self._thought.append(text)
        elif text := (text if self._said or not self._thought else text.lstrip()):
            self._said.append(text)
