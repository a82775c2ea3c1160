"""A plain text to a document."""

from __future__ import annotations

from pathlib import Path

import pytest

from docmind.corpus.plain import read
from docmind.errors import CorpusError
from docmind.types import Document


def read_bytes(tmp_path: Path, contents: bytes) -> Document:
    path = tmp_path / "rules.txt"
    path.write_bytes(contents)
    return read(path, "a/rules.txt")


def test_marks_stay_as_they_are_and_mean_nothing(tmp_path):
    text = "# not a heading\n<b>25</b> days, café\n\n \t\n| a | b |\n|---|---|\n| c | d |\n\n    - x\n```\n"
    decomposed = text.replace("é", "e\u0301").replace("\n", "\r\n")
    document = read_bytes(tmp_path, f"\ufeff{decomposed}".encode())
    assert (document.id, document.title, document.text) == ("a/rules.txt", "rules", text)
    assert [(block.kind, text[block.span.start : block.span.end]) for block in document.blocks] == [
        ("paragraph", "# not a heading\n<b>25</b> days, café"),
        ("paragraph", "| a | b |\n|---|---|\n| c | d |"),
        ("paragraph", "    - x\n```"),
    ]
    assert [(s.id, s.level, s.path, s.span.start, s.span.end) for s in document.sections] == [
        ("a/rules.txt#0", 0, (), 0, len(text))
    ]


@pytest.mark.parametrize(
    ("contents", "why"),
    [
        (b"one\ntwo \xff", r":2: byte 0xff at offset 8 is not UTF-8\. Save the page as UTF-8"),
        (b"a\0b", r" is no text: it holds NUL bytes"),
        (b"a" * 10_000_001, r" has 10,000,001 bytes; a page may have 10,000,000\. Split it"),
    ],
    ids=["latin", "binary", "large"],
)
def test_what_is_no_text_is_refused(tmp_path, contents, why):
    with pytest.raises(CorpusError, match=rf"rules\.txt{why}"):
        read_bytes(tmp_path, contents)


def test_a_blank_text_is_warned_of(tmp_path, caplog):
    assert not read_bytes(tmp_path, b" \n").text.strip()
    assert "rules.txt:1: the text is blank" in caplog.text


def test_a_text_that_is_not_there_is_told(tmp_path):
    with pytest.raises(CorpusError, match=r"cannot be read \(No such file"):
        read(tmp_path / "gone.txt", "gone.txt")
