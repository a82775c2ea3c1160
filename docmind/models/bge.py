"""The hub profile's embedder: BAAI/bge-small-en-v1.5 run by fastembed. It gives no token vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from docmind.errors import ModelError
from docmind.models.hub import HubModel
from docmind.models.once import Once
from docmind.models.recent import Recent
from docmind.models.runtime import PROVIDERS, silence, threads
from docmind.models.tokenizing import LIMIT, REMEMBERED, ModelTokenizer, readable
from docmind.protocols import Advance, FloatMatrix, TokenVectors

if TYPE_CHECKING:
    import fastembed
    import tokenizers


class FastembedEmbedder:
    """Text to the vector of its first token, as fastembed pools this model. Thread-safe.

    Questions get no instruction before them: fastembed's `query_embed` adds none for this model.
    """

    dim = 384
    has_tokens = False

    def __init__(self) -> None:
        self._hub = HubModel("BAAI/bge-small-en-v1.5", "Qdrant/bge-small-en-v1.5-onnx-Q", "model_optimized.onnx")
        self.tokenizer = ModelTokenizer(lambda: self._hub.opened("tokenizer.json", _tokenizer))
        self._model = Once(lambda: self._hub.opened(self._hub.file, self._load))
        self._recent: Recent[tuple[NDArray[np.float32], FloatMatrix]] = Recent(REMEMBERED)

    @property
    def id(self) -> str:
        """Names the model and every setting that changes a vector. Raises ModelError where it cannot be had."""
        return f"{self._hub.name}, first-token pooling, {LIMIT} tokens, {self._hub.version}"

    def embed(self, texts: Sequence[str], *, cut: bool = False, advance: Advance | None = None) -> FloatMatrix:
        """float32 (n, 384), rows L2-normalised. A text over LIMIT tokens raises ModelError, unless `cut`.

        Texts run one by one: in a model with dynamic quantisation the company of a text changes its vector.
        """
        if not cut:
            self.tokenizer.refuse_long(texts)
        vectors = np.empty((len(texts), self.dim), np.float32)
        for row, vector in enumerate(self._model().embed([readable(text) for text in texts], batch_size=1)):
            vectors[row] = vector
            if advance:
                advance(1)
        return vectors

    def embed_tokens(
        self, texts: Sequence[str], *, advance: Advance | None = None
    ) -> tuple[FloatMatrix, list[TokenVectors]]:
        """Raises ModelError: `has_tokens` is False."""
        raise ModelError(f"{self._hub.name} gives no token vectors. Use the default profile, or a mode without them.")

    def embed_query(self, text: str) -> tuple[NDArray[np.float32], FloatMatrix]:
        """The question's vector, float32 (384,), read-only, and a matrix of no rows, (0, 384).

        A question over LIMIT tokens is cut, with a warning. The last REMEMBERED questions are not computed again.
        """
        return self._recent.get(text) or self._recent.put(text, self._question(text))

    def embed_queries(self, texts: Sequence[str]) -> None:
        """Computes the questions, one by one as all texts of this model are."""
        for text in texts:
            self.embed_query(text)

    def forget_queries(self) -> None:
        """Empties the memory of recent questions, so that the next one costs what a new one costs."""
        self._recent.clear()

    def _question(self, text: str) -> tuple[NDArray[np.float32], FloatMatrix]:
        self.tokenizer.warn_if_long(text)
        [found] = self._model().query_embed(readable(text))
        vector = np.array(found, np.float32)
        vector.setflags(write=False)
        return vector, np.empty((0, self.dim), np.float32)

    def _load(self, folder: str) -> fastembed.TextEmbedding:
        from fastembed import TextEmbedding

        silence()
        return TextEmbedding(self._hub.name, specific_model_path=folder, threads=threads(), providers=PROVIDERS)


def _tokenizer(folder: str) -> tokenizers.Tokenizer:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(f"{folder}/tokenizer.json")
