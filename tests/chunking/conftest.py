"""What the tests of chunkers share: the default profile, and a fast embedder without meaning."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pytest

from docmind import models
from docmind.protocols import Advance, Embedder, FloatMatrix, Tokenizer


class HashEmbedder:
    """Unit vectors that depend on the text alone and mean nothing."""

    id = "hash"
    dim = 8
    has_tokens = False

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    def embed(self, texts: Sequence[str], *, cut: bool = False, advance: Advance | None = None) -> FloatMatrix:
        digests = b"".join(hashlib.sha256(text.encode()).digest()[: self.dim] for text in texts)
        vectors = np.frombuffer(digests, np.uint8).astype(np.float32).reshape(-1, self.dim) - 127.5
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="session")
def real_embedder() -> Embedder:
    return models.load("default").embedder


@pytest.fixture(scope="session")
def tokenizer(real_embedder: Embedder) -> Tokenizer:
    return real_embedder.tokenizer


@pytest.fixture(scope="session")
def hash_embedder(tokenizer: Tokenizer) -> HashEmbedder:
    return HashEmbedder(tokenizer)
