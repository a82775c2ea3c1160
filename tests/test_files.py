import errno
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from workplace import disk

from docmind.errors import StorageError
from docmind.files import append_line, check_writable, own_folder, read_whole, write_atomic


def test_writes_whole_files_into_new_folders_with_line_feeds_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "a.json"
    write_atomic({path: "1\n"})
    write_atomic({path: "é\n2\n"})
    assert path.read_bytes() == "é\n2\n".encode()
    assert [p.name for p in path.parent.iterdir()] == ["a.json"]


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(errno.ENOSPC, "Free space"), (errno.EROFS, "Make .* writable"), (errno.EACCES, "Make .* writable")],
)
def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, remedy: str
) -> None:
    path = tmp_path / "a.json"
    write_atomic({path: "old"})

    def fail(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match=f"a.json: cannot be written: .*{remedy}"):
        write_atomic({path: "new"})
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_a_folder_that_is_a_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(StorageError, match=r"out/a\.json: cannot be written.*must be a folder"):
        write_atomic({tmp_path / "out" / "a.json": "new"})


def test_files_that_belong_together_are_written_all_or_none(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "blocked" / "b.json"
    write_atomic({first: "old"})
    (tmp_path / "blocked").write_text("in the way")
    with pytest.raises(StorageError, match=r"b\.json: cannot be written"):
        write_atomic({first: "new", second: "new"})
    assert first.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "blocked"]


def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    check_writable(tmp_path / "new" / "deep")
    for place in (tmp_path / "file", tmp_path / "file" / "deep"):
        with pytest.raises(StorageError, match="nothing can be written there"):
            check_writable(place)


def test_a_reader_never_sees_a_part(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    texts = {"x" * 200_000, "y" * 100_000}
    write_atomic({path: max(texts)})
    done = threading.Event()

    def write() -> None:
        for _ in range(20):
            for text in texts:
                write_atomic({path: text})
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        assert path.read_text() in texts
    writer.join()


@pytest.mark.parametrize(
    "write", [lambda path: write_atomic({path: "new"}), lambda path: append_line(path, "new")], ids=["whole", "a line"]
)
def test_a_file_system_that_is_read_only_is_told(tmp_path: Path, write: Callable[[Path], None]) -> None:
    with disk(tmp_path / "closed", "ro"), pytest.raises(StorageError, match=r"Make .*closed writable"):
        write(tmp_path / "closed" / "a.json")


def test_a_line_is_added_and_ends_one_that_was_left_unfinished(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.jsonl"
    append_line(path, "é")
    append_line(path, "\ud800")
    assert path.read_bytes() == b"\xc3\xa9\n\xed\xa0\x80\n"
    path.write_bytes(b"whole\ncut")
    append_line(path, "next")
    assert path.read_bytes() == b"whole\ncut\nnext\n"


def test_two_threads_may_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with ThreadPoolExecutor(8) as writers:
        list(writers.map(lambda number: write_atomic({path: f"{number % 2}" * 10_000}), range(64)))
    assert set(path.read_text()) in ({"0"}, {"1"})
    assert [left.name for left in tmp_path.iterdir()] == ["a.json"]


def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    killed = dead()
    names = [
        f".a.json.{os.getppid()}.tmp",
        ".a.json.0.tmp",
        ".a.json.tmp",
        f".c.json.{killed}.tmp",
        f".a.json.{killed}.bak",
    ]
    for name in (f".a.json.{killed}-7.tmp", f".b.md.{killed}-8.tmp", *names):
        (tmp_path / name).write_text("half")
    write_atomic({tmp_path / "a.json": "new"}, instead_of=[tmp_path / "b.md"])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["a.json", *names])


def test_what_is_replaced_goes_once_all_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, old = tmp_path / "a.json", tmp_path / "old.md"
    old.write_text("old")
    write_atomic({first: "new"}, instead_of=[old, tmp_path / "never.md"])
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    old.write_text("old")
    (tmp_path / "blocked").write_text("in the way")
    with pytest.raises(StorageError):
        write_atomic({first: "newer", tmp_path / "blocked" / "b.json": ""}, instead_of=[old])
    assert (first.read_text(), old.read_text()) == ("new", "old")


def test_a_folder_for_temporary_files_is_removed_once_its_process_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in (f"docmind-{dead()}-abc", f"docmind-{os.getppid()}-abc", "docmind-notes", "other"):
        (tmp_path / name / "in").mkdir(parents=True)
    mine = own_folder()
    assert mine.is_dir()
    assert own_folder() != mine
    left = {path.name for path in tmp_path.iterdir()}
    assert left > {f"docmind-{os.getppid()}-abc", "docmind-notes", "other", mine.name}
    assert len(left) == 5


def test_what_may_never_end_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path("/dev/full"), Path("/dev/zero")):
        with pytest.raises(OSError, match="a device or a pipe"):
            read_whole(place)
    with pytest.raises(IsADirectoryError):
        read_whole(tmp_path)
    (tmp_path / "a").write_bytes(b"12345")
    assert read_whole(tmp_path / "a", 5) == b"12345"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_whole(tmp_path / "a", 4)
