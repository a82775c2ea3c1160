"""The hub profile's reranker: Xenova/ms-marco-MiniLM-L-6-v2 run by fastembed. It embeds nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from docmind.models.hub import HubModel
from docmind.models.once import Once
from docmind.models.runtime import PROVIDERS, silence, threads
from docmind.models.tokenizing import readable
from docmind.types import Chunk

if TYPE_CHECKING:
    from fastembed.rerank.cross_encoder import TextCrossEncoder


class CrossEncoderReranker:
    """Reads a question and a chunk as one text. Thread-safe.

    A pair over 512 tokens loses the end of the longer one: of a chunk of 500 tokens, at most the question's length.
    """

    def __init__(self) -> None:
        self._hub = HubModel("Xenova/ms-marco-MiniLM-L-6-v2", "Xenova/ms-marco-MiniLM-L-6-v2", "onnx/model.onnx")
        self._model = Once(lambda: self._hub.opened(self._hub.file, self._load))

    @property
    def name(self) -> str:
        """Names the model and every setting that changes a score. Raises ModelError where it cannot be had."""
        return f"{self._hub.name}, {self._hub.version}"

    def score(self, question: str, chunks: Sequence[Chunk]) -> NDArray[np.float64]:
        """float64 (n,), logits rounded to 6 decimals, in the order of `chunks`; pairs run one by one."""
        texts = [readable(chunk.text) for chunk in chunks]
        scores = self._model().rerank(readable(question), texts, batch_size=1)
        return np.fromiter(scores, np.float64, len(texts)).round(6)

    def _load(self, folder: str) -> TextCrossEncoder:
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        silence()
        return TextCrossEncoder(self._hub.name, specific_model_path=folder, threads=threads(), providers=PROVIDERS)
