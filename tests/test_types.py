"""Arithmetic on spans, and what makes a chunk's name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind.types import Block, Chunk, Document, Span, blocks_in, merge, overlap


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (3, 3), (4, 3)])
def test_a_span_is_never_empty_nor_before_the_text(start, end):
    with pytest.raises(ValueError, match="start < end"):
        Span("a", start, end)


def test_merge_joins_what_overlaps_or_touches_in_one_document():
    spans = [Span("a", 5, 9), Span("a", 0, 3), Span("a", 3, 5), Span("b", 0, 2), Span("a", 20, 21)]
    assert merge(spans) == (Span("a", 0, 9), Span("a", 20, 21), Span("b", 0, 2))


spans = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.integers(1, 10)).map(
        lambda t: Span(t[0], t[1], t[1] + t[2])
    ),
    max_size=6,
)


@given(spans, spans)
def test_overlap_counts_each_character_once(left, right):
    def characters(parts):
        return {(span.doc_id, i) for span in parts for i in range(span.start, span.end)}

    assert overlap(left, right) == len(characters(left) & characters(right))


def test_a_chunk_is_the_slices_of_its_spans():
    document = Document("a", "", "one two three")
    chunk = Chunk.of(document, (Span("a", 0, 4), Span("a", 8, 13)), 0, prefix="T\n", prefix_spans=(Span("a", 4, 7),))
    assert (chunk.body, chunk.text) == ("one three", "T\none three")
    assert chunk.shown == (Span("a", 0, 4), Span("a", 8, 13), Span("a", 4, 7))


def test_equal_text_elsewhere_has_another_id_and_the_same_place_the_same():
    def chunk_id(doc="a", start=0, order=0, prefix=""):
        return Chunk.of(Document(doc, "", "aaaa"), (Span(doc, start, start + 2),), order, prefix=prefix).id

    assert chunk_id() == chunk_id()
    assert len({chunk_id(), chunk_id("b"), chunk_id(start=2), chunk_id(order=1), chunk_id(prefix="p")}) == 5


def test_blocks_that_hold_any_of_a_range_are_found_and_a_document_without_blocks_is_one_paragraph():
    # a blank line at 3:5 lies between the two
    first, second = Block("list_item", Span("a", 0, 3)), Block("paragraph", Span("a", 5, 8))
    document = Document("a", "", "one\n\ntwo", blocks=(first, second))
    expected = {(0, 8): (first, second), (0, 1): (first,), (2, 6): (first, second), (3, 5): (), (4, 6): (second,)}
    assert {one: blocks_in(document, *one) for one in expected} == expected
    assert blocks_in(document, 8, 9) == blocks_in(document, 1, 1) == ()
    bare = Document("a", "", "one\n\ntwo")
    assert blocks_in(bare, 2, 3) == (Block("paragraph", Span("a", 0, 8)),)
    assert blocks_in(Document("a", "", ""), 0, 1) == ()
