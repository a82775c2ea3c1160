"""What every mode keeps, whoever wrote it: MODES is the list, a new line inherits these."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from docmind.errors import UsageError
from docmind.parameters import declared, written
from docmind.retrieval import MODES, PRESETS
from docmind.retrieval.composing import Mode
from docmind.retrieval.fuse import Fuse
from docmind.retrieval.late import LateInteraction
from docmind.retrieval.mmr import Mmr
from docmind.retrieval.ranking import ranked
from docmind.retrieval.rerank import Rerank
from docmind.retrieval.shared import Shared
from docmind.retrieval.strategies import mode
from docmind.types import Query, Ranking

NESTED = ("fuse(hybrid,mmr,bm25_stem,weights=2:1:0.5)", "rerank(mmr(bm25,fetch=15))", "mmr(rerank(depth=30),fetch=12)")


def by(parts, text, question, k, **more):
    return parts.mode(mode(text)).retrieve(Query(question, **more), k)


@pytest.mark.parametrize("text", [*MODES, *PRESETS, *NESTED])
class TestEveryMode:
    def test_ranks_rise_from_one_and_scores_never_rise(self, parts, text):
        hits = by(parts, text, "how many days of leave a year?", 10).hits
        assert hits
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        assert all(a.score >= b.score for a, b in itertools.pairwise(hits))
        assert len({hit.chunk.id for hit in hits}) == len(hits)

    def test_the_same_question_gives_the_same_hits(self, parts, text):
        first, second = (by(parts, text, "paid in March", 5).hits for _ in range(2))
        assert first == second

    def test_k_is_kept_and_a_list_ends_at_its_depth(self, parts, text):
        depth = parts.mode(mode(text)).depth
        assert len(by(parts, text, "leave", 1).hits) == 1
        for k in (25, 100):
            found = len(by(parts, text, "room floor house", k).hits)
            # All 30 rooms are found, by word as by vector, or as many as the depth allows.
            assert min(k, 30, depth or 100) <= found <= min(k, depth or 100)

    @pytest.mark.parametrize("question", ["room on floor 2", "annual leave", "house", "", "Urlaub"])
    def test_the_first_hits_do_not_depend_on_k(self, parts, text, question):
        rankings = {k: by(parts, text, question, k) for k in (1, 3, 10, 20, 100)}
        for k, ranking in rankings.items():
            assert ranking.hits == rankings[100].hits[:k]

    def test_a_filter_is_pushed_down_before_the_top_k(self, parts, text):
        """The rooms are far from the question, so a filter after the top k would leave nothing."""
        only = frozenset({"0030.md", "0031.md"})
        hits = by(parts, text, "annual leave days, room", 5, doc_ids=only).hits
        assert {hit.chunk.doc_id for hit in hits} == only
        assert by(parts, text, "leave", 5, doc_ids=frozenset()).hits == ()

    def test_stages_end_with_what_was_returned(self, parts, text):
        ranking = by(parts, text, "annual leave", 5)
        assert ranking.stages[-1].candidates == tuple(hit.chunk for hit in ranking.hits)
        assert all(stage.seconds >= 0 for stage in ranking.stages)

    @pytest.mark.parametrize("k", [0, -1, -20, 2.5, "3", None])
    def test_a_k_that_asks_for_no_hits_is_refused(self, parts, text, k):
        made = parts.mode(mode(text))
        for retriever in (made, Shared(made)):
            with pytest.raises(UsageError, match=rf"k is {k!r}; how many hits are wanted, a whole number from 1 up"):
                retriever.retrieve(Query("leave"), k)

    @pytest.mark.parametrize("question", ["", " ", "?!", "\u202e\u0000", "zzzqqqxxx", "leave " * 2000])
    def test_odd_questions_do_not_crash(self, parts, text, question, caplog):
        by(parts, text, question, 3)

    def test_without_context_below_there_is_none(self, parts, text):
        assert all(hit.context == () for hit in by(parts, text, "annual leave", 5).hits)
        assert parts.mode(mode(text)).context(parts.chunks[0]) == ()

    def test_a_shared_one_says_the_same_of_itself(self, parts, text):
        made = parts.mode(mode(text))
        assert Shared(made).depth == made.depth
        assert Shared(made).context(parts.chunks[3]) == made.context(parts.chunks[3])
        assert Shared(made).retrieve(Query("leave"), 3).hits == made.retrieve(Query("leave"), 3).hits

    def test_every_parameter_tells_itself_and_can_be_set_to_its_bounds(self, parts, text):
        part = mode(text)
        known = declared(MODES[part.name].make)
        assert [name for name, _ in part.values] == [each.name for each in known]
        for each in known:
            assert each.meaning
            assert each.choices or each.low is not None
            for bound in each.choices or (each.low, each.high):
                value = ":".join([written(bound)] * len(part.inner)) if each.name == "weights" else written(bound)
                held = ",".join([*map(str, part.inner), f"{each.name}={value}"])
                assert by(parts, f"{part.name}({held})", "leave", 2).hits


def test_no_preset_has_the_name_of_a_mode_and_each_stands_for_one():
    assert not PRESETS.keys() & MODES.keys()
    assert all(mode(preset).name in MODES for preset in PRESETS)


# Depth


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("vector", None), ("bm25", None), ("hybrid", 20), ("hybrid(depth=35)", 35), ("rerank", 20), ("mmr", 10),
        ("rerank(depth=5)", 5), ("rerank(bm25,depth=7)", 7), ("rerank(hybrid,depth=100)", 20), ("mmr(hybrid(depth=4))", 4),
        # Nobody wrote the inner mode of these, so it is as deep as they are.
        ("rerank(depth=100)", 100), ("mmr(fetch=100)", 100),
        # Two lists of 5 and 7 make 12 at most; one without an end makes as many as are asked for.
        ("fuse(rerank(depth=5),mmr(fetch=7))", 12), ("fuse(rerank(depth=5),bm25)", 20), ("fuse(mmr,rerank,depth=3)", 3),
    ],
)  # fmt: skip
def test_where_a_list_ends(parts, text, depth):
    made = parts.mode(mode(text))
    assert made.depth == depth
    found = len(made.retrieve(Query("room on a floor of the house, annual leave"), 1000).hits)
    assert found <= (depth or len(parts.chunks))


def test_an_inner_mode_that_was_written_keeps_its_depth_and_one_that_was_not_follows():
    assert str(mode("rerank(depth=100)")) == (
        "rerank(fuse(vector,bm25,how=rrf,weights=1:1,constant=60,depth=100),depth=100)"
    )
    assert str(mode("rerank(hybrid,depth=100)").inner[0]) == str(mode("hybrid(depth=20)"))
    assert str(mode("rerank(depth=5)").inner[0]) == str(mode("hybrid(depth=20)"))


def test_more_candidates_can_bring_up_what_stood_below(parts):
    """Or the depth would decide nothing."""
    question = "which storey is chamber 29 on?"
    few, many = (by(parts, f"rerank(vector,depth={depth})", question, 38).hits for depth in (1, 38))
    assert (len(few), len(many)) == (1, 38)
    assert few[0].chunk == by(parts, "vector", question, 1).hits[0].chunk


# What the parts do


def test_bm25_returns_only_chunks_with_a_term(parts):
    assert by(parts, "bm25", "zebra", 10).hits == ()
    found = {hit.chunk.doc_id for hit in by(parts, "bm25", "leave", 10).hits}
    assert found == {"0000.md", "0005.md", "0007.md"}


def test_without_a_lexical_match_the_hybrid_order_is_the_vector_order(parts):
    vector = [hit.chunk for hit in by(parts, "vector", "Urlaubstage?", 10).hits]
    assert [hit.chunk for hit in by(parts, "hybrid", "Urlaubstage?", 10).hits] == vector


def test_equal_chunks_tie_and_the_earlier_document_stands_first(parts):
    for text in ("vector", "bm25", "rerank", "minmax"):
        first, second = by(parts, text, "annual leave days a year", 2).hits
        assert first.score == second.score
        assert (first.chunk.doc_id, second.chunk.doc_id) == ("0000.md", "0007.md")


def test_mmr_takes_its_relevance_from_the_vectors_whatever_found_the_candidates(parts):
    """Of one list of candidates, in any order and with any scores, it makes one and the same."""
    question = "how many days of annual leave are there in a year?"
    for k in (3, 10):
        by_vector = by(parts, "mmr(vector)", question, k).hits
        reranked = by(parts, "mmr(rerank(vector,depth=10))", question, k).hits
        assert {hit.chunk for hit in by_vector} == {hit.chunk for hit in reranked} or k == 3
        assert [hit.score for hit in by_vector] == [hit.score for hit in reranked]
    first = by(parts, "mmr(bm25)", question, 1).hits[0]
    [cosine] = [hit.score for hit in by(parts, "vector", question, 38).hits if hit.chunk == first.chunk]
    assert first.score == 0.5 * cosine


def test_weights_move_the_order(parts):
    """A heavy list alone decides; with a light one, ties alone."""
    question = "annual leave of sixteen weeks, receipts"
    for heavy, weights in (("vector", "1000:0.001"), ("bm25", "0.001:1000")):
        alone = [hit.chunk for hit in by(parts, heavy, question, 5).hits]
        for how in ("rrf", "minmax"):
            fused = by(parts, f"fuse(vector,bm25,how={how},weights={weights})", question, 5).hits
            count = min(3, len(alone))
            assert [hit.chunk for hit in fused[:count]] == alone[:count]


def test_minmax_scores_by_hand(parts):
    question, depth = "annual leave days", 5
    lists = [by(parts, text, question, depth).hits for text in ("vector", "bm25")]
    expected = {}
    for weight, hits in zip((3, 1), lists, strict=True):
        low, high = hits[-1].score, hits[0].score
        for hit in hits:
            scaled = (hit.score - low) / (high - low)
            expected[hit.chunk.id] = expected.get(hit.chunk.id, 0) + weight * scaled / 4
    fused = by(parts, f"minmax(weights=3:1,depth={depth})", question, depth).hits
    assert [hit.score for hit in fused] == pytest.approx(sorted(expected.values(), reverse=True)[:depth])
    assert all(hit.score == pytest.approx(expected[hit.chunk.id]) for hit in fused)


@dataclass(frozen=True)
class Listed:
    """A retriever of one answer. With `around`, each hit brings the chunk after it, as a mode with context would."""

    chunks: tuple
    order: tuple
    around: bool = False
    depth: int | None = None

    def retrieve(self, query, k):
        found = [(self.chunks[i], -n, self.context(self.chunks[i])) for n, i in enumerate(self.order)]
        return Ranking(ranked(found, k if self.depth is None else min(k, self.depth)))

    def context(self, chunk):
        at = self.chunks.index(chunk) if chunk in self.chunks else len(self.chunks)
        return self.chunks[at + 1 : at + 2] if self.around else ()


class ByNumber:
    name = "by number"

    def score(self, question, chunks):
        return np.array([float(chunk.body) for chunk in chunks])


def test_a_tie_of_fused_lists_does_not_follow_their_order(chunks_of):
    a1, a2, b1, b2 = chunks_of(["a1", "a2", "b1", "b2"])
    one, other = Listed((a1, a2), (0, 1)), Listed((b1, b2), (0, 1))
    orders = [[h.chunk.body for h in Fuse(x).retrieve(Query(""), 4).hits] for x in ((one, other), (other, one))]
    assert orders == [["a1", "b1", "a2", "b2"]] * 2


def test_rerank_orders_the_candidates_alone(chunks_of):
    chunks = chunks_of([str(n) for n in range(30)])
    ranking = Rerank(Listed(tuple(chunks), tuple(range(30))), ByNumber(), depth=20).retrieve(Query(""), 3)
    assert [hit.chunk.body for hit in ranking.hits] == ["19", "18", "17"]


# Context


def test_fusion_keeps_the_context_of_every_list_in_their_order_and_no_chunk_twice(chunks_of):
    a, b, c, d = chunks_of(["a", "b", "c", "d"])
    one, other, bare = Listed((a, b), (0,), around=True), Listed((a, c, d), (0, 1), around=True), Listed((a, d), (0, 1))
    fused = Fuse((one, other, one, bare))
    hits = {hit.chunk.body: hit.context for hit in fused.retrieve(Query(""), 9).hits}
    assert hits == {"a": (b, c), "c": (d,), "d": ()}
    assert fused.context(a) == (b, c)
    assert Fuse((other, one)).context(a) == (c, b)
    assert fused.context(d) == ()


def test_reranking_keeps_the_context_of_each_hit(chunks_of):
    chunks = tuple(chunks_of(["0", "1", "2", "3"]))
    made = Rerank(Listed(chunks, (0, 1, 2), around=True), ByNumber())
    assert [(h.chunk.body, h.context) for h in made.retrieve(Query(""), 9).hits] == [
        ("2", (chunks[3],)),
        ("1", (chunks[2],)),
        ("0", (chunks[1],)),
    ]
    assert made.context(chunks[2]) == (chunks[3],)


def neighbours(parts):
    """A mode that brings the chunk after each hit as context, and whose list ends at 6."""
    chunks = tuple(parts.chunks)
    return Mode(lambda: Listed(chunks, (5, 0, 9, 7, 1, 30, 12), around=True, depth=6))


@pytest.mark.parametrize("wrapped", [name for name, each in MODES.items() if each.inner])
def test_every_mode_that_composes_keeps_context_and_depth(parts, wrapped, monkeypatch):
    """A newcomer with inner modes inherits this: what its hits show is what they showed inside it."""
    monkeypatch.setitem(MODES._entries, "neighbours", neighbours(parts))
    inner = ",".join(["neighbours"] * max(1, len(MODES[wrapped].inner)))
    made = parts.mode(mode(f"{wrapped}({inner})"))
    hits = made.retrieve(Query("annual leave"), 20).hits
    assert {hit.chunk.doc_id for hit in hits} <= {parts.chunks[i].doc_id for i in (5, 0, 9, 7, 1, 30)}
    assert len(hits) == 6
    after = {parts.chunks[i].id: (parts.chunks[i + 1],) for i in range(len(parts.chunks) - 1)}
    assert all(hit.context == after[hit.chunk.id] == made.context(hit.chunk) for hit in hits)
    assert made.depth is not None
    assert made.depth >= 6
    assert hits[0].shown == hits[0].chunk.shown + hits[0].context[0].shown


def test_late_interaction_by_hand(chunks_of):
    """Mean over the question's tokens of the best cosine: (1 + 0.6) / 2 and (0 + 1) / 2."""
    chunks = chunks_of(["x", "y"])

    class Tokens:
        rows = (np.array([[1, 0], [0.8, 0.6]], np.float32), np.array([[0, 1]], np.float32))

        def max_sim(self, question, positions):
            return np.stack([(question @ self.rows[position].T).max(axis=1) for position in positions], axis=1)

    class Axes:
        def embed_query(self, text):
            return np.zeros(2, np.float32), np.eye(2, dtype=np.float32)

    late = LateInteraction(Axes(), Tokens(), {chunk.id: at for at, chunk in enumerate(chunks)})
    assert late.score("", chunks).tolist() == [0.8, 0.5]
    assert late.score("", chunks[1:]).tolist() == [0.5]


# One line is all that a new mode needs


@dataclass(frozen=True, slots=True)
class Reversed:
    """A newcomer: its inner list from behind."""

    inner: object
    depth: int = 10

    def retrieve(self, query, k):
        found = self.inner.retrieve(query, self.depth).hits
        return Ranking(ranked([(hit.chunk, float(hit.rank), hit.context) for hit in found], k))

    def context(self, chunk):
        return self.inner.context(chunk)


def test_a_new_mode_is_a_class_and_a_line(parts, monkeypatch):
    monkeypatch.setitem(MODES._entries, "reversed", Mode(Reversed, inner=("vector",)))
    last, first = (by(parts, text, "leave", 10).hits for text in ("reversed", "vector"))
    assert [hit.chunk for hit in last] == [hit.chunk for hit in reversed(first)]
    assert by(parts, "fuse(reversed(bm25),rerank(reversed))", "leave", 3).hits
    with pytest.raises(UsageError, match=r"There are: vector, .*mmr, reversed, hybrid"):
        mode("revrsed")


def test_mmr_ends_where_its_candidates_end(parts):
    index = parts.index.vectors
    made = Mmr(Listed(tuple(parts.chunks), (0, 1, 2), depth=3), index, parts.embedder, parts.positions)
    assert made.depth == 3
    assert len(made.retrieve(Query("leave"), 10).hits) == 3
