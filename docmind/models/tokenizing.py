"""How the models read text: tokens and the limit. No model is run here."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from docmind.errors import ModelError
from docmind.models.once import Once
from docmind.text import WIDTHLESS

if TYPE_CHECKING:
    import tokenizers

POSITIONS = 512
"""The most tokens that a model reads at once, [CLS] and [SEP] included."""

LIMIT = POSITIONS - 2
"""The most tokens of a text, [CLS] and [SEP] left out."""

UNKNOWN = "[UNK]"
"""The token of what a model's vocabulary has not, in both profiles."""

REMEMBERED = 1024
"""Recent questions whose vectors an embedder keeps: a second stage of a retrieval does not run the model again."""

_SURROGATE = re.compile("[\ud800-\udfff]")

logger = logging.getLogger(__name__)


class ModelTokenizer:
    """A model's own tokenizer without padding and truncation, had from `load` at first use. Thread-safe."""

    def __init__(self, load: Callable[[], tokenizers.Tokenizer]) -> None:
        self._tokenizer = Once(lambda: _unbounded(load()))

    def count(self, text: str) -> int:
        """How many tokens `text` has, special tokens not counted."""
        return len(self._tokenizer().encode(readable(text), add_special_tokens=False))

    def counts(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has; quicker than one by one."""
        found = self._tokenizer().encode_batch_fast([readable(text) for text in texts], add_special_tokens=False)
        return [len(encoding) for encoding in found]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The characters of `text` that each token covers, rising; special tokens not counted."""
        return list(self._tokenizer().encode(readable(text), add_special_tokens=False).offsets)

    def unread(self, words: Sequence[str]) -> list[set[int]]:
        """Of each word the positions of letters that stand in no token that the model knows, or, where the word has more than
        one, in a token by themselves."""
        found = self._tokenizer().encode_batch([readable(word) for word in words], add_special_tokens=False)
        return [
            {
                position
                for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True)
                if token == UNKNOWN or end - start == 1 < len(word)
                for position in range(start, end)
            }
            for word, encoding in zip(words, found, strict=True)
        ]

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text [CLS], up to LIMIT of its tokens, and [SEP]."""
        rows = [encoding.ids for encoding in self._encode(texts)]
        return [row if len(row) <= POSITIONS else row[: POSITIONS - 1] + row[-1:] for row in rows]

    def refuse_long(self, texts: Sequence[str]) -> None:
        """Raises ModelError where a text has more than LIMIT tokens."""
        for text, encoding in zip(texts, self._encode(texts), strict=True):
            if len(encoding) > POSITIONS:
                raise ModelError(
                    f"a text of {len(encoding) - 2} tokens is over the model's limit of {LIMIT}, so its end would be "
                    f"lost: {text[:60]!r}… Its chunker must keep each chunk, prefix included, within the limit."
                )

    def warn_if_long(self, question: str) -> None:
        """Logs a warning where `question` has more than LIMIT tokens."""
        count = self.count(question)
        if count > LIMIT:
            logger.warning(
                "The question %r… has %d tokens. Only the first %d are read: put what is asked among them.",
                question[:60],
                count,
                LIMIT,
            )

    def _encode(self, texts: Sequence[str]) -> list[tokenizers.Encoding]:
        return self._tokenizer().encode_batch_fast([readable(text) for text in texts])


def readable(text: str) -> str:
    """`text` as the models read it: characters of no width, which are no part of a word, and lone surrogates, which
    tokenizers refuses, are replaced one by one by what the models skip, so that every other stays in its place."""
    return WIDTHLESS.sub("\ufffd", _SURROGATE.sub("\ufffd", text))


def _unbounded(tokenizer: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
