"""The catalogue of profiles and what it does not do before first use."""

from __future__ import annotations

import subprocess
import sys
from threading import Barrier, Thread

import pytest

from docmind import config
from docmind.errors import ModelError, UsageError
from docmind.models import CATALOGUE, load
from docmind.models.bge import FastembedEmbedder
from docmind.models.hub import cache_dir
from docmind.models.once import Once


def test_the_profiles_are_those_of_the_settings():
    assert tuple(CATALOGUE) == config.PROFILES


def test_loading_twice_gives_the_same_models():
    assert load("default") is load("default")


def test_an_unknown_profile_lists_those_there_are():
    with pytest.raises(UsageError, match=r"unknown profile 'hubb'\. Did you mean 'hub'\? There are: default, hub\."):
        load("hubb")


def test_loading_imports_no_library_that_runs_models():
    code = (
        "import sys; from docmind.models import load; load('default'); load('hub').embedder.tokenizer;"
        "print([m for m in ('onnxruntime', 'tokenizers', 'fastembed', 'huggingface_hub') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_default_profile_has_token_vectors_and_no_reranker_of_its_own():
    models = load("default")
    assert models.embedder.has_tokens
    assert models.reranker is None
    assert models.fingerprint() == {"embedder": models.embedder.id, "reranker": None, "limit": 510}


def test_the_hub_profile_has_no_token_vectors_and_says_so():
    assert not load("hub").embedder.has_tokens
    with pytest.raises(ModelError, match="gives no token vectors"):
        FastembedEmbedder().embed_tokens(["x"])


def test_models_from_the_hub_are_kept_where_the_variable_says_or_in_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path)
    monkeypatch.delenv("FASTEMBED_CACHE_PATH", raising=False)
    assert cache_dir() == tmp_path / ".cache" / "docmind"
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "models"))
    assert cache_dir() == tmp_path / "models"


def test_what_is_made_once_is_made_once_by_many_threads():
    made = []
    start = Barrier(8)
    once = Once(lambda: made.append(1) or object())
    seen = []

    def ask() -> None:
        start.wait()
        seen.append(once())

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]
    assert len(set(map(id, seen))) == 1


def test_what_could_not_be_made_is_tried_again():
    results = iter([ModelError("out of reach"), "model"])

    def make() -> str:
        result = next(results)
        if isinstance(result, ModelError):
            raise result
        return result

    once = Once(make)
    with pytest.raises(ModelError, match="out of reach"):
        once()
    assert once() == "model"
