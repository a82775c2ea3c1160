"""The hub profile through the real fastembed, against a stand-in hub on loopback. Each run is a process of its own,
since the hub's client reads HF_ENDPOINT when it is imported."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from standin_hub import EMBEDDER, RERANKER, TABLE, StandinHub, repositories, wordpiece

TEXTS = ["annual leave is 25 days", "", "sick pay for the week \ud800", "the office is paid monthly. " * 30]
QUESTION = "days of annual leave"
PASSAGES = ["pay day is monthly", "annual leave days for the office"]

USE = """
import json, sys
from docmind.models import load
from docmind.types import Chunk, Document, Span
texts, question, passages = json.loads(sys.argv[1])
models = load("hub")
chunks = [Chunk.of(Document("d", "", p), (Span("d", 0, len(p)),), i) for i, p in enumerate(passages)]
done = []
vector, tokens = models.embedder.embed_query(question)
print(json.dumps({
    "vectors": models.embedder.embed(texts, advance=done.append).tolist(),
    "done": sum(done),
    "query": vector.tolist(),
    "tokens": tokens.shape,
    "scores": models.reranker.score(question, chunks).tolist(),
    "none": models.reranker.score(question, []).tolist(),
    "fingerprint": models.fingerprint(),
    "count": models.embedder.tokenizer.count(question),
}))
"""

FAIL = """
import sys
from docmind.errors import ModelError
from docmind.models import load
try:
    load("hub").embedder.embed(["x"])
except ModelError as error:
    print(error)
else:
    sys.exit("no error")
"""


class Fresh(NamedTuple):
    result: dict
    requests: list[str]
    cache: Path


def run(code: str, endpoint: str, cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {
        name: value for name, value in os.environ.items() if not name.startswith("HF_") and "proxy" not in name.lower()
    }
    env |= {"HF_ENDPOINT": endpoint, "FASTEMBED_CACHE_PATH": str(cache), "HF_HOME": str(cache / "home")}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], env=env, capture_output=True, text=True, timeout=60, check=False
    )


def use(endpoint: str, cache: Path) -> dict:
    done = run(USE, endpoint, cache, json.dumps([TEXTS, QUESTION, PASSAGES]))
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "no progress bars and no log lines where stderr is no terminal"
    return json.loads(done.stdout)


def failure(endpoint: str, cache: Path) -> str:
    done = run(FAIL, endpoint, cache)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def files() -> dict[str, dict[str, bytes]]:
    return repositories()


@pytest.fixture
def hub(files) -> Iterator[StandinHub]:
    with StandinHub(files) as hub:
        yield hub


@pytest.fixture(scope="module")
def fresh(files, tmp_path_factory) -> Fresh:
    """A first run, with an empty cache."""
    cache = tmp_path_factory.mktemp("fresh")
    with StandinHub(files) as hub:
        return Fresh(use(hub.endpoint, cache), hub.requests, cache)


@pytest.fixture
def closed() -> Iterator[str]:
    """An endpoint that refuses connections: its port is taken, and nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def mean(ids: list[int]) -> np.ndarray:
    return TABLE[ids].mean(axis=0)


def test_vectors_are_those_of_the_model_that_the_hub_serves(fresh):
    cls = wordpiece().token_to_id("[CLS]")
    expected = []
    for text in [*TEXTS, QUESTION]:
        state = TABLE[cls] + mean(wordpiece().encode(text.replace("\ud800", "")).ids)
        expected.append(state / np.linalg.norm(state))
    np.testing.assert_allclose(fresh.result["vectors"], expected[:-1], atol=1e-6)
    np.testing.assert_allclose(fresh.result["query"], expected[-1], atol=1e-6)
    assert fresh.result["tokens"] == [0, 384]
    assert fresh.result["done"] == len(TEXTS)
    assert fresh.result["count"] == 4  # days of annual leave


def test_scores_are_those_of_the_cross_encoder_that_the_hub_serves(fresh):
    # [CLS] question [SEP] is the pair's first half, passage [SEP] its second
    question = mean(wordpiece().encode(QUESTION).ids)
    expected = [question @ mean(wordpiece().encode(passage).ids[1:]) for passage in PASSAGES]
    scores = fresh.result["scores"]
    np.testing.assert_allclose(scores, expected, rtol=1e-4)
    assert scores == [round(score, 6) for score in scores]
    assert scores[1] > scores[0], "the passage that shares the question's words"
    assert fresh.result["none"] == []


def test_only_the_files_that_are_needed_are_fetched_once(fresh):
    fetched = [r.rpartition("/")[2] for r in fresh.requests if r.startswith("GET") and "/resolve/" in r]
    small = ["config.json", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"]
    assert sorted(fetched) == sorted(["model_optimized.onnx", "model.onnx", *small, *small])


def test_the_second_run_needs_no_hub_and_gives_the_same(fresh, closed):
    assert use(closed, fresh.cache) == fresh.result


def test_the_fingerprint_names_models_files_pooling_and_limit(fresh, files):
    fingerprint = fresh.result["fingerprint"]
    for key, (repository, file) in {"embedder": EMBEDDER, "reranker": RERANKER}.items():
        assert f"{file} {sha256(files[repository][file]).hexdigest()[:16]}" in fingerprint[key]
    assert "BAAI/bge-small-en-v1.5, first-token pooling" in fingerprint["embedder"]
    assert fingerprint["limit"] == 510


def test_a_hub_that_refuses_is_told_at_once_with_the_ways_out(closed, tmp_path):
    start = time.perf_counter()
    message = failure(closed, tmp_path)
    assert time.perf_counter() - start < 10
    for part in ("BAAI/bge-small-en-v1.5", str(tmp_path), closed, "HF_ENDPOINT"):
        assert part in message
    assert "docmind eval --profile hub" in message
    assert "The default profile needs no download" in message


def test_a_hub_that_accepts_and_never_answers_is_told_within_30_seconds(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        start = time.perf_counter()
        message = failure(f"http://127.0.0.1:{silent.getsockname()[1]}", tmp_path)
        assert time.perf_counter() - start < 30
    assert "The default profile needs no download" in message


def test_a_download_cut_short_is_an_error_and_the_next_run_fetches_it_whole(fresh, files, tmp_path):
    with StandinHub(files, cut=True) as hub:
        assert "BAAI/bge-small-en-v1.5" in failure(hub.endpoint, tmp_path)
    with StandinHub(files) as hub:
        assert use(hub.endpoint, tmp_path) == fresh.result


def test_a_damaged_file_in_the_cache_is_named_and_deleting_it_mends_it(fresh, hub, tmp_path):
    cache = tmp_path / "cache"
    shutil.copytree(fresh.cache, cache, symlinks=True)
    [link] = cache.rglob("model_optimized.onnx")
    stored = link.resolve()
    stored.write_bytes(stored.read_bytes()[: stored.stat().st_size // 10])
    message = failure(hub.endpoint, cache)
    assert str(stored) in message
    assert "Delete it" in message
    stored.unlink()
    assert use(hub.endpoint, cache) == fresh.result


def test_repositories_and_files_are_those_that_fastembed_names():
    from fastembed import TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    from docmind.models.bge import FastembedEmbedder
    from docmind.models.crossencoder import CrossEncoderReranker

    for ours, theirs in [
        (FastembedEmbedder()._hub, TextEmbedding.list_supported_models()),
        (CrossEncoderReranker()._hub, TextCrossEncoder.list_supported_models()),
    ]:
        [entry] = [m for m in theirs if m["model"] == ours.name]
        assert (ours.repo, ours.file) == (entry["sources"]["hf"], entry["model_file"])
