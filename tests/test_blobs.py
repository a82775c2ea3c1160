"""A store of blobs: from run to run, for several threads and processes, and damage is told and mended."""

import gc
import logging
import os
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from docmind import blobs
from docmind.blobs import BlobStore, RowStore
from docmind.errors import StorageError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "cache.sqlite3"


@pytest.fixture
def store(path):
    with closing(BlobStore(path, "pages")) as opened:
        yield opened


def test_blobs_come_back_in_a_later_run(path, store):
    assert store.get([b"a"]) == {}
    store.put({b"a": b"one", b"b": b"", b"c": b"\0\xff"})
    store.put({b"a": b"two"})
    store.close()
    with closing(BlobStore(path, "pages")) as later:
        assert later.get([b"a", b"b", b"c", b"d"]) == {b"a": b"two", b"b": b"", b"c": b"\0\xff"}
    assert store.get([b"c"]) == {b"c": b"\0\xff"}  # it opens again


def test_more_keys_than_a_statement_takes(store):
    many = {i.to_bytes(4): str(i).encode() for i in range(3 * blobs.ASKED_AT_ONCE + 1)}
    store.put(many)
    assert store.get(list(many)) == many


def test_two_tables_of_a_file_do_not_meet(path, store):
    store.put({b"key": b"page"})
    with closing(BlobStore(path, "chunks")) as other:
        assert other.get([b"key"]) == {}
        other.put({b"key": b"chunk"})
    assert store.get([b"key"]) == {b"key": b"page"}


def test_an_altered_row_counts_as_absent_and_is_told(path, store, caplog):
    store.put({b"a": b"one", b"b": b"two"})
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE pages SET blob = x'00' WHERE key = ?", (b"a",))
        other.commit()
    with caplog.at_level(logging.WARNING):
        assert store.get([b"a", b"b"]) == {b"b": b"two"}
    assert "checksum" in caplog.text
    assert str(path) in caplog.text


def test_a_damaged_file_is_removed_and_told(path, store, caplog):
    path.parent.mkdir()
    path.write_bytes(b"this is no database" * 100)
    with caplog.at_level(logging.WARNING):
        store.put({b"a": b"one"})
    assert "damaged" in caplog.text
    assert store.get([b"a"]) == {b"a": b"one"}


def test_a_file_damaged_while_it_is_open_is_begun_anew(path, store, caplog):
    store.put({b"a": bytes(100_000)})
    store.close()
    whole = path.read_bytes()
    assert store.get([]) == {}
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with caplog.at_level(logging.WARNING):
        assert store.get([b"a"]) == {}
    assert "damaged" in caplog.text
    store.put({b"a": b"again"})
    assert store.get([b"a"]) == {b"a": b"again"}


@pytest.mark.parametrize("what", ["a file for its folder", "a folder for its file"])
def test_a_place_that_cannot_be_used_is_an_error_with_a_remedy(path, store, what):
    if what == "a file for its folder":
        path.parent.write_text("in the way")
    else:
        path.mkdir(parents=True)
    with pytest.raises(StorageError, match=r"cache\.sqlite3: the cache cannot be used .* --index-dir"):
        store.put({b"a": b"one"})


def test_rows_of_several_tables_are_kept_all_or_none(path):
    with closing(RowStore(path, {"one": ("blob",), "two": ("left", "right")})) as rows:
        rows.put({"one": {b"a": (b"1",)}, "two": {b"a": (b"2", b"3")}})
        with pytest.raises(sqlite3.Error):
            rows.put({"one": {b"b": (b"4",)}, "two": {b"b": (b"5",)}})  # lacks a column
        assert rows.get("one", [b"a", b"b"]) == {b"a": (b"1",)}
        assert rows.get("two", [b"a"]) == {b"a": (b"2", b"3")}


def test_all_rows_can_be_removed_while_another_has_the_file_open(path, store):
    store.put({b"a": b"one"})
    with closing(RowStore(path, {"pages": ("blob",), "more": ("blob",)})) as other:
        other.put({"more": {b"b": (b"two",)}})
        other.clear()
        assert (other.get("more", [b"b"]), store.get([b"a"])) == ({}, {})
    store.put({b"a": b"again"})
    assert store.get([b"a"]) == {b"a": b"again"}


def test_threads_share_a_store(store):
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as threads:

            def work(thread):
                for i in range(40):
                    mine = {f"{thread} {i} {j}".encode(): f"{thread * i * j}".encode() for j in range(5)}
                    store.put(mine)
                    assert store.get(list(mine)) == mine

            list(threads.map(work, range(8)))
    finally:
        sys.setswitchinterval(switching)
    every = {f"{t} {i} {j}".encode(): f"{t * i * j}".encode() for t in range(8) for i in range(40) for j in range(5)}
    assert store.get(list(every)) == every


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are listed by Linux alone")
def test_a_store_that_nobody_holds_lets_go_of_its_file(path):
    def files():
        return [found for found in map(os.path.realpath, Path("/proc/self/fd").iterdir()) if found == str(path)]

    held: list[object] = [BlobStore(path, "pages")]
    held.append(held)  # only the collector frees it
    held[0].put({b"a": b"b"})
    assert files()
    del held
    gc.collect()
    assert not files()


def test_a_file_of_other_tables_or_columns_is_made_anew(tmp_path, caplog):
    path = tmp_path / "a.sqlite3"
    for made in (
        "CREATE TABLE things (other BLOB)",
        "CREATE TABLE things (kez BLOB PRIMARY KEY, blob BLOB, crc INTEGER)",
    ):
        with closing(sqlite3.connect(path)) as other:
            other.execute("DROP TABLE IF EXISTS things")
            other.execute(made)
        store = BlobStore(path, "things")
        assert store.get([b"k"]) == {}
        store.put({b"k": b"v"})
        assert store.get([b"k"]) == {b"k": b"v"}
        store.close()
    assert "damaged" in caplog.text


def test_a_row_that_holds_no_blob_counts_as_absent(tmp_path):
    path = tmp_path / "a.sqlite3"
    store = BlobStore(path, "things")
    store.put({b"k": b"v"})
    store.close()
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE things SET blob = 'v'")
    assert store.get([b"k"]) == {}
    store.close()


def test_a_file_that_cannot_be_written_is_read(tmp_path, monkeypatch):
    path = tmp_path / "a.sqlite3"
    store = BlobStore(path, "things")
    store.put({b"k": b"v"})
    store.close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert store.get([b"k"]) == {b"k": b"v"}
    with pytest.raises(StorageError, match="--index-dir"):
        store.put({b"l": b"v"})
    store.close()
    path.write_bytes(b"no database" * 1000)
    monkeypatch.setattr(
        Path, "unlink", lambda *_, **__: (_ for _ in ()).throw(PermissionError(13, "Permission denied"))
    )
    with pytest.raises(StorageError, match=r"Permission denied.*--index-dir"):
        store.get([b"k"])
