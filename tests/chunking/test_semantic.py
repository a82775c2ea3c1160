from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docmind.chunking.semantic import Semantic
from docmind.types import Document, Span, overlap

LEAVE = "Leave is 25 days.\n\n- Ask first.\n- Then book it.\n\nPay is monthly.  Paid on the 25th. Fine then!"
SENTENCES = [0, 19, 32, 49, 66, 84]


def test_chunks_of_the_real_model_are_slices_between_sentences(real_embedder):
    chunks = Semantic(real_embedder, percentile=50).split(Document("d", "d", LEAVE)).chunks
    assert len(chunks) > 1
    assert {chunk.spans[0].start for chunk in chunks} <= set(SENTENCES)
    assert [LEAVE[chunk.spans[0].start : chunk.spans[0].end] for chunk in chunks] == [chunk.body for chunk in chunks]
    assert chunks[-1].body.endswith("Fine then!")
    for gold in ("25 days.\n\n- Ask first.", "Paid on the 25th."):
        start = LEAVE.index(gold)
        span = Span("d", start, start + len(gold))
        assert max(overlap(chunk.spans, [span]) for chunk in chunks) / len(span) >= 0.8


@settings(max_examples=100, deadline=None)
@given(text=st.text(st.sampled_from("ab.?! \n\u00a0漢"), max_size=120))
def test_chunks_are_langchains_own_but_for_white_space(text, hash_embedder):
    from langchain_experimental.text_splitter import SemanticChunker

    class Embeddings:
        def embed_documents(self, texts):
            return hash_embedder.embed(texts).tolist()

    chunks = Semantic(hash_embedder, percentile=50).split(Document("d", "d", text)).chunks
    theirs = SemanticChunker(Embeddings(), breakpoint_threshold_amount=50).split_text(text.strip()) if chunks else []
    assert ["".join(chunk.body.split()) for chunk in chunks] == ["".join(chunk.split()) for chunk in theirs]


def test_windows_may_be_cut_by_the_model(tokenizer):
    class Recording:
        id = "recording"

        def __init__(self):
            self.tokenizer = tokenizer
            self.calls = []

        def embed(self, texts, *, cut=False, advance=None):
            self.calls.append((list(texts), cut))
            return np.eye(len(texts), 4, dtype=np.float32)

    embedder = Recording()
    Semantic(embedder, percentile=95).split(Document("d", "d", "One. Two.\nThree."))
    assert embedder.calls == [(["One. Two.", "One. Two. Three.", "Two. Three."], True)]


def test_a_group_that_ends_inside_a_sentence_stops_the_run(hash_embedder, monkeypatch):
    monkeypatch.setattr(Semantic, "_split_text", lambda self, text: [text[:6]])
    with pytest.raises(RuntimeError, match="ends inside a sentence"):
        Semantic(hash_embedder, percentile=95).split(Document("d", "d", "One. Two."))
