import pytest

from docmind.evaluation.scoring.spans import covers, ranks, sources
from docmind.types import Chunk, Document, Gold, Hit, Span


@pytest.mark.parametrize(("shown", "covered"), [(79, False), (80, True), (100, True)])
def test_80_of_100_characters_cover_and_79_do_not(shown: int, covered: bool) -> None:
    gold = Gold(spans=(Span("a", 100, 200),))
    assert covers((Span("a", 100, 100 + shown),), gold) is covered


def test_the_share_is_read_as_a_decimal() -> None:
    """As binary fractions 0.7 * 10 = 7.000000000000001 > 7 and 0.55 * 100 = 55.00000000000001 > 55."""
    assert covers((Span("a", 0, 7),), Gold(spans=(Span("a", 0, 10),)), share=0.7)
    assert covers((Span("a", 0, 55),), Gold(spans=(Span("a", 0, 100),)), share=0.55)
    assert not covers((Span("a", 0, 54),), Gold(spans=(Span("a", 0, 100),)), share=0.55)


def test_the_union_of_what_is_shown_counts_once() -> None:
    """0-50 and 40-80 are 80 characters of 100; 0-50 twice and 50-79 are 79."""
    gold = Gold(spans=(Span("a", 0, 100),))
    assert covers((Span("a", 40, 80), Span("a", 0, 50)), gold)
    assert not covers((Span("a", 0, 50), Span("a", 0, 50), Span("a", 50, 79)), gold)


def test_one_alternative_is_enough_but_halves_of_two_are_not() -> None:
    gold = Gold(spans=(Span("a", 0, 10), Span("b", 0, 10)))
    assert covers((Span("b", 0, 8),), gold)
    assert not covers((Span("a", 0, 5), Span("b", 0, 5)), gold)
    assert not covers((Span("c", 0, 10),), gold)
    assert sources(gold) == {"a", "b"}


def test_a_whole_document_is_covered_by_any_part_of_it() -> None:
    gold = Gold(doc_id="a")
    assert covers((Span("a", 5, 6),), gold)
    assert not covers((Span("b", 5, 6),), gold)
    assert sources(gold) == {"a"}


def test_a_heading_in_the_prefix_and_a_promoted_neighbour_count(page: Document) -> None:
    heading, neighbour = Span("page.md", 0, 10), Span("page.md", 500, 600)
    chunk = Chunk.of(page, (Span("page.md", 200, 300),), 0, prefix="A", prefix_spans=(heading,))
    hit = Hit(chunk, 1.0, 1, context=(Chunk.of(page, (neighbour,), 1),))
    gold = (Gold(spans=(heading,)), Gold(spans=(neighbour,)), Gold(spans=(Span("page.md", 300, 400),)))
    assert ranks([hit], gold) == (1, 1, None)


def test_each_piece_has_the_rank_of_the_first_hit_that_covers_it(chunks, listed, gold_in) -> None:
    a, b, c = chunks[:3]
    assert ranks(listed([b, a, c]), [gold_in(a), gold_in(c), gold_in(chunks[9])]) == (2, 3, None)
    assert ranks(listed([a]), []) == ()
    assert ranks([], [gold_in(a)]) == (None,)
