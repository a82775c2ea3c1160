"""Sections partition a text and know what is above them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from docmind import markup
from docmind.corpus.sections import sections
from docmind.types import Section

PAGES = st.lists(
    st.sampled_from(["a", "\n", "\n\n", "# a\n", "## b\n", "### c\n", "#### d\n", "```\n", "- ", "> ", "===\n"]),
    max_size=15,
).map("".join)


def found(text: str) -> tuple[Section, ...]:
    return sections("d.md", markup.blocks("d.md", text), len(text))


def test_text_before_the_first_heading_is_a_section_of_level_0_that_nothing_lies_in() -> None:
    lead, first = found("Hello\n# A\nx")
    assert (lead.level, lead.title, lead.path, lead.heading, lead.parent) == (0, "", (), None, None)
    assert (lead.span.start, lead.span.end) == (0, 6)
    assert (first.level, first.title, first.span.start, first.span.end) == (1, "A", 6, 11)
    assert first.parent is None


def test_a_heading_span_covers_the_title_alone() -> None:
    text = "## **Sick** pay\nTen weeks."
    (section,) = found(text)
    assert section.title == "Sick pay"
    assert section.heading is not None
    assert text[section.heading.start : section.heading.end] == "**Sick** pay"


def test_paths_and_parents_follow_levels_and_skip_no_parent() -> None:
    tree = found("# A\n### B\n## C\n### D\n# E")
    assert [section.path for section in tree] == [("A",), ("A", "B"), ("A", "C"), ("A", "C", "D"), ("E",)]
    assert [section.parent for section in tree] == [None, "d.md#0", "d.md#0", "d.md#2", None]


def test_a_deeper_heading_that_comes_first_holds_no_higher_one() -> None:
    assert [section.parent for section in found("### A\n# B\n### C")] == [None, None, "d.md#1"]


def test_headings_in_quotes_and_lists_and_those_without_words_open_no_section() -> None:
    assert [section.title for section in found("> # quoted\n\n- # listed\n\n#\n\n## Leave")] == ["", "Leave"]


def test_equal_titles_have_different_ids() -> None:
    assert len({section.id for section in found("# A\n# A\n# A")}) == 3


def test_an_empty_text_has_no_sections() -> None:
    assert found("") == ()


@given(PAGES)
def test_sections_partition_the_text_and_a_path_is_the_parents_and_the_title(text: str) -> None:
    tree = found(text)
    assert "".join(text[section.span.start : section.span.end] for section in tree) == text
    by_id = {section.id: section for section in tree}
    for section in tree:
        above = by_id[section.parent] if section.parent else None
        assert section.path == (*(above.path if above else ()), *([section.title] if section.level else []))
        assert above is None or above.level < section.level
