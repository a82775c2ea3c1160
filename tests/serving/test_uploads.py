"""A visitor's documents: what is taken and refused, what replaces what, and that nothing is left behind."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from handmade_pdf import pdf

from docmind.corpus import FORMATS
from docmind.errors import StorageError
from docmind.models import load
from docmind.retrieval.searcher import quiet
from docmind.serving.uploads import Told, Uploads
from docmind.types import Document

STRATEGY = "headers+rerank"


class Counting:
    """The default embedder, which counts the texts that it embeds."""

    def __init__(self, inner: object) -> None:
        self.inner = inner
        self.texts: list[str] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    def embed_tokens(self, texts, *, advance=None):
        self.texts += texts
        return self.inner.embed_tokens(texts, advance=advance)


@pytest.fixture
def embedder(embedder) -> Counting:
    return Counting(embedder)


@pytest.fixture
def temp(tmp_path, monkeypatch) -> Path:
    """The folder of temporary folders."""
    place = tmp_path / "temp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.fixture
def uploads(temp, embedder) -> Iterator[Uploads]:
    made = Uploads(replace(load("default"), embedder=embedder))
    yield made
    made.close()


def add(uploads: Uploads, *files: tuple[str, bytes | str]) -> list[Told]:
    return uploads.add([(n, c if isinstance(c, bytes) else c.encode()) for n, c in files], STRATEGY, quiet)


def documents(uploads: Uploads) -> dict[str, Document]:
    assert uploads.searcher
    return {id_.removeprefix("documents/"): document for id_, document in uploads.searcher.documents.items()}


def found(uploads: Uploads, question: str) -> str:
    """All that can be found at all."""
    assert uploads.searcher
    return "\n".join(hit.text for hit in uploads.searcher(STRATEGY, question, 100).hits)


def kept(temp: Path) -> bytes:
    """All bytes of all files."""
    return b"".join(path.read_bytes() for path in temp.rglob("*") if path.is_file())


def policy(days: int, sections: int) -> str:
    return "# Policy\n\n" + "\n\n".join(f"## Part {n}\n\nYou have {days} days, says part {n}." for n in range(sections))


def test_every_format_is_asked_like_the_handbook(uploads):
    told = add(uploads, ("a.md", "# Leave\n\n25 days"), ("b.txt", "Paid in March"), ("c.PDF", pdf(["x", "Rail only"])))
    assert told == [Told("a.md", True), Told("b.txt", True), Told("c.PDF", True)]
    assert uploads.names == ("a.md", "b.txt", "c.PDF")
    assert all(words in found(uploads, "leave") for words in ("25 days", "Paid in March", "Rail only"))


def test_a_shorter_new_version_leaves_nothing_of_the_old(uploads, temp):
    add(uploads, ("policy.md", policy(25, 5)))
    assert found(uploads, "days").count("25 days") == 5
    assert b"25 days, says part 4" in kept(temp)
    add(uploads, ("policy.md", policy(28, 2)))
    assert uploads.names == ("policy.md",)
    assert found(uploads, "days").count("28 days") == 2
    assert "25 days" not in found(uploads, "25 days")
    assert b"25 days, says part 4" not in kept(temp)


def test_two_files_of_one_name_in_one_upload_are_kept_apart(uploads):
    told = add(uploads, ("policy.md", "25 days"), ("policy.md", "28 days"), ("policy.md", "25 days"))
    assert [file.name for file in told] == ["policy.md", "policy (2).md"]
    assert {name: document.text for name, document in documents(uploads).items()} == {
        "policy.md": "25 days",
        "policy (2).md": "28 days",
    }


def test_one_name_in_two_forms_is_one_file(uploads):
    add(uploads, ("U\u0308ber.md", "25 days"))
    add(uploads, ("\u00dcber.md", "28 days"))
    assert {name: document.text for name, document in documents(uploads).items()} == {"\u00dcber.md": "28 days"}


def test_a_name_that_is_made_up_replaces_no_file(uploads):
    add(uploads, ("a (2).md", "the old second"))
    add(uploads, ("a.md", "one"), ("a.md", "two"))
    assert uploads.names == ("a (2).md", "a (3).md", "a.md")
    assert "the old second" in found(uploads, "the old second")


def test_deleting_leaves_the_others_and_embeds_nothing_again(uploads, temp, embedder):
    add(uploads, ("a.md", "The secret is zanzibar-4711"), ("b.md", "Tea at four"))
    assert len(embedder.texts) == 2
    uploads.delete("a.md", STRATEGY, quiet)
    assert uploads.names == ("b.md",)
    assert "zanzibar-4711" not in found(uploads, "secret")
    assert b"zanzibar-4711" not in kept(temp)
    assert uploads.searcher.embedder.embedded == 0  # some of what is kept is embedded anew, to prove it
    assert {text.partition("\n")[0] for text in embedder.texts[2:]} <= {"b"}
    uploads.delete("b.md", STRATEGY, quiet)
    assert (uploads.searcher, uploads.names) == (None, ())
    assert b"Tea at four" not in kept(temp)


@pytest.mark.parametrize(
    ("name", "contents", "trouble"),
    [
        ("a.md", b"", "a.md is empty: there is no text in it."),
        ("a.txt", b" \n", "a.txt is empty: there is no text in it."),
        ("a.pdf", b"", "a.pdf is empty, 0 bytes. Save or download it again."),
        ("a.pdf", pdf([""]), "a.pdf holds no text: it has 1 page, scanned or drawn."),
        ("a.md", b"\xff", "a.md:1: byte 0xff at offset 0 is not UTF-8."),
        ("a.exe", b"MZ", f"a.exe is none of the formats that are read: {', '.join(FORMATS)}."),
        ("a.txt", b"a" * 10_000_001, "a.txt has 10,000,001 bytes; a page may have 10,000,000. Split it"),
        ("a.MD", b"a" * 10_000_001, "a.MD has 10,000,001 bytes; a page may have 10,000,000. Split it"),
        ("a.pdf", b"%PDF-" + b"a" * 20 * 2**20, "a.pdf has 20,971,525 bytes; a PDF may have 20,971,520. Split it."),
    ],
)
def test_what_is_refused_is_told_by_name_and_the_earlier_version_stays(uploads, name, contents, trouble):
    add(uploads, (f"{Path(name).stem}.md", "The good one"))
    [told] = add(uploads, (name, contents))
    assert not told.taken
    assert told.trouble.startswith(trouble)
    assert "pattern" not in told.trouble
    assert {document.text for document in documents(uploads).values()} == {"The good one"}


def test_pages_without_text_are_told_by_number(uploads):
    [told] = add(uploads, ("a.pdf", pdf(["one", "", "three"])))
    assert told == Told("a.pdf", True, "a.pdf: 1 of 3 pages holds no text and cannot be found: page 2.")


def test_letters_without_a_meaning_are_told(uploads):
    [told] = add(uploads, ("a.pdf", pdf(["The o#ce", ""], meanings={"#": "0000"})))
    assert told.taken
    assert told.trouble.startswith(
        "a.pdf: 1 of 2 pages holds no text and cannot be found: page 2. a.pdf: letters of which"
    )
    assert add(uploads, ("b.md", "The o\ufffdce")) == [Told("b.md", True)]


@pytest.mark.parametrize(
    ("given", "kept_as"),
    [
        ("../../etc/passwd.md", "passwd.md"),
        ("C:\\notes\\a.md", "a.md"),
        ("README.md", "README.md"),
        (".hidden.md", "hidden.md"),
        ("a\n\x00\u202eb.md", "ab.md"),
        ("ü" * 300 + ".md", "ü" * 100 + ".md"),
        ("U\u0308ber.md", "\u00dcber.md"),
        ("<img src=x onerror=alert(1)>.md", "<img src=x onerror=alert(1)>.md"),
    ],
)
def test_a_name_leads_nowhere_and_hides_nothing(uploads, temp, given, kept_as):
    add(uploads, (given, "text"))
    assert uploads.names == (kept_as,)
    assert list(documents(uploads)) == [kept_as]
    beside = [path.name for path in temp.iterdir() if path != uploads._folder]
    assert all(name.startswith(f"docmind-{os.getpid()}-") for name in beside), "what Chroma opens"


def test_a_change_that_fails_changes_nothing(uploads, monkeypatch):
    add(uploads, ("a.md", "The good one"))

    def stop(self, name, progress):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("docmind.retrieval.searcher.Searcher.retriever", stop)
        with pytest.raises(KeyboardInterrupt):
            add(uploads, ("a.md", "The bad one"))
    assert found(uploads, "one") == "a\n\nThe good one"
    assert [path.name for path in uploads._folder.iterdir() if path.name.isdigit()] == ["1"]


def test_closing_removes_everything(uploads, temp):
    add(uploads, ("a.md", "text"))
    assert list(temp.iterdir())
    uploads.close()
    assert not list(temp.iterdir())
    uploads.close()


def test_after_closing_nothing_is_taken_and_nothing_is_left_behind(uploads, temp):
    uploads.close()
    with pytest.raises(StorageError, match=r"This visit has ended.*Reload the page"):
        uploads.add([("a.md", b"# A\n\nText.")], STRATEGY, quiet)
    assert list(temp.iterdir()) == []


def test_closing_while_in_use_waits_for_the_end_of_it(uploads, temp):
    add(uploads, ("a.md", "text"))
    with uploads.in_use():
        closing = Thread(target=uploads.close)
        closing.start()
        closing.join(timeout=10)
        assert not closing.is_alive()
        assert "text" in found(uploads, "text")
    assert not list(temp.iterdir())


def test_what_nobody_holds_any_more_is_removed(temp, embedder):
    uploads = Uploads(replace(load("default"), embedder=embedder))
    add(uploads, ("a.md", "text"))
    uploads.searcher.close()
    del uploads
    gc.collect()
    assert not list(temp.iterdir())


def test_the_end_of_the_process_removes_it(tmp_path):
    code = """
import tempfile
from pathlib import Path
from docmind.models import load
from docmind.retrieval.searcher import quiet
from docmind.serving.uploads import Uploads

uploads = Uploads(load("default"))
uploads.add([("a.md", b"text")], "headers+bm25", quiet)
print(len(list(Path(tempfile.gettempdir()).glob("docmind-*"))))
"""
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "2\n", "the documents, and what Chroma opens"
    assert not list(tmp_path.glob("docmind-*"))
