"""Metrics against arithmetic by hand, against ir-measures, and against their bounds."""

import random
from collections.abc import Sequence

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, Success, nDCG

from docmind.evaluation.scoring.asking import distinct
from docmind.evaluation.scoring.measures import measure, standard
from docmind.evaluation.scoring.metrics.judged import Judged
from docmind.evaluation.scoring.spans import ranks
from docmind.types import Chunk, Document, Gold, Hit, Span

NAMES = (
    "hit@1 hit@3 hit@5 hit@10 mrr@5 mrr@10 ndcg@10 recall@5 full@3 full@5 span_precision@5 span_recall@5 span_iou@5 "
    "hit@1000tok"
)


def judged(hits: Sequence[Hit], gold: Sequence[Gold], tokens: int = 100) -> Judged:
    hits = distinct(hits)
    return Judged(tuple(gold), ranks(hits, gold), tuple(hit.shown for hit in hits), (tokens,) * len(hits))


def values(hits: Sequence[Hit], gold: Sequence[Gold], tokens: int = 100) -> dict[str, float | None]:
    question = judged(hits, gold, tokens)
    return {each.name: each.of(question) for each in standard()}


def test_the_catalogue_has_the_names_of_the_results_in_their_order() -> None:
    assert [each.name for each in standard()] == NAMES.split()


def test_gold_listed_twice_counts_once(chunks, listed, gold_in) -> None:
    g, x = chunks[:2]
    found = values(listed([g, g, x]), [gold_in(g)])
    assert (found["ndcg@10"], found["recall@5"], found["mrr@10"]) == (1, 1, 1)


def test_gold_in_second_place(chunks, listed, gold_in) -> None:
    """nDCG = 1 / log2(3) = 0.631, MRR = 1 / 2."""
    g, x = chunks[:2]
    found = values(listed([x, g]), [gold_in(g)])
    assert found["ndcg@10"] == pytest.approx(0.631, abs=5e-4)
    assert (found["mrr@5"], found["hit@1"], found["hit@3"]) == (0.5, 0, 1)


def test_one_of_three_found(chunks, listed, gold_in) -> None:
    """nDCG = 1 / (1 + 1 / log2(3) + 1 / 2) = 0.469, recall = 1 / 3."""
    a, b, c = chunks[:3]
    found = values(listed([a]), [gold_in(a), gold_in(b), gold_in(c)])
    assert found["ndcg@10"] == pytest.approx(0.469, abs=5e-4)
    assert found["recall@5"] == 1 / 3
    assert (found["full@5"], found["hit@1"]) == (0, 1)


def test_gold_in_sixth_place_is_past_five(chunks, listed, gold_in) -> None:
    found = values(listed(chunks[:6]), [gold_in(chunks[5])])
    assert (found["mrr@5"], found["hit@5"], found["recall@5"]) == (0, 0, 0)
    assert (found["mrr@10"], found["hit@10"]) == (1 / 6, 1)


def test_a_chunk_that_covers_two_pieces_takes_two_places_of_the_ideal(page: Document, listed) -> None:
    """Pieces at ranks 2 and 2 count at max(2, 1) and max(2, 2): 2 / log2(3) over 1 + 1 / log2(3) = 0.774; at ranks 1
    and 1 they count at 1 and 2, which is the ideal."""
    both = Chunk.of(page, (Span("page.md", 0, 200),), 0)
    other = Chunk.of(page, (Span("page.md", 500, 600),), 1)
    gold = [Gold(spans=(Span("page.md", 0, 50),)), Gold(spans=(Span("page.md", 100, 150),))]
    assert values(listed([other, both]), gold)["ndcg@10"] == pytest.approx(0.774, abs=5e-4)
    assert values(listed([both, other]), gold)["ndcg@10"] == 1
    assert values(listed([both, other]), gold)["full@5"] == 1


def test_grades_are_gains(chunks, listed) -> None:
    """Grade 1 first, grade 3 second: (1 + 3 / log2(3)) / (3 + 1 / log2(3)) = 0.797."""
    gold = [Gold(spans=chunks[0].spans, grade=1), Gold(spans=chunks[1].spans, grade=3)]
    assert values(listed(chunks[:2]), gold)["ndcg@10"] == pytest.approx(0.797, abs=5e-4)


def test_spans_are_counted_in_characters_of_unions(page: Document, listed) -> None:
    """Shown: 0-100 and 50-150, 150 characters. Gold: 120-170, 50, of which 30 are shown. 30/150, 30/50, 30/170."""
    hits = listed([Chunk.of(page, (Span("page.md", s, s + 100),), s) for s in (0, 50)])
    found = values(hits, [Gold(spans=(Span("page.md", 120, 170),))])
    assert found["span_precision@5"] == 30 / 150
    assert found["span_recall@5"] == 30 / 50
    assert found["span_iou@5"] == 30 / 170


def test_of_alternatives_the_best_covered_one_counts(chunks, listed) -> None:
    """10 of 20 shown beat 40 of 100; of two that are not shown at all the shorter counts."""
    alternatives = (Span("page.md", 60, 160), Span("page.md", 90, 110))
    assert values(listed(chunks[:1]), [Gold(spans=alternatives)])["span_recall@5"] == 10 / 20
    unseen = Gold(spans=(Span("page.md", 500, 600), Span("page.md", 700, 750)))
    found = values(listed(chunks[:1]), [Gold(spans=(Span("page.md", 0, 50),)), unseen])
    assert found["span_recall@5"] == 50 / 100


def test_spans_past_rank_5_do_not_count(chunks, listed, gold_in) -> None:
    assert values(listed(chunks[:6]), [gold_in(chunks[5])])["span_recall@5"] == 0


def test_whole_documents_have_no_span_metrics_but_all_others(chunks, listed) -> None:
    found = values(listed(chunks[:2]), [Gold(doc_id="page.md")])
    undefined = [name for name, value in found.items() if value is None]
    assert undefined == [each.name for each in standard() if each.name.startswith("span_")]
    assert found["hit@1"] == 1


@pytest.mark.parametrize(("tokens", "found"), [(333, 1), (334, 0), (1001, 0)])
def test_the_budget_takes_whole_hits_in_rank_order(chunks, listed, gold_in, tokens: int, found: int) -> None:
    """Gold in the third hit: 3 * 333 = 999 tokens fit 1,000, 3 * 334 = 1,002 do not."""
    assert values(listed(chunks[:3]), [gold_in(chunks[2])], tokens)["hit@1000tok"] == found


def test_the_budget_may_be_used_to_its_last_token() -> None:
    """600 + 400 = 1,000."""
    gold = Gold(spans=(Span("a", 0, 9),))
    assert measure("hit@1000tok").of(Judged((gold,), (2,), ((), ()), (600, 400))) == 1


def test_a_small_hit_after_one_that_does_not_fit_is_not_taken() -> None:
    gold = Gold(spans=(Span("a", 0, 9),))
    assert measure("hit@1000tok").of(Judged((gold,), (3,), ((), (), ()), (600, 600, 10))) == 0


def test_no_hits_are_zero_and_no_error(gold_in, chunks) -> None:
    assert set(values([], [gold_in(chunks[0])]).values()) == {0}


def test_agreement_with_ir_measures_on_lists_with_ties_and_duplicates() -> None:
    """ir-measures gets each list without duplicates and with strictly falling scores: it breaks ties its own way."""
    generator = random.Random(11)
    pages = [Document(f"d{i}", "", "x" * 10) for i in range(30)]
    chunks = [Chunk.of(page, (Span(page.id, 0, 10),), 0) for page in pages]
    families = {"hit": Success, "mrr": RR, "ndcg": nDCG, "recall": R}
    measures = {f"{name}@{k}": theirs @ k for name, theirs in families.items() for k in (1, 3, 7, 100)}
    duplicated = 0
    for _ in range(100):
        wanted = generator.choice(chunks)
        listed = generator.choices(chunks, k=generator.randint(1, 40))
        scores = sorted((generator.choice([0.1, 0.5, 0.9]) for _ in listed), reverse=True)
        hits = [Hit(chunk, score, rank) for rank, (chunk, score) in enumerate(zip(listed, scores, strict=True), 1)]
        duplicated += len(set(listed)) < len(listed)
        question = judged(distinct(hits), [Gold(spans=wanted.spans)])
        ours = {name: measure(name).of(question) for name in measures}
        unique = dict.fromkeys(chunk.id for chunk in listed)
        run = {"q": {chunk_id: float(-rank) for rank, chunk_id in enumerate(unique)}}
        theirs = ir_measures.calc_aggregate(list(measures.values()), {"q": {wanted.id: 1}}, run)
        assert {name: ours[name] for name in measures} == pytest.approx({n: theirs[m] for n, m in measures.items()})
    assert duplicated > 50


@st.composite
def spans(draw: st.DrawFn) -> Span:
    start = draw(st.integers(0, 90))
    return Span(draw(st.sampled_from("ab")), start, draw(st.integers(start + 1, 100)))


PAGES = {name: Document(name, name, "x" * 100) for name in "ab"}
some_gold = st.lists(
    st.builds(Gold, spans=st.lists(spans(), min_size=1, max_size=3).map(tuple), grade=st.integers(1, 3)),
    min_size=1,
    max_size=12,
)


@given(found=st.lists(spans(), max_size=15), gold=some_gold, tokens=st.integers(0, 600))
def test_all_metrics_stay_in_bounds_and_agree_with_each_other(found: list[Span], gold: list[Gold], tokens: int) -> None:
    """Pieces may overlap, share a chunk, have alternatives on two pages; chunks may be listed twice."""
    chunks = [Chunk.of(PAGES[span.doc_id], (span,), 0) for span in found]
    got = values([Hit(chunk, 0.0, rank) for rank, chunk in enumerate(chunks, 1)], gold, tokens)
    assert all(0 <= value <= 1 for value in got.values())
    assert got["hit@1"] <= got["hit@3"] <= got["hit@5"] <= got["hit@10"]
    assert got["full@5"] <= got["recall@5"] <= got["hit@5"]
    assert got["hit@1"] <= got["mrr@5"] <= got["mrr@10"] <= got["hit@10"]
    assert (got["ndcg@10"] > 0) == (got["hit@10"] > 0)
    assert got["span_iou@5"] <= min(got["span_precision@5"], got["span_recall@5"])


@given(st.lists(st.integers(1, 3), min_size=1, max_size=10), st.randoms(use_true_random=False))
def test_ndcg_is_1_for_the_ideal_order_and_never_more_for_another(grades: list[int], shuffler: random.Random) -> None:
    """A chunk a piece: grades falling are the ideal."""
    gold = tuple(Gold(spans=(Span("a", i, i + 1),), grade=grade) for i, grade in enumerate(grades))
    order = sorted(range(len(grades)), key=lambda i: -grades[i])
    place = {piece: rank for rank, piece in enumerate(order, start=1)}
    ideal = Judged(gold, tuple(place[i] for i in range(len(grades))), (), ())
    assert measure("ndcg@10").of(ideal) == 1
    other = list(ideal.ranks)
    shuffler.shuffle(other)
    assert measure("ndcg@10").of(Judged(gold, tuple(other), (), ())) <= 1
