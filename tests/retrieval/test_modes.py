"""What every mode keeps, whoever wrote it: MODES is the list, a new line inherits these."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from docmind.index.build import open_or_build
from docmind.index.cache import CachedEmbedder
from docmind.retrieval import MODES
from docmind.retrieval.hybrid import Hybrid
from docmind.retrieval.late import LateInteraction
from docmind.retrieval.parts import Parts
from docmind.retrieval.ranking import ranked
from docmind.retrieval.rerank import Rerank
from docmind.types import Query, Ranking

TEXTS = [
    "Annual leave is 25 days a year.",
    "Sick pay starts on the first day.",
    "The bonus is paid in March.",
    "Travel by train in second class.",
    "Keep your receipts for every expense.",
    "Parental leave is sixteen weeks.",
    "Laptops are renewed every four years.",
    "Annual leave is 25 days a year.",
] + [f"Room {n} is on floor {n // 10} of the house." for n in range(30)]


@pytest.fixture(scope="module")
def parts(tmp_path_factory, embedder, open_cache):
    from docmind.types import Chunk, Document, Span

    chunks = []
    for number, text in enumerate(TEXTS):
        document = Document(f"{number:04}.md", "", text)
        chunks.append(Chunk.of(document, (Span(document.id, 0, len(text)),), 0))
    folder = tmp_path_factory.mktemp("modes")
    cached = CachedEmbedder(embedder, open_cache(folder / "vectors.sqlite3"))
    made = Parts(chunks, cached, None, lambda: open_or_build("modes", chunks, cached, folder), MODES)
    yield made
    made.close()


@pytest.mark.parametrize("mode", MODES)
class TestEveryMode:
    def test_ranks_rise_from_one_and_scores_never_rise(self, parts, mode):
        hits = parts.mode(mode).retrieve(Query("how many days of leave a year?"), 10).hits
        assert hits
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        assert all(a.score >= b.score for a, b in itertools.pairwise(hits))
        assert len({hit.chunk.id for hit in hits}) == len(hits)

    def test_the_same_question_gives_the_same_hits(self, parts, mode):
        first, second = (parts.mode(mode).retrieve(Query("paid in March"), 5).hits for _ in range(2))
        assert first == second

    def test_k_is_kept(self, parts, mode):
        assert len(parts.mode(mode).retrieve(Query("leave"), 1).hits) == 1
        assert len(parts.mode(mode).retrieve(Query("room floor house"), 25).hits) == 25

    def test_the_best_do_not_depend_on_k(self, parts, mode):
        if mode == "mmr":
            pytest.skip("a larger k widens what MMR chooses from")
        few = parts.mode(mode).retrieve(Query("room on floor 2"), 3).hits
        many = parts.mode(mode).retrieve(Query("room on floor 2"), 10).hits
        assert [hit.chunk for hit in few] == [hit.chunk for hit in many[:3]]

    def test_a_filter_is_pushed_down_before_the_top_k(self, parts, mode):
        """The rooms are far from the question, so a filter after the top k would leave nothing."""
        only = frozenset({"0030.md", "0031.md"})
        hits = parts.mode(mode).retrieve(Query("annual leave days, room", doc_ids=only), 5).hits
        assert {hit.chunk.doc_id for hit in hits} == only
        assert parts.mode(mode).retrieve(Query("leave", doc_ids=frozenset()), 5).hits == ()

    def test_stages_end_with_what_was_returned(self, parts, mode):
        ranking = parts.mode(mode).retrieve(Query("annual leave"), 5)
        assert ranking.stages[-1].candidates == tuple(hit.chunk for hit in ranking.hits)
        assert all(stage.seconds >= 0 for stage in ranking.stages)

    @pytest.mark.parametrize("text", ["", " ", "?!", "\u202e\u0000", "zzzqqqxxx", "leave " * 2000])
    def test_odd_questions_do_not_crash(self, parts, mode, text, caplog):
        parts.mode(mode).retrieve(Query(text), 3)


def test_bm25_returns_only_chunks_with_a_term(parts):
    assert parts.mode("bm25").retrieve(Query("zebra"), 10).hits == ()
    found = {hit.chunk.doc_id for hit in parts.mode("bm25").retrieve(Query("leave"), 10).hits}
    assert found == {"0000.md", "0005.md", "0007.md"}


def test_without_a_lexical_match_the_hybrid_order_is_the_vector_order(parts):
    query = Query("Urlaubstage?")
    vector = [hit.chunk for hit in parts.mode("vector").retrieve(query, 10).hits]
    assert [hit.chunk for hit in parts.mode("hybrid").retrieve(query, 10).hits] == vector


def test_equal_chunks_tie_and_the_earlier_document_stands_first(parts):
    for mode in ("vector", "bm25", "rerank"):
        first, second = parts.mode(mode).retrieve(Query("annual leave days a year"), 2).hits
        assert first.score == second.score
        assert (first.chunk.doc_id, second.chunk.doc_id) == ("0000.md", "0007.md")


@dataclass(frozen=True)
class Fixed:
    """A retriever of one answer."""

    chunks: tuple
    order: tuple

    def retrieve(self, query, k):
        return Ranking(ranked([(self.chunks[i], -rank) for rank, i in enumerate(self.order)], k))


def test_a_tie_of_fused_lists_does_not_follow_their_order(chunks_of):
    a1, a2, b1, b2 = chunks_of(["a1", "a2", "b1", "b2"])
    one, other = Fixed((a1, a2), (0, 1)), Fixed((b1, b2), (0, 1))
    orders = [[h.chunk.body for h in Hybrid(x, y).retrieve(Query(""), 4).hits] for x, y in ((one, other), (other, one))]
    assert orders == [["a1", "b1", "a2", "b2"]] * 2


def test_rerank_orders_the_candidates_alone(chunks_of):
    chunks = chunks_of([str(n) for n in range(30)])

    class ByNumber:
        name = "by number"

        def score(self, question, chunks):
            return np.array([float(chunk.body) for chunk in chunks])

    ranking = Rerank(Fixed(tuple(chunks), tuple(range(30))), ByNumber(), depth=20).retrieve(Query(""), 3)
    assert [hit.chunk.body for hit in ranking.hits] == ["19", "18", "17"]


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

    late = LateInteraction(Axes(), Tokens(), chunks)
    assert late.score("", chunks).tolist() == [0.8, 0.5]
    assert late.score("", chunks[1:]).tolist() == [0.5]
