"""What is shown is one idea: table, TREC files, ceiling and attribution grade a hit with the context that it brings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import ir_measures
import pytest
from ir_measures import RR, Success

import docmind
from docmind.protocols import Retriever
from docmind.retrieval import MODES
from docmind.retrieval.composing import Mode
from docmind.spec import slug
from docmind.types import Chunk, Query, Ranking

STRATEGIES = [
    "headers+showing(bm25)",
    "headers+fuse(showing(bm25),vector)",
    "headers+rerank(showing(hybrid))",
    "headers+mmr(showing(vector))",
    "headers+bm25",
]


@dataclass(frozen=True, slots=True)
class Showing:
    """Its inner list, each hit with the next chunk of its document beside it."""

    inner: Retriever
    chunks: Sequence[Chunk]

    @property
    def depth(self) -> int | None:
        return self.inner.depth

    def retrieve(self, query: Query, k: int) -> Ranking:
        found = self.inner.retrieve(query, k)
        return replace(found, hits=tuple(replace(hit, context=self.context(hit.chunk)) for hit in found.hits))

    def context(self, chunk: Chunk) -> tuple[Chunk, ...]:
        return tuple(c for c in self.chunks if c.doc_id == chunk.doc_id and c.order == chunk.order + 1)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """On pages of which some questions can be won by a chunk alone, some with the next one alone, and one by none."""
    monkeypatch.setitem(MODES._entries, "showing", Mode(Showing, lambda c: (c.chunks,), inner=("bm25",)))
    lines = [f"## Part {i}\n\nThe figure of part {i} is {i * 37}. {'Filler words stand here. ' * 6}" for i in range(30)]
    (tmp_path / "docs").mkdir()
    for page in range(3):
        body = "\n\n".join(lines[10 * page : 10 * page + 10])
        (tmp_path / "docs" / f"{page}.md").write_text(f"# Page {page}\n\n{body}\n")
    questions = [
        {
            "id": f"q{i:02}",
            "question": f"What is the figure of part {i - 1 if i % 2 and i % 10 else i}?",
            "source": f"{i // 10}.md",
            "evidence": f"The figure of part {i} is {i * 37}.",
        }
        for i in range(30)
    ]
    whole = f"The figure of part 3 is 111. {'Filler words stand here. ' * 6}".strip()
    questions.append(
        {"id": "split", "question": "What is the figure of part 3, and of part 4?", "source": "0.md",
         "evidence": f"{whole}\n\n## Part 4\n\nThe figure of part 4 is 148. {'Filler words stand here. ' * 4}".strip()}
    )  # fmt: skip
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, questions)))
    settings = docmind.Settings(index_dir=tmp_path / "indexes")
    found = docmind.evaluate(tmp_path / "docs", tmp_path / "questions.jsonl", STRATEGIES, settings=settings)
    found.save(tmp_path / "out")
    return found


def test_every_report_grades_the_hit_with_its_context(run, tmp_path):
    won = {}
    for name, strategy in run.items():
        stem = tmp_path / "out" / f"latest.{slug(name)}"
        qrels = list(ir_measures.read_trec_qrels(f"{stem}.qrels"))
        ranking = list(ir_measures.read_trec_run(f"{stem}.run"))
        theirs = ir_measures.calc_aggregate([Success @ 1, Success @ 3, RR @ 10], qrels, ranking)
        ours = strategy.metrics
        assert [ours["hit@1"], ours["hit@3"], ours["mrr@10"]] == pytest.approx(
            [theirs[Success @ 1], theirs[Success @ 3], theirs[RR @ 10]]
        )
        assert strategy.ceiling >= ours["hit@10"]
        for found in strategy.questions.values():
            assert (found.lost_at is None) == (found.rank is not None and found.rank <= 3)
        won[name] = ours["hit@1"]
    assert won["headers+showing(bm25)"] > won["headers+bm25"], "context wins what the chunk alone does not"
    assert run["headers+showing(bm25)"].ceiling > run["headers+bm25"].ceiling, "what stands in two chunks can be won"


def test_a_question_that_no_chunk_wins_alone_is_lost_at_chunking_only_without_context(run):
    assert run["headers+bm25"].questions["split"].lost_at == "chunking"
    for name in STRATEGIES[:-1]:
        assert run[name].questions["split"].lost_at != "chunking"


def test_context_costs_tokens_and_shows_in_the_record(run):
    alone, beside = (run[name].questions["q04"].hits[0] for name in ("headers+bm25", "headers+showing(bm25)"))
    assert alone.chunk == beside.chunk
    size = [sum(end - start for start, end in hit.spans) for hit in (alone, beside)]
    assert size[1] > 1.5 * size[0]
    within = [run[name].metrics["hit@1000tok"] for name in ("headers+bm25", "headers+showing(bm25)")]
    assert within[1] <= run["headers+showing(bm25)"].metrics["hit@10"]
