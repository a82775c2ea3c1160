"""A PDF to a document: its text by page, what of it cannot be read, and that no file can do harm."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from handmade_pdf import bomb, locked, pdf

from docmind.corpus import load
from docmind.corpus.pdf import read, told, troubles, without_text
from docmind.errors import CorpusError
from docmind.types import Document

LEAVE, PAY = "Annual leave is 25 days.\nFive may be carried over.", "Salaries are paid on the 25th."


def read_bytes(tmp_path: Path, contents: bytes) -> Document:
    path = tmp_path / "rules.pdf"
    path.write_bytes(contents)
    return read(path, "a/rules.pdf")


def test_pages_start_at_their_offsets(tmp_path):
    document = read_bytes(tmp_path, pdf([LEAVE, PAY]))
    assert document.id == "a/rules.pdf"
    assert document.text == f"{LEAVE}\n\n{PAY}"
    assert document.pages == (0, len(LEAVE) + 2)
    assert [(s.level, s.span.start, s.span.end) for s in document.sections] == [(0, 0, len(document.text))]


def test_no_paragraph_crosses_the_border_of_a_page_and_marks_mean_nothing(tmp_path):
    document = read_bytes(tmp_path, pdf([f"# {LEAVE}", "", f"| {PAY}", "- last"]))
    assert [document.text[b.span.start : b.span.end] for b in document.blocks] == [f"# {LEAVE}", f"| {PAY}", "- last"]
    assert {block.kind for block in document.blocks} == {"paragraph"}
    for block in document.blocks:
        assert not any(block.span.start < border < block.span.end for border in document.pages)


def test_the_title_is_the_authors_else_the_files_name(tmp_path):
    assert read_bytes(tmp_path, pdf([LEAVE], title="Rules  of (2026)")).title == "Rules of (2026)"
    assert read_bytes(tmp_path, pdf([LEAVE])).title == "rules"


@pytest.mark.parametrize(
    "title", ["(anonymous)", "untitled", "Untitled", "(unspecified)", " Untitled  document", "-", b"<FEFFD800>"]
)
def test_what_programs_write_for_a_title_is_none(tmp_path, title):
    assert read_bytes(tmp_path, pdf([LEAVE], title)).title == "rules"


@pytest.mark.parametrize(
    ("written", "title"),
    [
        (b"<FEFF0041D8000042>", "A\ufffdB"),
        (b"<FEFF0041DC00>", "A\ufffd"),
        (b"<FEFFD83DDE000041>", "\U0001f600A"),
        (b"<FEFF00650301>", "\u00e9"),
        (b"(A\\000B)", "A\ufffdB"),
    ],
)
def test_a_title_with_half_a_character_is_read(tmp_path, written, title):
    assert read_bytes(tmp_path, pdf([LEAVE], written)).title == title


@pytest.mark.parametrize(
    ("code", "read"),
    [
        ("0000", "\ufffd"),
        ("0001", "\ufffd"),
        ("FFFE", "\ufffd"),
        ("D800", "\ufffd"),
        ("FFFD", "\ufffd"),
        ("E001", "\ue001"),
        ("DBC0DC01", "\U00100001"),
    ],
)
def test_letters_without_a_meaning_are_counted_and_told_by_page(tmp_path, caplog, code, read):
    document = read_bytes(tmp_path, pdf(["The o#ce po-\nlicy # #ts", "fine", "#oor"], meanings={"#": code}))
    assert document.text == f"The o{read}ce policy {read} {read}ts\n\nfine\n\n{read}oor"
    n = 3 if read == "\ue001" else 4  # a private character that stands alone is a bullet
    told = (
        f"letters of which the file does not say what they mean: {n}, on pages 1, 3. Words with them cannot be found."
    )
    [record] = caplog.records
    assert f"rules.pdf: {told}" in record.getMessage()
    assert [trouble.startswith(told) for trouble in troubles(document)] == [True]


def test_ligatures_that_are_told_are_their_letters(tmp_path, caplog):
    assert read_bytes(tmp_path, pdf(["The o#ce"], meanings={"#": "FB03"})).text == "The office"
    assert read_bytes(tmp_path, pdf(["The o#ce"], meanings={"#": "006600660069"})).text == "The office"
    assert not caplog.records


def test_a_word_that_is_divided_at_the_lines_end_is_whole(tmp_path):
    assert read_bytes(tmp_path, pdf(["You may co-\noperate."])).text == "You may cooperate."


def test_a_folder_of_pdfs_is_a_corpus(tmp_path):
    (tmp_path / "b.PDF").write_bytes(pdf([PAY]))
    (tmp_path / "a.md").write_text(LEAVE)
    assert [document.text for document in load(tmp_path)] == [LEAVE, PAY]


def test_pages_without_text_are_told_by_number_and_keep_their_place(tmp_path, caplog):
    document = read_bytes(tmp_path, pdf([LEAVE, "", "", "", PAY, "", "x", "", "", ""]))
    assert without_text(document) == (2, 3, 4, 6, 8, 9, 10)
    assert "rules.pdf: 7 of 10 pages hold no text and cannot be found: pages 2-4, 6, 8-10." in caplog.text
    assert len(document.pages) == 10
    assert document.text[document.pages[4] : document.pages[5]].strip() == PAY


def test_one_page_without_text_is_told_as_one():
    assert told((2,), 3) == "1 of 3 pages holds no text and cannot be found: page 2"


def test_what_is_locked_with_an_empty_password_is_opened(tmp_path):
    assert read_bytes(tmp_path, locked(pdf([LEAVE]), "")).text == LEAVE


@pytest.mark.parametrize(
    ("contents", "why"),
    [
        (b"", r"is empty, 0 bytes\. Save or download it again"),
        (b"PK\x03\x04 a zip", r"is no PDF, though it is named like one"),
        (pdf([LEAVE])[:200], r"is damaged or cut off"),
        (locked(pdf([LEAVE]), "secret"), r"is locked with a password\. Save it without one"),
        (pdf(["", ""]), r"holds no text: it has 2 pages, scanned or drawn\. Run text recognition"),
        (pdf([]), r"(has no pages|is damaged)"),
        (pdf([""] * 2_001), r"has 2,001 pages; it may have 2,000\. Split it"),
        (b"%PDF-1.7" + b" " * 20 * 2**20, r"has 20,971,528 bytes; a PDF may have 20,971,520\. Split it"),
    ],
    ids=["empty", "zip", "cut", "locked", "scanned", "no pages", "pages", "bytes"],
)
def test_what_cannot_be_read_is_refused_by_name_with_a_remedy(tmp_path, contents, why):
    with pytest.raises(CorpusError, match=rf"rules\.pdf {why}"):
        read_bytes(tmp_path, contents)


def test_2000_pages_are_read_in_seconds(tmp_path):
    document = read_bytes(tmp_path, pdf(["\n".join(["a line of some words that fills it"] * 40)] * 2_000))
    assert len(document.pages) == 2_000


def test_a_file_that_holds_too_much_text_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("docmind.corpus.pdf.MAX_CHARACTERS", 100)
    with pytest.raises(CorpusError, match=r"holds more than 100 characters, at page 3\. Split it"):
        read_bytes(tmp_path, pdf(["x" * 50, "y" * 50, "z"]))


@pytest.mark.parametrize(
    "unit", [b" " * 2**20, b"BT /F 9 Tf 9 9 Td (word word word) Tj ET\n" * 23_000], ids=["blanks", "text"]
)
def test_a_bomb_is_stopped_by_its_limit_of_memory(tmp_path, monkeypatch, unit):
    monkeypatch.setattr("docmind.corpus.pdf.MEMORY", 2**28)
    contents = bomb(unit, 600_000_000 // len(unit))
    assert len(contents) < 2_000_000  # and 600 MB when unpacked
    with pytest.raises(CorpusError, match=r"asks for more than 0\.25 GB of memory"):
        read_bytes(tmp_path, contents)


def test_a_file_that_takes_too_long_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr("docmind.corpus.pdf.SECONDS", 0.01)
    started = time.perf_counter()
    with pytest.raises(CorpusError, match=r"takes more than 0 seconds to read"):
        read_bytes(tmp_path, pdf([LEAVE]))
    assert time.perf_counter() - started < 5


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(CorpusError, match=r"cannot be read \(No such file"):
        read(tmp_path / "gone.pdf", "gone.pdf")
