"""The vector cache: nothing is embedded twice, and damage is told and mended."""

import logging
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing
from threading import Timer

import numpy as np
import pytest

from docmind import code
from docmind.errors import StorageError
from docmind.index.cache import CachedEmbedder

TEXTS = ["annual leave", "sick pay", "annual leave", "travel by train"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "vectors.sqlite3"


def test_a_text_is_embedded_once_across_runs(path, embedder, open_cache):
    first = CachedEmbedder(embedder, open_cache(path))
    vectors = first.embed(TEXTS)
    assert first.embedded == 3
    second = CachedEmbedder(embedder, open_cache(path))
    assert np.array_equal(second.embed(TEXTS), vectors)
    assert second.embedded == 0
    assert np.array_equal(vectors, embedder.embed(TEXTS))


def test_progress_adds_up_to_the_number_of_texts(path, embedder, open_cache):
    cached = CachedEmbedder(embedder, open_cache(path))
    cached.embed(TEXTS[:1])
    done = []
    cached.embed_tokens(TEXTS, advance=done.append)
    assert sum(done) == len(TEXTS)


def test_token_vectors_come_back_as_they_were(path, embedder, open_cache):
    CachedEmbedder(embedder, open_cache(path)).embed_tokens(TEXTS)
    cached = CachedEmbedder(embedder, open_cache(path))
    vectors, tokens = cached.embed_tokens(TEXTS)
    fresh_vectors, fresh_tokens = embedder.embed_tokens(TEXTS)
    assert cached.embedded == 0
    assert np.array_equal(vectors, fresh_vectors)
    for a, b in zip(tokens, fresh_tokens, strict=True):
        assert np.array_equal(a.codes, b.codes)
        assert np.array_equal(a.scales, b.scales)


def test_a_text_that_has_only_its_vector_gets_its_tokens(path, embedder, open_cache):
    cached = CachedEmbedder(embedder, open_cache(path))
    cached.embed(TEXTS)
    _, tokens = cached.embed_tokens(TEXTS[:1])
    assert cached.embedded == 4
    assert tokens[0].codes.shape == (4, 384)  # [CLS] annual leave [SEP]


def test_what_is_kept_is_told_by_its_number_of_tokens(path, embedder, open_cache):
    cached = CachedEmbedder(embedder, open_cache(path))
    cached.embed_tokens(TEXTS[:1])
    done = []
    # [CLS], the words, each one token here, and [SEP]
    assert cached.keep_tokens(TEXTS, advance=done.append) == [4, 4, 4, 5]
    assert (cached.embedded, sum(done)) == (3, 4)


def test_another_model_has_other_entries(path, embedder, open_cache):
    class Other:
        id = "other"
        dim = 384

        def embed(self, texts, *, cut=False, advance=None):
            return np.ones((len(texts), 384), np.float32)

    CachedEmbedder(embedder, open_cache(path)).embed(TEXTS)
    assert np.array_equal(CachedEmbedder(Other(), open_cache(path)).embed(TEXTS[:1]), np.ones((1, 384)))


def test_no_texts_give_an_empty_matrix(path, embedder, open_cache):
    assert CachedEmbedder(embedder, open_cache(path)).embed([]).shape == (0, 384)


@pytest.mark.parametrize("damage", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_damaged_file_is_told_and_built_anew(path, embedder, damage, caplog, open_cache):
    path.write_bytes(damage)
    cached = CachedEmbedder(embedder, open_cache(path))
    with caplog.at_level(logging.WARNING):
        cached.embed(TEXTS)
    assert "damaged" in caplog.text
    assert str(path) in caplog.text
    again = CachedEmbedder(embedder, open_cache(path))
    again.embed(TEXTS)
    assert again.embedded == 0


def test_a_vector_that_was_altered_is_computed_again(path, embedder, caplog, open_cache):
    cache = open_cache(path)
    expected = CachedEmbedder(embedder, cache).embed(TEXTS)
    cache.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(1536)")
    connection.close()
    cached = CachedEmbedder(embedder, open_cache(path))
    with caplog.at_level(logging.WARNING):
        assert np.array_equal(cached.embed(TEXTS), expected)
    assert cached.embedded == 3
    assert "checksum" in caplog.text


def test_a_place_that_cannot_be_used_is_an_error_with_a_remedy(tmp_path, embedder, open_cache):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="--index-dir"):
        CachedEmbedder(embedder, open_cache(tmp_path / "file" / "vectors.sqlite3")).embed(TEXTS)


def test_rows_of_an_earlier_docmind_are_read(path, open_cache):
    """Its tables, as it made them."""
    vector, codes = np.array([0.6, 0.8], np.float32), np.array([[127, 3], [-4, 127]], np.int8)
    scales = np.array([0.5, 0.25], np.float32)
    with closing(sqlite3.connect(path)) as old:
        old.execute("CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, crc INTEGER NOT NULL)")
        old.execute(
            "CREATE TABLE tokens (key BLOB PRIMARY KEY, codes BLOB NOT NULL, scales BLOB NOT NULL, crc INTEGER NOT NULL)"
        )
        old.execute("INSERT INTO vectors VALUES (?, ?, ?)", (b"k", vector.tobytes(), zlib.crc32(vector.tobytes())))
        crc = zlib.crc32(scales.tobytes(), zlib.crc32(codes.tobytes()))
        old.execute("INSERT INTO tokens VALUES (?, ?, ?, ?)", (b"k", codes.tobytes(), scales.tobytes(), crc))
        old.commit()
    cache = open_cache(path)
    assert cache.vectors([b"k"])[b"k"].tolist() == vector.tolist()
    assert cache.tokens([b"k"])[b"k"].codes.tolist() == codes.tolist()
    assert cache.tokens([b"k"])[b"k"].scales.tolist() == scales.tolist()


def test_two_processes_fill_one_cache(path, embedder, open_cache):
    code = (
        "import sys; from pathlib import Path; from docmind.models import load\n"
        "from docmind.index.cache import CachedEmbedder, VectorCache\n"
        "cached = CachedEmbedder(load('default').embedder, VectorCache(Path(sys.argv[1])))\n"
        "cached.embed_tokens([f'text {i}' for i in range(200)])\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    cached = CachedEmbedder(embedder, open_cache(path))
    cached.embed_tokens([f"text {i}" for i in range(200)])
    assert cached.embedded == 0


def test_what_was_embedded_before_an_error_is_kept(path, embedder, open_cache):
    class Failing:
        id = embedder.id
        dim = embedder.dim
        calls = 0

        def embed(self, texts, *, cut=False, advance=None):
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt
            return embedder.embed(texts)

    texts = [f"text number {i}" for i in range(200)]
    with pytest.raises(KeyboardInterrupt):
        CachedEmbedder(Failing(), open_cache(path)).embed(texts)
    again = CachedEmbedder(embedder, open_cache(path))
    again.embed(texts)
    assert again.embedded == 200 - 64 - 8  # four groups, 64, 64, 64 and 8; the first and the last came first


def test_a_cache_that_another_process_is_making_is_waited_for(path, open_cache):
    with closing(sqlite3.connect(path, check_same_thread=False)) as other:
        other.execute("CREATE TABLE made (here)")
        other.execute("BEGIN IMMEDIATE")  # as while it switches to a write-ahead log
        release = Timer(0.2, other.rollback)
        release.start()
        assert open_cache(path).vectors([b"key"]) == {}
        release.join()


def alter(path, table, column, change):
    """Change the blob of each row, and set its checksum right."""
    with closing(sqlite3.connect(path)) as file:
        columns = {"vectors": ["vector"], "tokens": ["codes", "scales"]}[table]
        for key, *blobs in file.execute(f"SELECT key, {', '.join(columns)} FROM {table}").fetchall():
            row = dict(zip(columns, blobs, strict=True))
            row[column] = change(row[column])
            crc = zlib.crc32(b"".join(row.values()))
            file.execute(f"UPDATE {table} SET {column} = ?, crc = ? WHERE key = ?", (row[column], crc, key))
        file.commit()


@pytest.mark.parametrize(
    ("table", "column", "change"),
    [
        ("vectors", "vector", lambda blob: (np.frombuffer(blob, np.float32) * np.float32(-1)).tobytes()),
        ("vectors", "vector", lambda blob: np.full(384, np.nan, np.float32).tobytes()),
        ("tokens", "codes", lambda blob: np.abs(np.frombuffer(blob, np.int8)).tobytes()),
        ("tokens", "scales", lambda blob: (np.frombuffer(blob, np.float32) * np.float32(2)).tobytes()),
    ],
)
def test_other_vectors_under_a_right_checksum_are_found_told_and_thrown_away(
    path, embedder, open_cache, caplog, table, column, change
):
    expected = embedder.embed_tokens(TEXTS)
    cache = open_cache(path)
    CachedEmbedder(embedder, cache).embed_tokens(TEXTS)
    cache.close()
    alter(path, table, column, change)
    again = CachedEmbedder(embedder, open_cache(path))
    with caplog.at_level(logging.WARNING):
        vectors, tokens = again.embed_tokens(TEXTS)
    [told] = caplog.messages
    assert told.startswith(f"{path}: 3 of 3 texts that were embedded anew have other vectors than are kept; all ")
    assert np.array_equal(vectors, expected[0])
    assert all(np.array_equal(a.codes, b.codes) for a, b in zip(tokens, expected[1], strict=True))
    assert again.embedded == 3
    caplog.clear()
    assert (
        CachedEmbedder(embedder, open_cache(path)).embed_tokens(TEXTS)[1][0].scales.tolist()
        == tokens[0].scales.tolist()
    )
    assert not caplog.messages, "it is whole again"


def test_sixteen_texts_are_embedded_anew_and_none_that_was_computed_in_the_run(path, embedder, open_cache):
    class Counting:
        id, dim, anew = embedder.id, embedder.dim, 0

        def embed(self, texts, *, cut=False, advance=None):
            self.anew += len(texts)
            return embedder.embed(texts, cut=cut, advance=advance)

    texts = [f"text {i}" for i in range(90)]
    cached = CachedEmbedder(first := Counting(), open_cache(path))
    for _ in range(2):
        cached.embed(texts)
    assert first.anew == cached.embedded == 90
    cached = CachedEmbedder(later := Counting(), open_cache(path))
    for start in (0, 10, 20, 0):  # as a document's texts come
        cached.embed(texts[start : start + 10])
    assert (later.anew, cached.embedded) == (16, 0)


def test_an_embedder_from_outside_whose_code_was_changed_is_found(path, embedder, open_cache, caplog):
    """Its id says nothing of it, and no key can."""

    class Outside:
        id, dim, sign = "outside", embedder.dim, 1

        def embed(self, texts, *, cut=False, advance=None):
            return self.sign * embedder.embed(texts)

    CachedEmbedder(Outside(), open_cache(path)).embed(TEXTS)
    Outside.sign = np.float32(-1)
    with caplog.at_level(logging.WARNING):
        found = CachedEmbedder(Outside(), open_cache(path)).embed(TEXTS)
    assert np.array_equal(found, -embedder.embed(TEXTS))
    assert "thrown away" in caplog.text


@pytest.mark.parametrize(
    "name", ["fastembed", "numpy", "onnxruntime", "tokenizers", "models/minilm.py", "models/tokenizing.py"]
)
def test_the_key_holds_the_code_and_the_libraries_that_decide_a_vector(embedder, monkeypatch, name):
    before = CachedEmbedder(embedder, None)
    assert before.version.startswith(embedder.id)
    for what in ("sources", "versions"):
        told = getattr(code, what)
        monkeypatch.setattr(
            code, what, lambda *parts, told=told: {k: "x" if k == name else v for k, v in told(*parts).items()}
        )
    assert CachedEmbedder(embedder, None).version != before.version
