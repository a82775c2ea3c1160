"""Keeps what stands apart on a page from being read as one word or number where the markup in between is removed."""

from __future__ import annotations

import re

APART = "\ufdd1"
"""Stands where words on both sides are apart, whatever they are. Never in a text, as LOOSE is not."""
LOOSE = "\ufdd2"
"""Stands where letters on both sides may be one word (`{{< term >}}pod{{< /term >}}s`), and figures are none. Two of them
are one end and one beginning, and so APART."""

_GAP = re.compile(rf"(?<=[^\W_]|[.!?])([{APART}{LOOSE}]++)(?=([^\W_]))|[{APART}{LOOSE}]++")


def filled(text: str) -> str:
    """`text` with a blank for each gap between letters, figures and the end of a sentence that are apart, and with no other
    mark of one."""
    return _GAP.sub(_blank, text)


def _blank(gap: re.Match[str]) -> str:
    if not gap[2]:
        return ""
    before = gap.string[gap.start() - 1]
    joined = gap[1] == LOOSE and ((before.isalpha() and gap[2].isalpha()) or not before.isalnum())
    return "" if joined else " "


def around(said: str) -> str:
    """What a mark without content says, with gaps: its plural may follow, and no word goes before it."""
    return f"{APART}{said}{LOOSE}" if said else LOOSE
