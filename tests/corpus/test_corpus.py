"""A folder to documents, and what is wrong with a folder."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from handmade_pdf import pdf

from docmind.corpus import FORMATS, load
from docmind.errors import CorpusError


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"# {name}\ntext")


def ids(root: Path, *exclude: str) -> list[str]:
    return [document.id for document in load(root, exclude)]


def test_pages_of_any_depth_are_sorted_by_id(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.MD", "a/b/c.markdown", "a.md", "notes.rst", ".git/x.md", ".hidden.md")
    assert ids(tmp_path) == ["a.md", "a/b/c.markdown", "a/z.MD", "b.md"]


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
