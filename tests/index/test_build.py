"""An index is whole or not there, and never that of other chunks."""

import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from docmind import code
from docmind.errors import StorageError
from docmind.index import build, canaries
from docmind.index.build import open_or_build
from docmind.index.cache import CachedEmbedder

TEXTS = ["annual leave", "sick pay", "travel by train", "annual leave"]


@pytest.fixture
def cached(tmp_path, embedder, open_cache):
    return CachedEmbedder(embedder, open_cache(tmp_path / "vectors.sqlite3"))


@pytest.fixture
def make(tmp_path, cached, chunks_of):
    opened = []

    def open_index(texts=TEXTS, embedder=cached):
        opened.append(open_or_build("chunker", chunks_of(texts), embedder, tmp_path / "indexes"))
        return opened[-1]

    yield open_index
    for index in opened:
        index.close()


def test_an_index_is_built_once_and_found_again(make, cached):
    first = make()
    made = (first.folder / build.MANIFEST).stat().st_mtime_ns
    assert cached.embedded == 3
    assert make().folder == first.folder
    assert (first.folder / build.MANIFEST).stat().st_mtime_ns == made
    assert cached.embedded == 3


def test_vectors_and_tokens_are_those_of_the_embedder(make, embedder):
    index = make()
    vectors, tokens = embedder.embed_tokens(TEXTS)
    assert np.array_equal(index.vectors.vectors, vectors)
    question = embedder.embed_query("how many days of annual leave?")[1]
    found = index.tokens.max_sim(question, range(len(TEXTS)))
    assert found.shape == (len(question), len(TEXTS))
    for position, expected in enumerate(tokens):
        restored = expected.codes.astype(np.float32) * expected.scales[:, None]
        assert np.array_equal(index.tokens.vectors(position), restored)
        assert found[:, position] == pytest.approx((question @ restored.T).max(axis=1), abs=1e-6)


def test_a_model_without_token_vectors_has_an_index_without_them(make, embedder, open_cache, tmp_path):
    class Plain:
        id, dim, has_tokens = "plain", embedder.dim, False

        def embed(self, texts, *, cut=False, advance=None):
            return embedder.embed(texts, advance=advance)

    index = make(embedder=CachedEmbedder(Plain(), open_cache(tmp_path / "plain.sqlite3")))
    assert np.array_equal(index.vectors.vectors, embedder.embed(TEXTS))
    assert index.tokens is None


def test_a_build_embeds_once_and_holds_the_token_vectors_of_one_group(tmp_path, embedder, open_cache, chunks_of):
    held = []

    class Watched(CachedEmbedder):
        def embed_tokens(self, texts, *, advance=None):
            held.append(len(texts))
            return super().embed_tokens(texts, advance=advance)

    texts = [f"text {i % 150}" for i in range(200)]
    cached, done = Watched(embedder, open_cache(tmp_path / "vectors.sqlite3")), []
    with closing(open_or_build("chunker", chunks_of(texts), cached, tmp_path, done.append)) as index:
        assert np.array_equal(index.vectors.vectors, embedder.embed(texts))
    # 150 distinct ones in groups of 64, 22 and 64 to embed them, and 200 in four groups to write them.
    assert held == [64, 22, 64, 64, 64, 64, 8]
    assert cached.embedded == 150
    assert sum(done) == 200


def test_other_chunks_have_another_index_and_only_they_are_embedded(make, cached):
    first = make()
    second = make([*TEXTS[:3], "annual leave, amended"])
    assert second.folder != first.folder
    assert cached.embedded == 4


def test_another_model_has_another_index(make, cached):
    class Renamed(CachedEmbedder):
        id = "renamed"

    assert make().folder != make(embedder=Renamed(cached, cached._cache)).folder


@pytest.mark.parametrize(("file", "change"), [("vectors.npy", np.negative), ("token_codes.npy", np.abs)])
def test_an_index_of_other_vectors_is_told_and_built_anew_though_its_manifest_is_right(
    make, cached, embedder, caplog, file, change
):
    index = make()
    index.close()
    np.save(index.folder / file, change(np.load(index.folder / file)))
    (index.folder / build.MANIFEST).write_text(json.dumps({"files": build._checksums(index.folder)}))
    with caplog.at_level(logging.WARNING):
        again = make()
    assert (
        f"{index.folder}: 3 of 3 chunks that were embedded anew have other vectors; it is built anew" in caplog.messages
    )
    assert np.array_equal(again.vectors.vectors, embedder.embed(TEXTS))
    assert np.array_equal(again.tokens.vectors(1), canaries.decoded(embedder.embed_tokens(TEXTS)[1][1]))
    assert cached.embedded == 3


@pytest.mark.parametrize("name", ["chromadb", "numpy", "index/store.py", "index/tokens.py", "index/build.py"])
def test_its_name_holds_the_code_and_the_libraries_that_make_it(cached, monkeypatch, name):
    before = build.version(cached)
    for what in ("sources", "versions"):
        told = getattr(code, what)
        monkeypatch.setattr(
            code, what, lambda *parts, told=told: {k: "x" if k == name else v for k, v in told(*parts).items()}
        )
    assert build.version(cached) != before


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        (build.MANIFEST, lambda path: path.unlink()),
        (build.MANIFEST, lambda path: path.write_text("{")),
        (build.MANIFEST, lambda path: path.write_text("[]")),
        ("vectors.npy", lambda path: path.write_bytes(path.read_bytes()[:-4])),
        ("token_codes.npy", lambda path: path.unlink()),
        ("data_level0.bin", lambda path: path.write_bytes(b"\xff" * path.stat().st_size)),
    ],
)
def test_a_damaged_index_is_told_and_built_anew(make, cached, caplog, file, damage):
    index = make()
    index.close()
    damage(next(index.folder.rglob(file)))
    with caplog.at_level(logging.WARNING):
        again = make()
    assert "damaged" in caplog.text
    assert str(again.folder) in caplog.text
    assert again.vectors.search(cached.embed(["sick pay"])[0], 1) == [(1, 1.0)]
    assert cached.embedded == 3


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"\xff" * 5000)])
def test_a_damaged_database_of_chroma_is_told_and_built_anew(make, cached, caplog, damage):
    index = make()
    index.close()
    damage(index.folder / "chroma" / "chroma.sqlite3")
    with caplog.at_level(logging.WARNING):
        again = make()
    assert "damaged" in caplog.text
    assert again.vectors.search(cached.embed(["sick pay"])[0], 1) == [(1, 1.0)]


EDITS = [
    lambda data, at: data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :],
    lambda data, at: data[:at],
    lambda data, at: data[: at - at % 4096] + bytes(4096) + data[at - at % 4096 + 4096 :],
    lambda data, at: data[:at] + b"\x01" + data[at:],
]


@pytest.mark.parametrize("edit", EDITS, ids=["a bit", "cut", "a page of zeros", "a byte more"])
def test_every_edit_of_chromas_database_is_noticed(make, tmp_path, edit):
    index = make()
    assert build._whole(index.folder), "it is opened, and stays as it was written"
    index.vectors.search(index.vectors.vectors[0], 2)
    index.close()
    path = index.folder / "chroma" / "chroma.sqlite3"
    whole = path.read_bytes()
    generator = random.Random(4)
    for number in range(15):
        damaged = edit(whole, generator.randrange(len(whole)))
        if damaged == whole:  # a page of zeros is one already
            continue
        copy = tmp_path / str(number)
        shutil.copytree(index.folder, copy)
        (copy / "chroma" / "chroma.sqlite3").write_bytes(damaged)
        assert not build._whole(copy)


def test_an_index_that_cannot_be_written_is_used_as_it_is(make, cached):
    """As another user, where the tests run as root, who may write anything."""
    first = make()
    first.close()
    for path in (*first.folder.rglob("*"), first.folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = build._checksums(first.folder)
    again = make()
    assert again.vectors.search(cached.embed(["sick pay"])[0], 1) == [(1, 1.0)]
    again.close()
    assert build._checksums(first.folder) == before
    for path in (first.folder, *first.folder.rglob("*")):
        path.chmod(0o755)


def test_the_copy_that_chroma_opens_goes_with_the_index(make, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    index = make()
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    index.close()
    assert not list((tmp_path / "temporary").iterdir())


def test_a_place_for_the_copy_that_cannot_be_written_is_told(make, tmp_path, monkeypatch):
    make()
    monkeypatch.setattr(shutil, "copyfile", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(StorageError, match=r"No space left on device.*TMPDIR"):
        make()


def test_a_folder_that_is_gone_before_it_is_swept_is_no_error(make, tmp_path, monkeypatch):
    left = tmp_path / "indexes" / ".building-old"
    left.mkdir(parents=True)
    glob = Path.glob

    def found_and_gone(self, pattern, **options):
        found = list(glob(self, pattern, **options))
        if str(pattern).startswith(build.BUILDING):
            left.rmdir()
        return found

    monkeypatch.setattr(Path, "glob", found_and_gone)
    assert make().vectors.vectors.shape == (4, 384)


class PanicException(BaseException):
    """As Chroma's part in Rust raises it."""


def test_a_panic_of_chroma_is_an_error_with_a_remedy(make, monkeypatch):
    make()
    monkeypatch.setattr("docmind.index.store._client", lambda _: (_ for _ in ()).throw(PanicException("a null")))
    with pytest.raises(StorageError, match=r"a null.*--index-dir"):
        make()


def test_a_half_built_folder_is_never_used_and_is_swept_when_it_is_old(make, tmp_path):
    old, young = tmp_path / "indexes" / ".building-old", tmp_path / "indexes" / ".building-young"
    for folder in (old, young):
        folder.mkdir(parents=True)
    then = time.time() - build.ABANDONED_AFTER - 1
    os.utime(old, (then, then))
    make()
    assert not old.exists()
    assert young.exists()


def test_a_build_at_fault_is_made_again_and_one_that_stays_so_leaves_nothing(make, tmp_path, monkeypatch, caplog):
    faults = iter(["torn", None])
    monkeypatch.setattr(build.ChromaIndex, "fault", lambda self: next(faults))
    make(TEXTS[:2])
    assert caplog.text.count("torn") == 1
    monkeypatch.setattr(build.ChromaIndex, "fault", lambda self: "torn")
    before = list((tmp_path / "indexes").iterdir())
    with pytest.raises(StorageError, match="torn, 3 times"):
        make()
    assert list((tmp_path / "indexes").iterdir()) == before


def test_a_folder_in_the_way_is_an_error_with_a_remedy(tmp_path, cached, chunks_of):
    (tmp_path / "indexes").write_text("in the way")
    with pytest.raises(StorageError, match="--index-dir"):
        open_or_build("chunker", chunks_of(TEXTS), cached, tmp_path / "indexes")


BUILD = """
import sys
from pathlib import Path
from docmind.index.build import open_or_build
from docmind.index.cache import CachedEmbedder, VectorCache
from docmind.models import load
from docmind.types import Chunk, Document, Span
chunks = []
for i in range(150):
    document = Document(f"{i:04}.md", "", f"page {i} about subject {i * i}")
    chunks.append(Chunk.of(document, (Span(document.id, 0, len(document.text)),), 0))
folder = Path(sys.argv[1])
cached = CachedEmbedder(load("default").embedder, VectorCache(folder / "vectors.sqlite3"))
index = open_or_build("chunker", chunks, cached, folder, advance=lambda done: print("advance", flush=True))
print(index.folder.name, len(index.vectors.search(cached.embed(["page 7"])[0], 150)))
"""


def test_two_builds_at_once_do_not_harm_each_other(tmp_path):
    command = [sys.executable, "-c", BUILD, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    lines = [process.communicate()[0].splitlines()[-1] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert lines[0] == lines[1]
    assert lines[0].endswith(" 150")
    assert not list(tmp_path.glob(".building-*"))


def test_a_build_killed_at_any_moment_leaves_what_the_next_one_needs(tmp_path):
    command = [sys.executable, "-c", BUILD, str(tmp_path)]
    for lines_before_the_kill in (1, 2, 3):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for _ in range(lines_before_the_kill):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.communicate()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].endswith(" 150")


def test_the_manifest_is_readable(make):
    files = json.loads((make().folder / build.MANIFEST).read_text())["files"]
    assert {"vectors.npy", "token_codes.npy"} < set(files)
    assert all(len(digest) == 64 for digest in files.values())
