"""The Chroma collection: what is written, what is at fault, and exact search whatever its graph is like."""

import os
import struct
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

from docmind.index import store
from docmind.index.store import ChromaIndex


def write(folder, chunks, vectors):
    np.save(folder / store.VECTORS, vectors)
    store.write(folder, chunks)


@pytest.fixture
def opened(tmp_path_factory, chunks_of):
    """Builds and opens a store of vectors; closes it in the end."""
    made = []

    def open_store(vectors):
        chunks = chunks_of([f"text {i}" for i in range(len(vectors))])
        folder = tmp_path_factory.mktemp("store")
        write(folder, chunks, vectors)
        made.append(ChromaIndex(folder, chunks))
        return made[-1]

    yield open_store
    for each in made:
        each.close()


@pytest.mark.parametrize("copies", [33, 50, 300, 2000])
def test_the_nearest_is_found_among_copies_of_a_footer(opened, unit_rows, copies):
    """Approximate search alone lost it in every build with 300 copies."""
    gold = copies // 2
    rows = [[1, 0.1]] * copies
    rows.insert(gold, [1, 0])
    found = opened(unit_rows(rows)).search(unit_rows([[1, 0]])[0], 5)
    # cosine of [1, 0] and [1, 0.1] = 1 / sqrt(1.01) = 0.995037
    assert found == [(gold, 1.0), (0, 0.995037), (1, 0.995037), (2, 0.995037), (3, 0.995037)]


@pytest.mark.parametrize("footers", [0, 500])
def test_top_ten_equals_numpy_whatever_the_build(opened, footers):
    generator = np.random.default_rng(7)
    vectors = generator.normal(size=(700, 384)).astype(np.float32)
    vectors[100 : 100 + footers] = vectors[0]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    searched = opened(vectors)
    assert searched.fault() is None
    queries = [*generator.normal(size=(40, 384)).astype(np.float32), vectors[0], vectors[650]]
    for query in queries:
        unit = query / np.linalg.norm(query)
        scores = np.round(vectors.astype(np.float64) @ unit.astype(np.float64), 6)
        expected = sorted(range(700), key=lambda i: (-scores[i], i))[:10]
        assert searched.search(unit, 10) == [(i, scores[i]) for i in expected]
        some = {i for i in expected if i % 3} | {690, 691}
        allowed = frozenset(f"{i:04}.md" for i in some)
        filtered = sorted(some, key=lambda i: (-scores[i], i))[:10]
        assert searched.search(unit, 10, allowed) == [(i, scores[i]) for i in filtered]


def test_more_than_the_spare_candidates_tie_with_the_last_and_the_first_of_them_is_found(opened, unit_rows):
    """Chroma proposes k + SPARE distinct vectors. 100 of them have one cosine with the query: whichever it proposes, the
    lowest positions are right, and only a wider search finds them."""
    generator = np.random.default_rng(3)
    turned = generator.normal(size=(100, 16))
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    # The query is the first axis; 0.6 along it and 0.8 in any other direction: cosine 0.6.
    rows = np.column_stack([np.full(100, 0.6), 0.8 * turned])
    rows[0] = np.eye(17)[0]
    searched = opened(unit_rows(rows))
    query = np.eye(17, dtype=np.float32)[0]
    assert len(store.copies(searched.vectors)) == 100 > 10 + store.SPARE
    assert searched.search(query, 10) == [(0, 1.0), *((i, pytest.approx(0.6, abs=1e-6)) for i in range(1, 10))]


def test_an_empty_index_finds_nothing(opened):
    searched = opened(np.empty((0, 384), np.float32))
    assert searched.fault() is None
    assert searched.search(np.ones(384, np.float32), 10) == []


def test_a_batch_above_the_limit_of_one_call_is_stored_whole(opened):
    vectors = np.random.default_rng(1).normal(size=(5_462, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    searched = opened(vectors)
    for position in (0, 5_460, 5_461):
        assert searched.search(vectors[position], 1) == [(position, 1.0)]


def test_a_collection_that_lacks_a_vector_is_at_fault(tmp_path, chunks_of, unit_rows):
    chunks = chunks_of(["a", "b", "c", "d"])
    vectors = unit_rows([[1, i] for i in range(4)])
    write(tmp_path, chunks[:3], vectors[:3])
    np.save(tmp_path / store.VECTORS, vectors)
    with closing(ChromaIndex(tmp_path, chunks)) as short:
        assert "gave 3 of 4 vectors" in short.fault()


def test_a_collection_that_misses_neighbours_is_at_fault(tmp_path, chunks_of, unit_rows):
    """The vectors were swapped after Chroma got them, so that its neighbours are not the true ones."""
    chunks = chunks_of([str(i) for i in range(40)])
    vectors = unit_rows([[1, i / 4] for i in range(40)])
    write(tmp_path, chunks, vectors)
    np.save(tmp_path / store.VECTORS, vectors[::-1])
    with closing(ChromaIndex(tmp_path, chunks)) as swapped:
        assert "misses neighbours of its chunk 0" in swapped.fault()


def test_the_graph_file_holds_its_nodes_and_nothing_that_stood_in_memory(tmp_path, chunks_of, unit_rows):
    write(tmp_path, chunks_of(["one", "two", "three"]), unit_rows([[1, 0], [0, 1], [1, 1]]))
    [graph] = (tmp_path / store.CHROMA).glob("*/header.bin")
    nodes, size = struct.unpack_from("<2Q", graph.read_bytes(), 20)
    held = graph.with_name("data_level0.bin").read_bytes()
    assert nodes == 3
    assert held[: nodes * size].strip(b"\0")
    assert not held[nodes * size :].strip(b"\0")


READS = """
import sys
from pathlib import Path
from docmind.index import store
if sys.argv[1] == "before":
    import chromadb
client = store._client(Path("index"))
settings = client._system.settings
print(settings.chroma_api_impl, settings.allow_reset, settings.tenant_id, settings.chroma_server_nofile)
import pydantic_settings
assert pydantic_settings.BaseSettings.__module__.startswith("pydantic_settings")
"""


@pytest.mark.parametrize("place", ["file", "environment"])
@pytest.mark.parametrize("imported", ["by us", "before"])
def test_chroma_reads_no_settings_of_anybody(tmp_path, place, imported):
    """A `.env` of the current folder may be a stranger's, and its settings name classes that Chroma imports."""
    set_there = {"CHROMA_API_IMPL": "this.Antigravity", "ALLOW_RESET": "true", "TENANT_ID": "other"}
    wrong = (
        {} if imported == "before" else {"CHROMA_SERVER_NOFILE": "sk-secret"}
    )  # ends the import of the plain library
    named = set_there | wrong
    if place == "file":
        (tmp_path / ".env").write_text("".join(f"{name}={value}\n" for name, value in named.items()))
    command = [sys.executable, "-c", READS, imported]
    env = os.environ | (named if place == "environment" else {})
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("chromadb.api.rust.RustBindingsAPI False default None\n", "")
