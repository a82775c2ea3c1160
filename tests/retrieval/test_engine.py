"""The one call behind everything: it builds what is missing, and nothing stale is ever shown."""

import logging

import pytest

from docmind.config import MATRIX, Settings, strategy
from docmind.errors import UsageError
from docmind.models import load
from docmind.retrieval.engine import Engine
from docmind.retrieval.fingerprint import composition, treatment
from docmind.types import Query


@pytest.fixture
def engine(corpus, tmp_path):
    made = Engine(Settings(corpus=corpus, index_dir=tmp_path / "indexes"), load("default"))
    yield made
    made.close()


@pytest.mark.parametrize("name", [s.name for s in MATRIX])
def test_every_strategy_of_the_matrix_answers(engine, name):
    first = engine.retrieve(name, "How many days of annual leave do I have?", 3).hits[0]
    assert first.chunk.doc_id == "leave.md"
    assert "25 days" in first.chunk.text


def test_a_question_can_be_limited_to_documents(engine):
    query = Query("annual leave", doc_ids=frozenset({"travel/rail.md"}))
    assert {hit.chunk.doc_id for hit in engine.retrieve("headers+rerank", query, 5).hits} == {"travel/rail.md"}


def test_bm25_builds_no_index(engine, tmp_path):
    engine.retrieve("headers+bm25", "annual leave", 3)
    assert not (tmp_path / "indexes").exists()
    assert engine.built == {}


def test_a_changed_page_is_followed(engine, corpus, caplog):
    assert "25 days" in engine.retrieve("headers+rerank", "days of annual leave", 1).hits[0].chunk.text
    (corpus / "leave.md").write_text("# Leave\n\nYou have 28 days of annual leave a year.\n")
    with caplog.at_level(logging.WARNING):
        found = engine.retrieve("headers+rerank", "days of annual leave", 10).hits
    assert "has changed" in caplog.text
    assert "28 days" in found[0].chunk.text
    assert not any("25 days" in hit.chunk.text for hit in found)


def test_a_new_page_and_a_removed_one_are_followed(engine, corpus):
    engine.retrieve("headers+bm25", "ticket", 5)
    (corpus / "bikes.md").write_text("Bikes are free.")
    assert engine.retrieve("headers+bm25", "bikes", 5).hits[0].chunk.doc_id == "bikes.md"
    (corpus / "bikes.md").unlink()
    assert engine.retrieve("headers+bm25", "bikes", 5).hits == ()


def test_only_the_edited_page_is_embedded_again(corpus, tmp_path):
    settings = Settings(corpus=corpus, index_dir=tmp_path / "indexes")
    for expected in (5, 1):  # leave and pay have two sections each, rail is one
        engine = Engine(settings, load("default"))
        engine.index("headers")
        assert (engine.built["headers"].chunks, engine.built["headers"].embedded) == (5, expected)
        engine.close()
        (corpus / "travel" / "rail.md").write_text("Second class is the rule.\n")


@pytest.mark.parametrize("name", ["nothing+vector", "headers+nothing"])
def test_an_unknown_part_is_told_with_those_there_are(engine, name):
    with pytest.raises(UsageError, match="There are: "):
        engine.retrieve(name, "leave", 3)


def test_a_fingerprint_tells_how_a_mode_is_composed(engine):
    assert composition(engine.retriever(strategy("headers+rerank"))) == {
        "class": "Rerank",
        "inner": {"class": "Hybrid", "first": {"class": "Vector"}, "second": {"class": "Bm25"}, "depth": 20, "k": 60},
        "reranker": "late",
        "depth": 20,
    }


def test_the_treatment_names_parameters_models_versions_and_code(engine):
    found = treatment(engine, [strategy("fixed_500+vector")])
    assert found["strategies"] == {"fixed_500+vector": {"chunker": "fixed_500", "mode": "vector"}}
    assert found["chunkers"]["fixed_500"]["size"] == 500
    assert found["models"]["embedder"] == engine.models.embedder.id
    assert {"chromadb", "onnxruntime"} <= set(found["libraries"])
    assert {"chunking/fixed.py", "retrieval/hybrid.py", "text.py"} <= set(found["code"])
