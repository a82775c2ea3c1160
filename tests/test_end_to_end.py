"""Whole runs of the command on a small corpus: what they write, that it is the same each time, and that it is never stale."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from standin_hub import StandinHub, repositories
from workplace import QUESTIONS, Workplace

from docmind.chunking import CHUNKERS
from docmind.config import DEPTH
from docmind.evaluation.record.baseline import read_baseline
from docmind.evaluation.scoring.measures import standard
from docmind.retrieval import MODES
from docmind.retrieval.searcher import CACHE
from docmind.retrieval.strategies import read_strategies
from docmind.types import Chunk, Span, Split

MATRIX = read_strategies(None).matrix

FEW = ("--strategies", "s0_original,headers+rerank,semantic+hybrid")
"""Every mode of the matrix, and the chunker that embeds windows."""

TYPES = {"direct": 2, "paraphrase": 1}
"""Answerable questions of QUESTIONS by type; q3 has none."""


@pytest.fixture
def place(tmp_path: Path, corpus: Path) -> Workplace:
    place = Workplace(tmp_path)
    place.ask(*QUESTIONS)
    return place


@pytest.fixture
def many_pages(place: Workplace) -> Workplace:
    """With 200 pages more, so that embedding takes some seconds and the cache is written several times."""
    for number in range(200):
        words = " ".join(f"item{(number * 37 + i * i) % 1000}" for i in range(40))
        (place.corpus / f"page{number:03}.md").write_text(f"# Page {number}\n\n{words}\n")
    return place


# What a run writes


def test_the_whole_matrix_is_scored_and_written(place, capsys):
    assert place.eval("--save-baseline") == 0
    found = place.results()
    assert list(found) == ["schema", "fingerprint", "counts", "types", "splits", "leakage", "rules", "strategies"]
    assert found["schema"] == "docmind.results/2"
    assert set(found["fingerprint"]) == {"instrument", "treatment"}
    assert found["counts"] == {"answerable": 4, "unanswerable": 1, "left_out": 0, "errors": 0}
    assert list(found["strategies"]) == [strategy.name for strategy in MATRIX]
    for strategy in found["strategies"].values():
        assert list(strategy) == ["chunker", "mode", "metrics", "by_type", "by_split", "ceiling", "questions"]
        assert list(strategy["metrics"]) == [measure.name for measure in standard()]
        assert all(0 <= value <= 1 for value in strategy["metrics"].values())
        assert {name: part["n"] for name, part in strategy["by_type"].items()} == TYPES
        assert {name: part["n"] for name, part in strategy["by_split"].items()} == {"dev": 2, "test": 1}
        assert list(strategy["questions"]) == ["q1", "q2", "q3", "q4", "u1"]
        for question in strategy["questions"].values():
            assert list(question) == ["ranks", "lost_at", "hits", "error"]
            assert 0 < len(question["hits"]) <= DEPTH
            assert all(list(hit) == ["chunk", "source", "spans", "score"] for hit in question["hits"])
        assert len(strategy["questions"]["q2"]["ranks"]) == 2
        assert {**strategy["questions"]["u1"], "hits": []} == {
            "ranks": [], "lost_at": None, "hits": [], "error": None,
        }  # fmt: skip

    report = (place.out / "latest.md").read_text()
    assert "## The ladder" in report
    table = report[report.index("## All strategies") :]
    shown = capsys.readouterr().out
    for strategy in MATRIX:
        assert f"| {strategy.name} |".replace("_", "\\_") in table
        assert strategy.name in shown

    timings = json.loads((place.out / "timings.json").read_text())
    assert set(timings["milliseconds"]) == set(found["strategies"])

    reference = read_baseline(place.out / "baseline.json")
    q1 = found["strategies"]["headers+rerank"]["questions"]["q1"]
    kept = reference.strategies["headers+rerank"].questions["q1"]
    assert list(kept.ranks) == q1["ranks"]
    assert list(kept.chunks) == [hit["chunk"] for hit in q1["hits"][:3]]
    assert reference.fingerprint.model_dump(mode="json") == found["fingerprint"]


def test_a_plain_run_writes_no_baseline(place):
    assert place.eval("--strategies", "headers+bm25") == 0
    assert sorted(path.name for path in place.out.iterdir()) == [
        "latest.headers+bm25.qrels", "latest.headers+bm25.run", "latest.html", "latest.json", "latest.junit.xml", "latest.md",
        "timings.json",
    ]  # fmt: skip


def test_what_an_earlier_run_reported_of_other_strategies_does_not_stay(place):
    assert place.eval("--strategies", "headers+bm25") == 0
    for name in ("latest.docx", "latest.backup.json", "latest.a+b.run", "latest.s0_original.zip"):
        (place.out / name).write_text("somebody else's")
    (place.out / "latest.d").mkdir()
    assert place.eval("--strategies", "fixed_500+bm25") == 0
    assert {"latest.docx", "latest.backup.json", "latest.a+b.run", "latest.s0_original.zip", "latest.d"} <= {
        path.name for path in place.out.iterdir()
    }
    assert not (place.out / "latest.headers+bm25.run").exists()
    assert (place.out / "latest.fixed_500+bm25.run").exists()


def test_hits_and_metrics_are_those_of_the_pages(place):
    # Each question's words stand in one chunk alone, so BM25 on three sections finds it first: all metrics of rank are 1.
    place.ask(QUESTIONS[0], QUESTIONS[2])
    assert place.eval("--strategies", "headers+bm25") == 0
    strategy = place.results()["strategies"]["headers+bm25"]
    assert [strategy["questions"][name]["ranks"] for name in ("q1", "q3")] == [[1], [1]]
    assert strategy["metrics"]["hit@1"] == strategy["metrics"]["mrr@10"] == strategy["metrics"]["ndcg@10"] == 1
    (start, end), *_ = [span for span in strategy["questions"]["q1"]["hits"][0]["spans"] if span[1] - span[0] > 10]
    page = (place.corpus / "leave.md").read_text()
    assert "25 days of annual leave" in page[start:end]


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        (["--type", "direct"], ["q1", "q2"]),
        (["--type", "direct", "--type", "unanswerable"], ["q1", "q2", "u1"]),
        (["--id", "q4", "--id", "q3"], ["q3", "q4"]),
        (["--type", "direct", "--id", "q2"], ["q2"]),
    ],
)
def test_filters_leave_the_questions_asked_for(place, options, asked):
    assert place.eval("--strategies", "headers+bm25", *options) == 0
    assert list(place.results()["strategies"]["headers+bm25"]["questions"]) == asked


def test_strategies_outside_the_matrix_are_scored_and_bm25_builds_no_index(place):
    assert place.eval("--strategies", "headers+bm25, fixed_500+bm25_stem,headers+bm25") == 0
    assert list(place.results()["strategies"]) == ["headers+bm25", "fixed_500+bm25_stem"]
    assert [path.name for path in place.index_dir.iterdir() if path.is_dir() or path.name.startswith(CACHE)] == []


def test_only_the_indexes_that_are_needed_are_built(place):
    assert place.eval("--strategies", "headers+hybrid_stem,fixed_500+bm25") == 0
    assert [path.name.rpartition("-")[0] for path in place.index_dir.iterdir() if path.is_dir()] == ["headers"]


def test_quiet_shows_nothing_at_all(place, capsys):
    assert place.eval("--quiet", *FEW) == 0
    assert place.index("--quiet") == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")


def test_pages_can_be_left_out(place):
    place.ask(QUESTIONS[0])
    assert place.eval("--strategies", "headers+bm25", "--exclude", "travel/*", "--exclude", "pay.md") == 0
    assert list(place.results()["fingerprint"]["instrument"]["pages"]) == ["leave.md"]


# An error is no score


class Raising:
    """A retriever that fails on one question, and finds nothing for the others."""

    depth = None

    def __init__(self, inner):
        self.inner = inner

    def retrieve(self, query, k):
        if "bonus" in query.text:
            raise LookupError("no bonus here")
        return self.inner.retrieve(query, k)

    def context(self, chunk):
        return self.inner.context(chunk)


@pytest.fixture
def raising(monkeypatch):
    bm25 = MODES["bm25"]
    monkeypatch.setitem(MODES._entries, "bm25", replace(bm25, make=lambda *needs: Raising(bm25.make(*needs))))


@pytest.mark.usefixtures("raising")
def test_a_strategy_with_an_errored_question_has_no_metrics_and_the_others_have(place, capsys, caplog):
    assert place.eval("--strategies", "headers+bm25,headers+bm25_stem") == 3
    assert "headers+bm25, question q2 (line 2): LookupError: no bonus here" in caplog.text
    assert "the run is incomplete: 1 answer ended in an error" in capsys.readouterr().err
    found = place.results()
    assert found["counts"]["errors"] == 1
    failed, whole = found["strategies"]["headers+bm25"], found["strategies"]["headers+bm25_stem"]
    assert (failed["metrics"], failed["by_type"], failed["by_split"]) == (None, {}, {})
    assert failed["questions"]["q2"]["error"] == "LookupError: no bonus here"
    assert failed["questions"]["q1"]["ranks"] == [1]
    assert whole["metrics"]["hit@10"] == 1
    assert "- `headers+bm25`, `q2`: LookupError: no bonus here" in (place.out / "latest.md").read_text()
    assert list(json.loads((place.out / "timings.json").read_text())["milliseconds"]) == ["headers+bm25_stem"]


@pytest.mark.usefixtures("raising")
def test_an_incomplete_run_is_saved_as_no_baseline(place, capsys):
    assert place.eval("--save-baseline") == 3
    assert "no baseline was saved" in capsys.readouterr().err
    assert not (place.out / "baseline.json").exists()


# The same each time


def from_scratch(place: Workplace, *options: str) -> bytes:
    """The results of a run beside `place`'s own: its indexes and its cache are not there."""
    out, indexes = place.root / "scratch", place.root / "scratch-indexes"
    assert place.eval(*options, "--quiet", "--out", str(out), "--index-dir", str(indexes)) == 0
    return (out / "latest.json").read_bytes()


def test_runs_from_scratch_from_a_cache_and_in_other_processes_give_the_same_bytes(place):
    assert place.eval(*FEW) == 0
    first = place.bytes()
    (place.out / "latest.json").unlink()
    assert place.eval(*FEW) == 0
    assert place.bytes() == first
    for seed in ("1", "2"):
        indexes = str(place.root / f"indexes-{seed}")
        done = place.process("eval", *FEW, "--quiet", "--index-dir", indexes, PYTHONHASHSEED=seed)
        assert (done.returncode, done.stderr) == (0, "")
        assert place.bytes() == first


def test_the_order_of_pages_on_disk_changes_nothing_and_strategies_stand_as_they_were_asked_for(place):
    assert place.eval(*FEW) == 0
    first = place.bytes()
    for name in ("leave.md", "pay.md"):
        path = place.corpus / name
        text = path.read_text()
        path.unlink()
        path.write_text(text)
    assert from_scratch(place, *FEW) == first
    names = FEW[1].split(",")
    turned = json.loads(from_scratch(place, "--strategies", ",".join(reversed(names))))
    assert list(turned["strategies"]) == names[::-1]
    assert turned == json.loads(first)


@pytest.mark.parametrize(
    ("pattern", "what"),
    [(CACHE, "the cache is damaged"), ("headers-*/vectors.npy", "the index is damaged"),
     ("headers-*/chroma/*/data_level0.bin", "the index is damaged"), ("headers-*/manifest.json", "the index is damaged")],
)  # fmt: skip
def test_a_damaged_file_is_told_and_made_anew(place, caplog, pattern, what):
    assert place.eval(*FEW) == 0
    first = place.bytes()
    [path] = place.index_dir.glob(pattern)
    path.write_bytes(b"\xff" * 5000)
    if pattern == CACHE:  # of which a whole index needs nothing
        shutil.rmtree(next(place.index_dir.glob("headers-*")))
    (place.out / "latest.json").unlink()
    with caplog.at_level(logging.WARNING):
        assert place.eval(*FEW) == 0
    assert what in caplog.text
    assert str(place.index_dir) in caplog.text
    assert place.bytes() == first
    caplog.clear()
    assert place.eval(*FEW) == 0
    assert not caplog.records


def embedding(place: Workplace, *options: str) -> subprocess.Popen[str]:
    """A run in a process of its own, which has begun to keep vectors and is not done."""
    code = "import signal, sys; from docmind.cli import main; " + (
        # A shell's background jobs ignore SIGINT, and what they start would inherit that.
        "signal.signal(signal.SIGINT, signal.default_int_handler); sys.exit(main())"
    )
    command = [sys.executable, "-c", code, *place.arguments("eval", *options)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not kept(place):
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()
    return process


def kept(place: Workplace) -> int:
    """How many vectors the cache holds."""
    path = place.index_dir / CACHE
    if not path.exists():
        return 0
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
        finally:
            connection.close()
    except sqlite3.OperationalError:  # the other process is making it
        return 0


def embedded(said: str, chunker: str) -> tuple[int, int, int]:
    """What the command says of an index: its chunks, those embedded, those from the cache."""
    chunks, new, known = re.search(rf"{chunker}: (\d+) chunks, (\d+) embedded, (\d+) from the cache", said).groups()
    return int(chunks), int(new), int(known)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.slow
def test_after_an_interrupt_and_after_a_kill_the_next_run_goes_on_to_the_same_bytes(many_pages, capsys):
    options = ("--strategies", "headers+rerank")

    interrupted = embedding(many_pages, *options)
    interrupted.send_signal(signal.SIGINT)
    _, said = interrupted.communicate(timeout=30)
    assert interrupted.returncode == 130, said
    assert "the next run goes on from there" in said
    assert "Traceback" not in said
    first = kept(many_pages)
    assert 0 < first < 205
    assert not many_pages.out.exists()

    killed = embedding(many_pages, *options)
    killed.kill()
    killed.communicate()
    second = kept(many_pages)
    assert not many_pages.out.exists()

    capsys.readouterr()
    assert many_pages.eval(*options) == 0
    assert embedded(capsys.readouterr().err, "headers") == (205, 205 - second, second)
    assert from_scratch(many_pages, *options) == many_pages.bytes()


# Never a stale index


class Shortened:
    """A chunker whose chunks lack the last character of the ones of `inner`."""

    def __init__(self, inner):
        self.inner = inner

    def split(self, document):
        shortened = (
            Chunk.of(
                document,
                tuple(Span(s.doc_id, s.start, s.end - (s == chunk.spans[-1])) for s in chunk.spans),
                chunk.order,
                prefix=chunk.prefix,
                prefix_spans=chunk.prefix_spans,
            )
            for chunk in self.inner.split(document).chunks
        )
        return Split(tuple(shortened))


def test_a_chunker_that_gives_one_character_less_is_graded_on_its_new_chunks(place, capsys, monkeypatch):
    # The evidence is the last two characters of a page, and half of it is less than the 80 % that count as covered.
    (place.corpus / "shed.md").write_text("# Shed\n\nThe code of the bike shed is 77")
    place.ask({"id": "q", "question": "What is the code of the bike shed?", "source": "shed.md", "evidence": "77"})
    options = ("--strategies", "headers+vector")
    assert place.eval(*options) == 0
    before = place.results()["strategies"]["headers+vector"]
    assert before["questions"]["q"]["ranks"] == [1]

    headers = CHUNKERS["headers"]
    monkeypatch.setitem(CHUNKERS._entries, "headers", lambda embedder, **values: Shortened(headers(embedder, **values)))
    capsys.readouterr()
    assert place.eval(*options) == 0
    assert embedded(capsys.readouterr().err, "headers") == (6, 6, 0)
    after = place.results()["strategies"]["headers+vector"]
    assert (after["questions"]["q"]["ranks"], after["questions"]["q"]["lost_at"]) == ([None], "chunking")
    assert (before["ceiling"], after["ceiling"]) == (1, 0)
    old, new = (found["questions"]["q"]["hits"][0] for found in (before, after))
    assert old["spans"][-1][1] - new["spans"][-1][1] == 1
    assert from_scratch(place, *options) == place.bytes()

    monkeypatch.undo()
    assert place.eval(*options) == 0
    assert place.results()["strategies"]["headers+vector"] == before


def test_of_an_edited_page_its_chunks_alone_are_embedded_again(place, capsys):
    assert place.index("headers") == 0
    assert embedded(capsys.readouterr().err, "headers") == (5, 5, 0)
    path = place.corpus / "leave.md"
    path.write_text(path.read_text().replace("# Leave", "# Holidays"))  # both its chunks are headed by that
    assert place.index("headers") == 0
    assert embedded(capsys.readouterr().err, "headers") == (5, 2, 3)
    path.write_text(path.read_text().replace("Five days", "Six days"))  # in one of them
    assert place.index("headers") == 0
    assert embedded(capsys.readouterr().err, "headers") == (5, 1, 4)
    assert place.index("headers") == 0
    assert "headers: 5 chunks, index found" in capsys.readouterr().err


def test_an_edited_page_is_what_is_graded(place):
    options = ("--strategies", "headers+rerank", "--id", "q1")
    assert place.eval(*options) == 0
    path = place.corpus / "leave.md"
    path.write_text(path.read_text().replace("# Leave\n\n", "# Leave\n\nHello.\n\n"))
    before = place.results()["strategies"]["headers+rerank"]["questions"]["q1"]["hits"][0]
    assert place.eval(*options) == 0
    after = place.results()["strategies"]["headers+rerank"]["questions"]["q1"]["hits"][0]
    assert after["chunk"] != before["chunk"]
    assert after["spans"][-1][1] - before["spans"][-1][1] == len("Hello.\n\n")


# The hub profile


@pytest.fixture
def closed() -> Iterator[str]:
    """An endpoint that refuses connections: its port is taken, and nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def through(endpoint: str, place: Workplace) -> dict[str, str]:
    cache = place.root / "models"
    return {
        "HF_ENDPOINT": endpoint, "FASTEMBED_CACHE_PATH": str(cache), "HF_HOME": str(cache / "home"),
        "HF_HUB_OFFLINE": "0", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
    }  # fmt: skip


def test_the_hub_profile_runs_whole_and_then_without_the_hub(place, closed):
    options = ("--profile", "hub", "--strategies", "headers+rerank,fixed_500+vector")
    with StandinHub(repositories()) as hub:
        done = place.process("eval", *options, **through(hub.endpoint, place))
    assert done.returncode == 0, done.stderr
    found = place.results()
    assert found["counts"] == {"answerable": 4, "unanswerable": 1, "left_out": 0, "errors": 0}
    assert all(strategy["metrics"]["hit@10"] == 1 for strategy in found["strategies"].values())
    treatment = found["fingerprint"]["treatment"]
    assert "BAAI/bge-small-en-v1.5" in treatment["models"]["embedder"]
    assert "Xenova/ms-marco-MiniLM-L-6-v2" in treatment["models"]["reranker"]

    first = place.bytes()
    done = place.process("eval", *options, "--quiet", **through(closed, place))
    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(
        r"warning: \d+% of the letters in the documents are not read as words by the model:.*\n", done.stderr
    )
    assert place.bytes() == first


def test_a_hub_out_of_reach_is_told_in_time_with_the_ways_out(place, closed):
    started = time.perf_counter()
    done = place.process("eval", "--profile", "hub", **through(closed, place))
    assert time.perf_counter() - started < 30
    assert done.returncode == 2
    assert "The default profile needs no download: leave out --profile hub." in done.stderr
    assert "docmind eval --profile hub" in done.stderr
    assert "Traceback" not in done.stderr
    assert not place.out.exists()
