"""Sections partition a text and know what is above them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from docmind.corpus.sections import sections

PAGES = st.lists(
    st.sampled_from(["a", "\n", "\n\n", "# a\n", "## b\n", "### c\n", "#### d\n", "```\n", "- ", "> ", "===\n"]),
    max_size=15,
).map("".join)


def test_text_before_the_first_heading_is_a_section_of_level_0() -> None:
    lead, first = sections("d.md", "Hello\n# A\nx")
    assert (lead.level, lead.title, lead.path, lead.heading) == (0, "", (), None)
    assert (lead.span.start, lead.span.end) == (0, 6)
    assert (first.level, first.title, first.span.start, first.span.end) == (1, "A", 6, 11)


def test_a_heading_span_covers_the_title_alone() -> None:
    text = "## **Sick** pay\nTen weeks."
    (section,) = sections("d.md", text)
    assert section.title == "Sick pay"
    assert section.heading is not None
    assert text[section.heading.start : section.heading.end] == "**Sick** pay"


def test_paths_follow_levels_and_skip_no_parent() -> None:
    paths = [section.path for section in sections("d.md", "# A\n### B\n## C\n### D\n# E")]
    assert paths == [("A",), ("A", "B"), ("A", "C"), ("A", "C", "D"), ("E",)]


def test_equal_titles_have_different_ids() -> None:
    assert len({section.id for section in sections("d.md", "# A\n# A\n# A")}) == 3


def test_an_empty_text_has_no_sections() -> None:
    assert sections("d.md", "") == ()


@given(PAGES)
def test_sections_partition_the_text(text: str) -> None:
    found = sections("d.md", text)
    assert "".join(text[section.span.start : section.span.end] for section in found) == text
    assert all(section.path[-1:] == ((section.title,) if section.level else ()) for section in found)
