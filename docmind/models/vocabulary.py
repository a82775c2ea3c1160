"""How much of a text a model's vocabulary can read. It is measured on the text itself, and knows no languages."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from docmind.protocols import Tokenizer

MOST_UNREAD = 0.1
"""The share of letters above which it is told. Of English it is under 1 %, of German and French 8 %, of Polish and Turkish 18 %,
of Greek, Russian, Arabic, Japanese and Chinese 88 % and more."""

_WORD = re.compile(r"[^\W\d_]+")
_log = logging.getLogger(__name__)


def warn_if_unread(texts: Iterable[str], tokenizer: Tokenizer) -> None:
    """Logs a warning where the share of letters that `tokenizer` does not read as part of a word is above MOST_UNREAD: those
    of no token that it knows, and those of a longer word that are tokens by themselves."""
    found = Counter(word for text in texts for word in _WORD.findall(text))
    every: Counter[str] = Counter()
    unread: Counter[str] = Counter()
    for (word, n), positions in zip(found.items(), tokenizer.unread(list(found)), strict=True):
        for position, letter in enumerate(word):
            script = unicodedata.name(letter, "?").partition(" ")[0].title()
            every[script] += n
            unread[script] += n * (position in positions)
    if unread.total() > MOST_UNREAD * every.total():
        shares = ", ".join(f"{script} {unread[script] / n:.0%}" for script, n in every.most_common() if unread[script])
        _log.warning(
            "%s of the letters in the documents are not read as words by the model: its vocabulary lacks them, or has them one "
            "by one (%s). A score on these documents says little of the strategies.",
            f"{unread.total() / every.total():.0%}",
            shares,
        )
