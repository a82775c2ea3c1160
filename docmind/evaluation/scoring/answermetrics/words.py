"""token_f1 and exact_match: how far an answer's words are those of the right one. What it cites is not looked at.

Both are of Rajpurkar et al., SQuAD: 100,000+ Questions for Machine Comprehension of Text (EMNLP 2016), section 6.1, over
their normalised text. An abstention on a question that has an answer has none of its words: 0.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter

from docmind.evaluation.scoring.answermetrics.judged import JudgedAnswer
from docmind.text import CITATION, readable

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalised(text: str) -> str:
    """`text` in lower case, without punctuation, without the words a, an and the, each white space a blank.

    As SQuAD's own script has it, but that citations such as "[1]" are taken out first, and that punctuation is also what
    Unicode calls so, as in MLQA's script (Lewis et al., ACL 2020): quotation marks such as “ ” stand around every quote.
    """
    plain = "".join(c for c in CITATION.sub(" ", readable(text)).lower() if not _is_punctuation(c))
    return " ".join(_ARTICLE.sub(" ", plain).split())


def exact_match(answer: JudgedAnswer) -> float | None:
    """1 if both normalised texts are the same, else 0. None without a reference."""
    if answer.reference is None:
        return None
    return float(not answer.abstained and normalised(answer.text) == normalised(answer.reference))


def token_f1(answer: JudgedAnswer) -> float | None:
    """2PR / (P + R), where P is the share of the answer's words that stand in the reference and R that of the reference's
    in the answer, a word counted as often as it stands in both. None without a reference.

    Where no word is left of one of them, it is 1 if none is left of the other either, else 0.
    """
    if answer.reference is None:
        return None
    if answer.abstained:
        return 0.0
    said, right = normalised(answer.text).split(), normalised(answer.reference).split()
    if not said or not right:
        return float(said == right)
    same = (Counter(said) & Counter(right)).total()
    return 2 * same / (len(said) + len(right))  # P = same / said, R = same / right


def _is_punctuation(character: str) -> bool:
    return character in string.punctuation or unicodedata.category(character).startswith("P")
