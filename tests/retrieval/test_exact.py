"""On the committed handbook and answer key, vector search is exact: for every question and every chunker."""

from pathlib import Path

import numpy as np
import pytest

from docmind.config import Settings
from docmind.evaluation.key.dataset import load_questions
from docmind.models import load
from docmind.retrieval.searcher import Searcher
from docmind.retrieval.strategies import Strategy, mode, read_strategies

ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.slow  # builds every index of the handbook


@pytest.fixture(scope="module")
def searcher():
    """With the project's own indexes: they are what `make eval` measures, and building them twice would take minutes."""
    with Searcher(Settings(corpus=ROOT / "corpus", index_dir=ROOT / ".docmind"), load("default")) as made:
        yield made


@pytest.mark.parametrize("chunker", dict.fromkeys(each.chunker for each in read_strategies(None).matrix), ids=str)
def test_the_top_ten_are_those_of_numpy(searcher, chunker, embedder):
    chunks = searcher.collection(chunker).chunks
    vectors = searcher.embedder.embed([chunk.text for chunk in chunks]).astype(np.float64)
    vector = searcher.retriever(Strategy("it", chunker, mode("vector")))
    for question in load_questions(ROOT / "eval" / "questions.jsonl", searcher.documents.values()).questions:
        scores = np.round(vectors @ embedder.embed([question.text])[0].astype(np.float64), 6)
        expected = sorted(range(len(chunks)), key=lambda i: (-scores[i], chunks[i].doc_id, chunks[i].order))[:10]
        assert [hit.chunk.id for hit in vector.retrieve(question.query, 10).hits] == [chunks[i].id for i in expected]
