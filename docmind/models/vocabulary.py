"""How much of a text a model's vocabulary can read. It is measured on the text itself, and knows no languages."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from docmind.models.tokenizing import LIMIT
from docmind.protocols import Tokenizer
from docmind.text import plural
from docmind.types import Question

MOST_UNREAD = 0.1
"""The share of letters above which it is told. Of English it is under 1 %, of German and French 8 %, of Polish and Turkish 18 %,
of Greek, Russian, Arabic, Japanese and Chinese 88 % and more."""

TOLD = 5
"""How many questions are named."""

_WORD = re.compile(r"[^\W\d_]+")


def unread_letters(texts: Iterable[str], tokenizer: Tokenizer) -> str:
    """A sentence where the share of letters that `tokenizer` does not read as part of a word is above MOST_UNREAD, else "":
    those of no token that it knows, and those of a longer word that are tokens by themselves."""
    found = Counter(word for text in texts for word in _WORD.findall(text))
    every: Counter[str] = Counter()
    unread: Counter[str] = Counter()
    for (word, n), positions in zip(found.items(), tokenizer.unread(list(found)), strict=True):
        for position, letter in enumerate(word):
            script = unicodedata.name(letter, "?").partition(" ")[0].title()
            every[script] += n
            unread[script] += n * (position in positions)
    if unread.total() <= MOST_UNREAD * every.total():
        return ""
    shares = ", ".join(f"{script} {unread[script] / n:.0%}" for script, n in every.most_common() if unread[script])
    return (
        f"{unread.total() / every.total():.0%} of the letters in the documents are not read as words by the model: its "
        f"vocabulary lacks them, or has them one by one ({shares}). A score on these documents says little of the strategies."
    )


def cut_questions(questions: Iterable[Question], tokenizer: Tokenizer) -> str:
    """A sentence that names the questions of which a model reads the first LIMIT tokens alone, "" where there is none."""
    asked = list(questions)
    counts = tokenizer.counts([question.text for question in asked])
    long = [question.id for question, count in zip(asked, counts, strict=True) if count > LIMIT]
    if not long:
        return ""
    named = ", ".join(long[:TOLD]) + (f" and {len(long) - TOLD} more" if len(long) > TOLD else "")
    return f"Of {plural(len(long), 'question')} the model reads the first {LIMIT} tokens alone: {named}."
