"""A folder to documents, and what is wrong with a folder."""

from __future__ import annotations

import os
import shlex
import time
import unicodedata
from pathlib import Path

import pytest
from handmade_pdf import pdf

from docmind.corpus import FORMATS, load, look
from docmind.errors import CorpusError


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"# {name}\ntext")


def ids(root: Path, *exclude: str) -> list[str]:
    return [document.id for document in load(root, exclude)]


def test_pages_of_any_depth_are_sorted_by_id(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.MD", "a/b/c.markdown", "a.md", "c.mdx", ".git/x.md", ".hidden.md")
    assert ids(tmp_path) == ["a.md", "a/b/c.markdown", "a/z.MD", "b.md", "c.mdx"]


def test_notice_and_readme_at_the_top_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, "NOTICE.md", "README.md", "a.md", "tools/README.md")
    assert ids(tmp_path) == ["a.md", "tools/README.md"]


def test_patterns_leave_out_pages_and_folders(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "drafts/b.md", "x/draft-c.md", "x/d.md")
    assert ids(tmp_path, "drafts", "*/draft-*") == ["a.md", "x/d.md"]


def test_a_document_has_text_and_sections(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (document,) = load(tmp_path)
    assert (document.title, document.text, len(document.sections)) == ("a.md", "# a.md\ntext", 1)
    assert [block.kind for block in document.blocks] == ["heading", "paragraph"]


def test_links_to_pages_and_folders_elsewhere_are_followed(tmp_path: Path) -> None:
    write(tmp_path, "elsewhere/a.md", "corpus/b.md")
    (tmp_path / "corpus" / "more").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "corpus" / "c.md").symlink_to(tmp_path / "elsewhere" / "a.md")
    (tmp_path / "corpus" / "gone.png").symlink_to(tmp_path / "nowhere.png")
    assert ids(tmp_path / "corpus") == ["b.md", "c.md", "more/a.md"]


def test_a_missing_folder_a_file_and_a_folder_without_pages_are_errors(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"does not exist.*--corpus DIR"):
        load(tmp_path / "nowhere")
    write(tmp_path, "README.md")
    with pytest.raises(CorpusError, match="is no folder"):
        load(tmp_path / "README.md")
    with pytest.raises(CorpusError, match="holds no pages"):
        load(tmp_path)


def test_a_link_to_itself_is_an_error_that_a_pattern_mends(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / "loop.md").symlink_to("loop.md")
    with pytest.raises(CorpusError, match=r"loop\.md is a link that leads back to itself"):
        load(tmp_path)
    assert ids(tmp_path, "loop.md") == ["a.md"]


def test_a_circle_of_folders_is_an_error_that_a_pattern_mends(tmp_path: Path) -> None:
    write(tmp_path, "a/b/c.md")
    (tmp_path / "a" / "b" / "up").symlink_to(tmp_path / "a", target_is_directory=True)
    with pytest.raises(CorpusError, match="a circle"):
        load(tmp_path)
    assert ids(tmp_path, "*/up") == ["a/b/c.md"]


def test_a_page_whose_link_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    with pytest.raises(CorpusError, match=r"gone\.md cannot be read"):
        load(tmp_path)


def test_a_folder_that_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(CorpusError, match=r"cannot be read \(Permission denied\)"):
        load(tmp_path)


def test_all_that_is_wrong_is_told_at_once_with_the_options_that_leave_it_out(tmp_path: Path) -> None:
    write(tmp_path, "good.md")
    (tmp_path / "a b.md").symlink_to("nowhere.md")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "front[1].md").write_text("---\ntitle: A\ntitle: B\n---\n")
    (tmp_path / "scan.pdf").write_bytes(pdf(["", ""]))
    (tmp_path / "up").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(CorpusError) as raised:
        load(tmp_path)
    head, *told, remedy = str(raised.value).split("\n")
    assert head == f"corpus {tmp_path}: faults in the documents: 5"
    assert [line.removeprefix(f"{tmp_path}/").split(" ", 1)[0] for line in told] == [
        "a", "front[1].md:3:", "latin.txt:1:", "scan.pdf", "up",
    ]  # fmt: skip
    options = "--exclude 'a b.md' --exclude 'front[[]1].md' --exclude latin.txt --exclude scan.pdf --exclude up"
    assert remedy == f"Mend what is wrong, or leave it out: {options}"
    assert ids(tmp_path, *shlex.split(options)[1::2]) == ["good.md"]


def test_of_many_faults_the_first_are_told_and_the_rest_counted(tmp_path: Path) -> None:
    for n in range(23):
        (tmp_path / f"{n:02}.txt").write_bytes(b"\xff")
    with pytest.raises(CorpusError) as raised:
        load(tmp_path)
    lines = str(raised.value).split("\n")
    assert len(lines) == 1 + 20 + 2
    assert lines[0].endswith("faults in the documents: 23")
    assert lines[-2] == "and 3 more"


def test_a_name_that_is_no_utf_8_is_a_fault_that_its_option_mends(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("text")
    with pytest.raises(CorpusError, match=r"is not UTF-8\. Mend what is wrong, or leave it out: --exclude 'caf\?\.md'"):
        load(tmp_path)
    assert ids(tmp_path, "caf?.md") == ["a.md"]


COMPOSED, DECOMPOSED = "\u00dcber/Stra\u00dfe \u00e9.md", "U\u0308ber/Stra\u00dfe e\u0301.md"


@pytest.mark.parametrize("name", [COMPOSED, DECOMPOSED])
def test_a_name_is_composed_whoever_wrote_it(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, "a.md")
    assert ids(tmp_path) == ["a.md", COMPOSED]
    for pattern in (COMPOSED, DECOMPOSED, "\u00dc*", "U\u0308*"):
        assert ids(tmp_path, pattern) == ["a.md"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_page_that_is_named_by_its_file_has_a_composed_title(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"e\u0301{suffix}"
    written(suffix, "text", tmp_path).rename(path)
    assert [document.title for document in load(tmp_path)] == ["\u00e9"]


def test_two_files_of_one_name_are_a_fault(tmp_path: Path) -> None:
    write(tmp_path, COMPOSED, DECOMPOSED, "a.md")
    if len(list(tmp_path.rglob("*.md"))) < 3:
        pytest.skip("this file system takes both for one name")
    with pytest.raises(CorpusError, match=r"two files are named .*: rename "):
        load(tmp_path)


def test_files_that_are_not_read_are_told_once_by_suffix(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(
        tmp_path, "a.md", "b.mdx", "c.rst", "d/e.RST", "f.html", "Makefile", ".hidden.rst", "README.md", "drafts/x.rst"
    )
    assert ids(tmp_path, "drafts") == ["a.md", "b.mdx"]
    [record] = caplog.records
    assert record.getMessage() == (
        f"{tmp_path}: files that are not read, since they are none of .md, .markdown, .mdx, .pdf, .txt: "
        "1 without a suffix, 1 .html, 2 .rst."
    )
    caplog.clear()
    assert ids(tmp_path, "drafts", "*.[rR][sS][tT]", "*.html", "Makefile") == ["a.md", "b.mdx"]
    assert not caplog.records


def test_a_folder_of_other_kinds_says_which(tmp_path: Path) -> None:
    write(tmp_path, "a.rst", "b.rst", "c.docx")
    with pytest.raises(CorpusError, match=r"holds no pages .* Files of other kinds are there: 1 \.docx, 2 \.rst\. Put"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("a.md", ""),
        ("b.md", ""),
        ("c.rst", "it is there, but .rst is not read; .md, .markdown, .mdx, .pdf, .txt are"),
        ("Makefile", "it is there, but a file without a suffix is not read; .md"),
        ("drafts/x.md", "it is left out by the pattern 'drafts' of --exclude"),
        ("old-e\u0301.md", "it is left out by the pattern 'old-*' of --exclude"),
        ("README.md", "it is left out, since it tells of the corpus"),
        (".git/x.md", "it is left out, as all is whose name begins with a dot"),
        ("../corpus/c.rst", ""),
        ("/", ""),
        ("", ""),
    ],
)
def test_why_a_file_is_no_page_is_known(tmp_path: Path, page: str, why: str) -> None:
    write(tmp_path, "a.md", "c.rst", "Makefile", "drafts/x.md", "old-e\u0301.md", "README.md", ".git/x.md")
    told = look(tmp_path, FORMATS, ["drafts", "old-*"]).why_left_out(unicodedata.normalize("NFC", page))
    assert told.startswith(why)
    assert bool(told) == bool(why)


TEXT = """# Leave

You have 25 days.
| Country | Days |
|---|---|
| Spain | 22 |

## When abroad
- Ask
  - first

> # Quoted

```sh
# run
```
"""
BYTES = {".pdf": lambda text: pdf([text, "", "One more page."])}
"""How a format that is no text is written; a format that is none of these is written as text."""


def written(suffix: str, text: str, folder: Path) -> Path:
    path = folder / f"page{suffix}"
    path.write_bytes(BYTES.get(suffix, str.encode)(text))
    return path


@pytest.mark.parametrize("text", [TEXT, "text", "\n\n a \n \t\n\n b \n"], ids=["marks", "word", "blank lines"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_gives_a_document_whose_blocks_and_sections_agree(suffix: str, text: str, tmp_path: Path) -> None:
    """What chunkers, answers and reports rely on; a newcomer to FORMATS inherits it."""
    document = FORMATS[suffix](written(suffix, text, tmp_path), "folder/page")
    assert document.id == "folder/page"
    done = 0
    for block in document.blocks:
        assert block.span.doc_id == "folder/page"
        assert done <= block.span.start
        assert not document.text[done : block.span.start].strip()
        # whole lines, without blank ones around them and without the last line break
        assert document.text[block.span.end : block.span.end + 1] in ("", "\n")
        assert document.text[: block.span.start][-1:] in ("", "\n")
        assert document.text[block.span.start : block.span.end].split("\n")[-1].strip()
        done = block.span.end
    assert not document.text[done:].strip()
    assert document.blocks
    sections = document.sections
    assert "".join(document.text[s.span.start : s.span.end] for s in sections) == document.text
    assert [s.span.start for s in sections] == sorted(s.span.start for s in sections)
    assert all(s.span.doc_id == "folder/page" for s in sections)
    titled = [block for block in document.blocks if block.kind == "heading" and block.title]
    assert [(b.level, b.title, b.words, b.span.start) for b in titled] == [
        (s.level, s.title, s.heading, s.span.start) for s in sections if s.level
    ]


@pytest.mark.parametrize("suffix", [suffix for suffix in FORMATS if suffix not in BYTES])
@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_a_blank_text_has_no_blocks(suffix: str, text: str, tmp_path: Path) -> None:
    assert FORMATS[suffix](written(suffix, text, tmp_path), "page").blocks == ()


@pytest.mark.parametrize("suffix", [suffix for suffix in FORMATS if suffix not in BYTES])
def test_a_page_of_one_line_and_ten_megabytes_is_read_in_seconds(suffix: str, tmp_path: Path) -> None:
    started = time.perf_counter()
    document = FORMATS[suffix](written(suffix, "word " * 1_999_999 + "words", tmp_path), "page")
    assert time.perf_counter() - started < 30
    assert [(block.span.start, block.span.end) for block in document.blocks] == [(0, 10_000_000)]
