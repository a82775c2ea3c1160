from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docmind.chunking.headers import Headers
from docmind.corpus.markdown import document
from docmind.types import Block, Document, Section, Span, merge, overlap


@pytest.fixture
def split(hash_embedder):
    def split(text, size=500, title="Handbook"):
        return Headers(hash_embedder, size).split(document("d", text, title=title)).chunks

    return split


def texts(chunks):
    return [chunk.text for chunk in chunks]


def shown(text, spans):
    return [text[span.start : span.end] for span in spans]


# The breadcrumb


def test_the_path_of_headings_leads_each_chunk_and_its_place_is_told(split):
    text = "Welcome.\n# Leave\nTake 25 days.\n## Sick pay ##\nTell us.\n# Pay\nMonthly."
    chunks = split(text)
    assert texts(chunks) == [
        "Handbook\n\nWelcome.",
        "Handbook > Leave\n\nTake 25 days.",
        "Handbook > Leave > Sick pay\n\nTell us.",
        "Handbook > Pay\n\nMonthly.",
    ]
    assert [shown(text, c.prefix_spans) for c in chunks] == [[], ["Leave"], ["Leave", "Sick pay"], ["Pay"]]
    assert [c.path for c in chunks] == [(), ("Leave",), ("Leave", "Sick pay"), ("Pay",)]
    assert [c.section_id for c in chunks] == ["d#0", "d#1", "d#2", "d#3"]


def test_the_title_stands_once_where_it_is_the_first_heading_too(split):
    assert texts(split("# Annual  leave\nTake 25 days.", title="Annual Leave")) == ["Annual leave\n\nTake 25 days."]


def test_an_underlined_heading_is_not_in_the_body(split):
    assert texts(split("Leave\n=====\nTake 25 days.")) == ["Handbook > Leave\n\nTake 25 days."]


def test_deeper_headings_stay_in_the_body(split):
    [chunk] = split("### Leave\na\n#### Abroad\nb")
    assert chunk.text == "Handbook > Leave\n\na\n#### Abroad\nb"


def test_a_deeper_heading_goes_with_what_follows_it(split, tokenizer):
    # 10 tokens of body are free. The heading (4 + 1 tokens) would still fit behind the first paragraph.
    text = "a b c d e\n\n#### Abroad\n\nf g h i j"
    size = tokenizer.count("Handbook\n\n") * 10
    assert size == 10
    assert [c.body for c in split(text, size=size + 1)] == ["a b c d e", "#### Abroad\n\nf g h i j"]


def test_a_heading_without_text_is_told_by_the_sections_below_it(split):
    assert texts(split("# Leave\n## Sick pay\nTell us.")) == ["Handbook > Leave > Sick pay\n\nTell us."]


def test_a_heading_with_nothing_below_it_is_a_body_of_its_own(split):
    assert texts(split("# Leave\n## Sick pay\n# Pay\nMonthly.")) == [
        "Handbook > Leave\n\n## Sick pay",
        "Handbook > Pay\n\nMonthly.",
    ]


def test_a_heading_too_long_for_a_prefix_stays_in_the_body(split, tokenizer):
    heading = "word " * 600
    text = f"# Leave\n## {heading}\nTake 25 days.\n### Abroad\nLess."
    chunks = split(text)
    assert {c.prefix for c in chunks} == {"Handbook > Leave\n\n", "Handbook > Leave > Abroad\n\n"}
    assert chunks[-1].text == "Handbook > Leave > Abroad\n\nLess."
    assert "".join(c.body for c in chunks).count("word") == 600
    assert max(tokenizer.count(c.text) for c in chunks) <= 500


def test_of_a_path_that_is_too_long_the_inner_titles_stay(split):
    # A quarter of 40 tokens: ten for the path, so that the outermost title (8 tokens) gives way.
    text = "# one two three four five six seven eight\n## Sick pay\nTell us."
    assert texts(split(text, size=40)) == [
        "Handbook\n\n# one two three four five six seven eight",
        "Handbook > Sick pay\n\nTell us.",
    ]


# Blocks


def test_small_paragraphs_share_a_chunk_only_within_a_section(split):
    chunks = split("# A\none\n\ntwo\n\n- three\n# B\nfour", title="A")
    assert [c.body for c in chunks] == ["one\n\ntwo\n\n- three", "four"]


def test_paragraphs_are_not_cut_where_a_border_between_them_will_do(split):
    paragraphs = ["one two three. four five six.", "seven eight nine. ten eleven twelve.", "end"]
    chunks = split("\n\n".join(paragraphs), size=12)  # 8 + 8 + 1 tokens, and one of "Handbook"
    assert [c.body for c in chunks] == [paragraphs[0], "\n\n".join(paragraphs[1:])]
    assert [c.fragment for c in chunks] == [0, 1]


def test_a_paragraph_that_is_too_large_is_cut_at_sentences_not_at_line_ends(split):
    chunks = split("one two\nthree four. five six\nseven eight.", size=7)  # 5 tokens a sentence
    assert [c.body for c in chunks] == ["one two\nthree four.", "five six\nseven eight."]


def test_a_long_list_is_cut_at_items(split):
    chunks = split("\n".join(f"- one two. three {n}" for n in range(6)), size=15)  # 6 tokens an item
    assert [c.body.count("\n- ") + 1 for c in chunks] == [2, 2, 2]
    assert all(c.body.startswith("- one") for c in chunks)


def test_a_fence_that_fits_is_whole_and_one_that_does_not_is_cut_at_lines(split):
    fence = "```sh\n" + "make all\n" * 5 + "```"  # 17 tokens
    intro = "one two three four five six"
    assert [(c.body, c.kind) for c in split(f"{intro}\n\n{fence}", size=19)] == [(intro, "text"), (fence, "code")]
    pieces = split(fence, size=10)
    assert "\n".join(c.body for c in pieces) == fence
    assert {c.kind for c in pieces} == {"code"}


def test_code_that_is_cut_keeps_its_indentation(split):
    code = "```py\n" + "    call(one)\n" * 6 + "```"
    assert all(c.body.startswith(("```", "    call")) for c in split(code, size=14))


def test_what_has_no_border_is_cut_at_words_then_characters(split, tokenizer):
    chunks = split("one two three four five six", size=4)
    assert [c.body for c in chunks] == ["one two three", "four five six"]
    chunks = split("漢" * 8, size=4)
    assert [c.body for c in chunks] == ["漢漢漢", "漢漢漢", "漢漢"]


# Tables

HEADER = "| Code | Days |\n|---|---|\n"
REPEATED = "| Code | Days |\n|-|-|\n"
TABLE = HEADER + "| A\\|B | 25 |\n" + "| C07 | 1,480 |\n" * 60


@pytest.mark.parametrize("size", [30, 50, 200])
def test_no_row_is_cut_and_later_chunks_repeat_the_header(split, tokenizer, size):
    chunks = split("# Codes\n" + TABLE, size=size, title="Codes")
    rows = TABLE.splitlines()
    assert len(chunks) > 2
    assert all(set(c.body.splitlines()) <= set(rows) for c in chunks)
    assert sum(c.body.count("1,480") for c in chunks) == 60
    assert {c.kind for c in chunks} == {"table"}
    assert max(tokenizer.count(c.text) for c in chunks) <= size
    assert chunks[0].text.startswith("Codes\n\n" + HEADER + "| A\\|B | 25 |")
    assert all(c.text.startswith("Codes\n\n" + REPEATED + "| C07 |") for c in chunks[1:])


def test_gold_in_a_row_and_in_a_repeated_header_is_shown_by_spans(split):
    text = "# Codes\n" + TABLE
    chunks = split(text, size=50)
    row = Span("d", text.index("| A\\|B"), text.index("| A\\|B") + len("| A\\|B | 25 |"))
    header = Span("d", text.index("| Code"), text.index("| Code") + len("| Code | Days |"))
    assert [overlap(c.shown, [row]) == len(row) for c in chunks] == [True] + [False] * (len(chunks) - 1)
    assert all(overlap(c.shown, [header]) == len(header) for c in chunks)
    # The body of the first holds the header, so its prefix does not: nothing is shown twice.
    assert all(sum(map(len, c.shown)) == sum(map(len, merge(c.shown))) for c in chunks)


def test_a_row_that_fits_only_alone_stands_without_prefix(split, tokenizer):
    row = "| " + "word " * 15 + "| x |"  # 19 tokens or so
    size = tokenizer.count(row)
    chunks = split("# Codes\n" + HEADER + "| a | b |\n" + row + "\n| c | d |", size=size)
    [alone] = [c for c in chunks if "word" in c.body]
    assert (alone.prefix, alone.prefix_spans, alone.body) == ("", (), row)


def test_only_a_row_larger_than_a_chunk_is_cut(split, tokenizer):
    row = "| " + "word " * 60 + "| x |"
    chunks = split(HEADER + "| a | b |\n" + row + "\n| c | d |", size=40)
    assert max(tokenizer.count(c.text) for c in chunks) <= 40
    assert sum(c.body.count("word") for c in chunks) == 60
    assert any(c.body == "| c | d |" for c in chunks)
    assert {c.kind for c in chunks} == {"table"}


def test_a_header_over_half_of_a_chunk_is_not_repeated(split):
    header = "| " + "Code " * 30 + "| Days |\n|---|---|\n"
    chunks = split(header + "| C07 | 1,480 |\n" * 30, size=60)
    assert [c.prefix for c in chunks] == ["Handbook\n\n"] * len(chunks)
    assert not any(re.search("Code", c.body) for c in chunks[1:])


def test_text_behind_a_table_may_share_its_last_chunk(split):
    chunks = split(TABLE + "\nAsk us.", size=200)
    assert chunks[-1].body.endswith("Ask us.")
    assert chunks[-1].kind == "text"


CELLS = st.lists(st.sampled_from(["A\\|B", "1,480", "twenty-five days", "word " * 12, ""]), min_size=2, max_size=2)
TABLES = st.lists(CELLS, min_size=1, max_size=12).map(
    lambda rows: HEADER + "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
)
TEXTS = st.lists(
    TABLES | st.sampled_from(["# Leave", "## " + "long " * 9, "#### Abroad", "Take 25 days. " * 4, "- a\n- b"]),
    max_size=8,
).map("\n\n".join)


@settings(max_examples=100, deadline=None)
@given(text=TEXTS, size=st.integers(20, 80))
def test_rows_are_whole_at_any_size_and_nothing_is_lost_or_over_it(text, size, hash_embedder, tokenizer):
    page = document("d", text, title="Handbook")
    chunks = Headers(hash_embedder, size).split(page).chunks
    assert all(tokenizer.count(c.text) <= size for c in chunks)
    spans = [c.spans[0] for c in chunks]
    for row in (row for block in page.blocks for row in block.rows):
        if tokenizer.count(text[row.start : row.end]) <= size:
            assert any(span.start <= row.start and row.end <= span.end for span in spans), text[row.start : row.end]
    told = "".join(text[span.start : span.end] for c in chunks for span in c.shown)
    assert not Counter(re.findall(r"\w", text)) - Counter(told)


# Documents of other kinds


def test_a_document_without_sections_is_one_part(hash_embedder):
    chunks = Headers(hash_embedder).split(Document("d", "Notes", "one\n\ntwo")).chunks
    assert [(c.text, c.section_id) for c in chunks] == [("Notes\n\none\n\ntwo", None)]


def test_a_document_without_blocks_is_one_paragraph_whatever_its_marks(hash_embedder):
    text = "# One. | a | b |\n|---|---|\n| c. | d |"
    bodies = [c.body for c in Headers(hash_embedder, 16).split(Document("d", "", text)).chunks]
    assert "".join("".join(bodies).split()) == "".join(text.split())
    assert not any(body.startswith("| a | b |\n|---|---|\n| c") for body in bodies)


def test_a_heading_is_what_blocks_say_it_is(hash_embedder):
    text = "Leave\nTake 25 days.\n# no heading"
    heading, body = Span("d", 0, 5), Span("d", 6, len(text))
    section = Section("d#0", 1, "Leave", ("Leave",), Span("d", 0, len(text)), heading)
    blocks = (Block("heading", heading, 1, "Leave", heading), Block("paragraph", body))
    [chunk] = Headers(hash_embedder, 500).split(Document("d", "Notes", text, blocks=blocks, sections=(section,))).chunks
    assert chunk.text == "Notes > Leave\n\nTake 25 days.\n# no heading"


def test_sections_without_blocks_lose_no_text(hash_embedder):
    text = "Leave\nTake 25 days."
    section = Section("d#0", 1, "Leave", ("Leave",), Span("d", 0, len(text)), Span("d", 0, 5))
    [chunk] = Headers(hash_embedder).split(Document("d", "Notes", text, sections=(section,))).chunks
    assert chunk.text == "Notes > Leave\n\nTake 25 days."


@settings(max_examples=60, deadline=None)
@given(text=TEXTS, size=st.integers(40, 80), overlap=st.integers(1, 30))
def test_chunks_that_share_blocks_rise_stay_in_their_section_and_lose_nothing(
    text, size, overlap, hash_embedder, tokenizer
):
    page = document("d", text, title="Handbook")
    chunks = Headers(hash_embedder, size, overlap).split(page).chunks
    assert all(tokenizer.count(c.text) <= size for c in chunks)
    starts, ends = [c.spans[0].start for c in chunks], [c.spans[0].end for c in chunks]
    assert starts == sorted(set(starts))
    assert ends == sorted(set(ends))
    for one, other in pairwise(chunks):
        if other.spans[0].start < one.spans[0].end:
            assert one.section_id == other.section_id
    told = "".join(text[span.start : span.end] for c in chunks for span in c.shown)
    assert not Counter(re.findall(r"\w", text)) - Counter(told)


def test_a_chunk_begins_with_whole_blocks_of_the_one_before_it(hash_embedder, tokenizer):
    lines = [f"Rule {i} says to keep it." for i in range(12)]
    text = "\n\n".join(lines)
    size = tokenizer.count("Handbook\n\n" + "\n\n".join(lines[:4]))
    overlap = tokenizer.count(lines[3])
    chunks = Headers(hash_embedder, size, overlap).split(document("d", text, title="Handbook")).chunks
    assert [c.body for c in chunks[:2]] == ["\n\n".join(lines[:4]), "\n\n".join(lines[3:7])]
    apart = Headers(hash_embedder, size, 0).split(document("d", text, title="Handbook")).chunks
    assert [c.body for c in apart[:2]] == ["\n\n".join(lines[:4]), "\n\n".join(lines[4:8])]
