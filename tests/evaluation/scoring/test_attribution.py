from collections.abc import Sequence

import pytest

from docmind.errors import IncompleteError
from docmind.evaluation.scoring.attribution import Winners, Winning, ceiling, lost_at
from docmind.types import Chunk, Gold, Outcome, Query, Question, Ranking, Span, Stage


def alone(chunk: Chunk) -> tuple[Span, ...]:
    """What a chunk shows without context."""
    return chunk.shown


def winning(question: Question, chunks: Sequence[Chunk]) -> Winning:
    return Winners([question]).among(chunks, alone)


def outcome(ranks: tuple[int | None, ...], *stages: tuple[str, tuple[Chunk, ...]]) -> Outcome:
    made = tuple(Stage(f"{role} {i}", role, passed_on, 0.0) for i, (role, passed_on) in enumerate(stages))
    return Outcome("q", Query("q"), Ranking((), made), ranks)


@pytest.fixture
def question(ask, gold_in, chunks):
    return ask("q", gold_in(chunks[0]))


def test_a_hit_at_3_is_not_lost(question, chunks) -> None:
    assert lost_at(outcome((3,), ("candidates", chunks)), question, winning(question, chunks)) is None


def test_nor_is_an_unanswerable_question_or_an_error(question, ask, chunks) -> None:
    assert lost_at(outcome((), ("candidates", chunks)), ask("none"), winning(ask("none"), chunks)) is None
    assert lost_at(Outcome("q", Query("q"), None, error="x"), question, winning(question, chunks)) is None


def test_chunking_where_no_chunk_covers_a_piece(question, page, ask, chunks) -> None:
    """79 + 21 of the evidence's 100 characters stand in two chunks: neither holds 80."""
    cut = Gold(spans=(Span("page.md", 21, 121),))
    assert (
        lost_at(outcome((None,), ("candidates", chunks)), ask("q", cut), winning(ask("q", cut), chunks)) == "chunking"
    )
    assert lost_at(outcome((None,), ("candidates", chunks)), question, winning(question, chunks[1:])) == "chunking"


def test_candidates_are_one_step_however_many_stages(question, chunks) -> None:
    """One of two lists still holds the chunk: it was lost where the fused list no longer does."""
    best, others = chunks[:1], chunks[1:]
    both = (("encode", ()), ("candidates", others), ("candidates", best))
    assert (
        lost_at(outcome((None,), ("encode", ()), ("candidates", others)), question, winning(question, chunks))
        == "candidates"
    )
    assert lost_at(outcome((None,), *both, ("fusion", others)), question, winning(question, chunks)) == "fusion"
    assert (
        lost_at(outcome((None,), *both, ("fusion", chunks), ("rerank", others)), question, winning(question, chunks))
        == "rerank"
    )
    assert (
        lost_at(outcome((None,), *both, ("fusion", others), ("rerank", others)), question, winning(question, chunks))
        == "fusion"
    )


@pytest.mark.parametrize("last", ["candidates", "fusion", "rerank"])
def test_what_survives_but_stands_too_low_was_lost_by_the_last_step(question, chunks, last: str) -> None:
    steps = ["candidates", "fusion", "rerank"]
    stages = [(role, chunks) for role in steps[: steps.index(last) + 1]]
    assert lost_at(outcome((4,), *stages), question, winning(question, chunks)) == last


def test_another_piece_or_alternative_still_counts(chunks, ask, gold_in) -> None:
    pieces = ask("q", gold_in(chunks[0]), Gold(spans=(*chunks[1].spans, *chunks[2].spans)))
    stages = (("candidates", chunks), ("fusion", (chunks[2],)), ("rerank", (chunks[3],)))
    assert lost_at(outcome((None, None), *stages), pieces, winning(pieces, chunks)) == "rerank"


def test_the_ceiling_is_the_share_that_some_single_chunk_can_win(chunks, ask, gold_in) -> None:
    """Winnable: one whole chunk; a cut piece beside a whole one; a document. Not: the cut piece alone. 3 of 4."""
    cut = Gold(spans=(Span("page.md", 50, 150),))
    questions = [
        ask("whole", gold_in(chunks[0])),
        ask("cut", cut),
        ask("any piece", cut, gold_in(chunks[3])),
        ask("document", Gold(doc_id="page.md")),
        ask("none"),
    ]
    assert ceiling(Winners(questions).among(chunks, alone), questions) == 3 / 4
    assert ceiling(Winners(questions).among([], alone), questions) == 0
    with pytest.raises(IncompleteError):
        ceiling({"none": frozenset()}, [ask("none")])
