"""One page to a document: front matter, title, and what is wrong with a page."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from docmind.corpus.decoding import MAX_BYTES
from docmind.corpus.markdown import document, read
from docmind.errors import CorpusError
from docmind.types import Document


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page.md"


def loaded(page: Path, text: str) -> Document:
    page.write_text(text, encoding="utf-8", newline="")
    return read(page, "page.md")


def test_front_matter_gives_title_url_and_the_rest_as_plain_values(page: Path) -> None:
    document = loaded(page, "---\ntitle: Leave\nurl: /leave/\ndate: 2024-10-05\ntags: [a, 1]\n1: x\n---\n# Head\ntext")
    assert (document.title, document.url, document.text) == ("Leave", "/leave/", "# Head\ntext")
    assert document.meta == {"date": "2024-10-05", "tags": ["a", "1"], "1": "x"}


def test_the_title_is_else_the_first_heading_else_the_file_name(page: Path) -> None:
    assert loaded(page, "lead\n\n## **Sick** pay\n\n# Other").title == "Sick pay"
    assert loaded(page, "no heading").title == "page"
    assert loaded(page, "---\ntitle:\n---\n# Head").title == "Head"
    assert loaded(page, "no front matter").url is None


@pytest.mark.parametrize(
    "text",
    [
        "---\n\n# Leave\n\nTake 25 days.\n\n---\n\n# Pay\nPaid on the 25th.",
        "---\n\nNote: take 25 days.\n\n---\n\n# Pay\nPaid on the 25th.",
        "---\n\n# Leave: *now*\n\nTake 25: days: today\n\n---\n\n# Pay\nPaid.",
    ],
)
def test_a_horizontal_rule_at_the_top_opens_no_front_matter(
    page: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    document = loaded(page, text)
    assert document.text == text
    assert document.sections[-1].title == "Pay"
    assert not caplog.records


def test_a_list_or_a_sentence_between_rules_is_no_front_matter(page: Path) -> None:
    assert "Take 25 days." in loaded(page, "---\nTake 25 days.\n\n---\n\n# Pay").text
    assert "- one" in loaded(page, "---\n- one\n- two\n\n---\n\n# Pay").text


def test_windows_line_ends_and_a_byte_order_mark_are_accepted(page: Path) -> None:
    document = loaded(page, "\ufeff---\r\ntitle: Leave\r\n---\r\n\r\nfirst\r\nsecond\r\n")
    assert (document.title, document.text) == ("Leave", "first\nsecond")


def test_an_empty_front_matter_is_left_out(page: Path) -> None:
    assert loaded(page, "---\n---\ntext").text == "text"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("---\ntitle: a\nnote: b: c\n---\ntext", 3, "no YAML"),
        ("---\ntitle: [a\n---\ntext", 3, "no YAML"),
        ("---\ntitle: A\nmore:\n  x: 1\n  x: 2\n---\ntext", 5, "no YAML .the key 'x' stands twice"),
        ("---\ntitle: A\ntitle: B\n---\ntext", 3, "no YAML .the key 'title' stands twice"),
        ("---\na: &a [*a]\n---\ntext", 2, "no YAML .found unconstructable recursive node"),
        ("---\na: " + "[" * 5000 + "\n---\n", 1, "no YAML .it is nested too deeply"),
        (
            "---\na: &a " + "x" * 999 + "\nb: [" + "*a," * 200 + "]\n---\n",
            1,
            r"aliases .* more than 100,000 characters",
        ),
        ("---\na: " + "x" * 100_000 + "\n---\n", 1, "no YAML .it has 100,005 characters; 100,000 are read"),
    ],
)
def test_front_matter_that_is_no_yaml_is_an_error(page: Path, text: str, line: int, reason: str) -> None:
    with pytest.raises(CorpusError, match=reason) as error:
        loaded(page, text)
    assert str(error.value).startswith(f"{page}:{line}:")


def test_a_page_that_is_not_utf_8_is_an_error_with_line_and_offset(page: Path) -> None:
    page.write_bytes("one\ntwo caf\u00e9".encode("latin-1"))  # 4 bytes before "two caf", 7 of it before the bad one
    with pytest.raises(CorpusError, match=r"page\.md:2: byte 0xe9 at offset 11 is not UTF-8"):
        read(page, "page.md")


def test_a_page_over_the_limit_is_an_error_before_it_is_read(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with page.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("the page was read"))
    with pytest.raises(CorpusError, match="10,000,001 bytes"):
        read(page, "page.md")


def test_a_page_that_cannot_be_read_is_an_error(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    page.write_text("text")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(CorpusError, match="cannot be read \\(Permission denied\\)"):
        read(page, "page.md")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "no text"),
        ("---\ntitle: a\n---\n<!-- nothing -->\n", 3, "no text"),
        ("---\ntitle: a\n---\n\ntext {{< x\n", 5, "never closed"),
        ("---\ntitle: a\ntext", 1, "front matter is opened"),
        ("# A\n\n<!-- text", 3, "never closed"),
    ],
)
def test_what_looks_unfinished_is_a_warning_with_file_and_line(
    page: Path, text: str, line: int, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        loaded(page, text)
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{page}:{line}: ")
    assert message in record.getMessage()


def test_a_line_of_a_megabyte_is_accepted_in_silence(page: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert len(loaded(page, "word " * 200_000).text) == 999_999
    assert not caplog.records


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("1.10", "1.10"),
        ("17:30", "17:30"),
        ("012", "012"),
        ("no", "no"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("2024-10-05", "2024-10-05"),
        ("2024-13-45", "2024-13-45"),
        ("!!timestamp foo", "foo"),
        ('!!int ""', "page"),
        ("0x" + "f" * 5000, "0x" + "f" * 5000),
        ("1" + ":1" * 40_000, "1" + ":1" * 40_000),
        (r'"\uD83D\uDE00 Launch \uD800"', "\N{GRINNING FACE} Launch \N{REPLACEMENT CHARACTER}"),
        ("Cafe\u0301", "Caf\u00e9"),
        (">\n  Sick\n  pay", "Sick pay"),
        ("[Sick, pay]", "page"),
        ("null", "page"),
    ],
)
def test_a_title_is_the_text_that_is_written(page: Path, written: str, title: str) -> None:
    assert loaded(page, f"---\ntitle: {written}\n---\ntext").title == title


def test_aliases_and_defaults_are_followed(page: Path) -> None:
    front = "versName: &v v3.6\nlinkTitle: *v\nbase: &base {title: Leave, url: /base}\n<<: *base\nurl: /leave"
    document = loaded(page, f"---\n{front}\n---\ntext")
    assert (document.title, document.url) == ("Leave", "/leave")
    assert document.meta == {"versName": "v3.6", "linkTitle": "v3.6", "base": {"title": "Leave", "url": "/base"}}


def test_a_text_in_memory_becomes_what_a_page_becomes(page: Path) -> None:
    text = "lead\n\n## **Sick** pay\n\n| a |\n|---|\n| b |"
    assert document("page.md", text) == loaded(page, text)
    assert document("folder/page.md", "no heading").title == "page"
    made = document("page.md", text, title="Handbook", url="/x", meta={"tags": [1]})
    assert (made.title, made.url, made.meta, made.text) == ("Handbook", "/x", {"tags": [1]}, text)
    assert [block.kind for block in made.blocks] == ["paragraph", "heading", "table"]


def test_an_empty_text_is_a_document_without_blocks_and_sections() -> None:
    made = document("a.md", "")
    assert (made.title, made.blocks, made.sections) == ("a", (), ())


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_front_matter_may_be_toml_or_json_and_its_values_are_the_text_that_is_written(page: Path, end: str) -> None:
    toml = '+++\ntitle = "Sick pay"\nweight = 4\nrate = 1.10\ndraft = false\ntags = ["a"]\n[menu]\nparent = "hr"\n+++\n\nText'
    document = loaded(page, toml.replace("\n", end))
    assert (document.title, document.text) == ("Sick pay", "Text")
    assert document.meta == {
        "weight": "4", "rate": "1.10", "draft": "false", "tags": ["a"], "menu": {"parent": "hr"},
    }  # fmt: skip
    document = loaded(page, '{\n "title": "Leave",\n "n": 1e3,\n "none": null\n}\n\nText'.replace("\n", end))
    assert (document.title, document.text, document.meta) == ("Leave", "Text", {"n": "1e3", "none": None})


@pytest.mark.parametrize(
    "text",
    [
        "+++",
        "+++\nText",
        "+++\nOne word\n+++\n\nText",
        "{}\n\nText",
        '{"a": 1}',
        '{"a": 1} b',
        "{a}\n\nText",
        "{" * 5000,
    ],
)
def test_what_is_neither_toml_nor_json_stays_in_the_page(page: Path, text: str) -> None:
    document = loaded(page, text)
    assert document.meta == {}
    assert document.text.replace("+", "").split() == text.replace("+", "").split()


def test_toml_that_is_none_is_an_error(page: Path) -> None:
    with pytest.raises(CorpusError, match=r"page\.md:1: the front matter is no TOML \(.*\)\. Mend it"):
        loaded(page, "+++\ntitle = Leave\n+++\n\nText")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"+++\nn = {'9' * 5000}\n+++\n\nText", "is no TOML"),
        ('+++\na = "b"\na = "c"\n+++\n\nText', "is no TOML"),
        ('{"title": "A", "title": "B"}\n\nText', "'title' stands twice"),
        ('{"menu": {"a": 1, "a": 2}}\n\nText', "'a' stands twice"),
    ],
)
def test_front_matter_that_python_cannot_hold_or_that_says_two_things_is_an_error(
    page: Path, text: str, told: str
) -> None:
    with pytest.raises(CorpusError, match=rf"page\.md:1: .*{told}"):
        loaded(page, text)


def test_half_a_character_of_json_is_none(page: Path) -> None:
    document = loaded(page, '{"title": "\\ud83d\\ude00 \\ud800A", "\\udfff": "b"}\n\nText')
    assert (document.title, document.meta) == ("\U0001f600 \ufffdA", {"\ufffd": "b"})
