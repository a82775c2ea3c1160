"""The one call behind everything: it builds what is missing, and nothing stale is ever shown."""

import logging

import pytest

from docmind.config import Settings
from docmind.errors import UsageError
from docmind.models import load
from docmind.retrieval.engine import Engine
from docmind.retrieval.strategies import chunker, read_strategies
from docmind.types import Query


@pytest.fixture
def engine(corpus, tmp_path):
    made = Engine(Settings(corpus=corpus, index_dir=tmp_path / "indexes"), load("default"))
    yield made
    made.close()


@pytest.mark.parametrize("name", [s.name for s in read_strategies(None).matrix])
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
        headers = chunker("headers")
        engine.index(headers)
        built = engine.built[str(headers)]
        assert (built.chunks, built.embedded) == (5, expected)
        engine.close()
        (corpus / "travel" / "rail.md").write_text("Second class is the rule.\n")


@pytest.mark.parametrize("name", ["nothing+vector", "headers+nothing"])
def test_an_unknown_part_is_told_with_those_there_are(engine, name):
    with pytest.raises(UsageError, match="There are: "):
        engine.retrieve(name, "leave", 3)


def test_chunkers_that_differ_in_a_parameter_have_chunks_of_their_own_and_equal_ones_share(engine):
    small, whole, same = (engine.chunks(chunker(f"fixed(size={n},overlap=0)")) for n in (16, 500, 500))
    assert len(small) > len(whole)
    assert same is whole
    assert engine.chunks(chunker("fixed_500(overlap=0)")) is whole


def test_modes_that_differ_in_a_parameter_answer_apart(engine):
    few, more = (engine.retrieve(f"headers+rerank(depth={n})", "salary", 10).hits for n in (2, 4))
    assert (len(few), len(more)) == (2, 4)


def test_a_strategy_is_found_by_its_name_in_the_settings_file(corpus, tmp_path):
    file = tmp_path / "strategies.yaml"
    file.write_text("strategies: {short: headers+rerank(depth=1)}\n")
    engine = Engine(Settings(corpus=corpus, index_dir=tmp_path / "indexes", strategies=file), load("default"))
    assert len(engine.retrieve("short", "salary", 5).hits) == 1
    with pytest.raises(UsageError, match=r"unknown strategy 's0_original'. There are: short"):
        engine.retrieve("s0_original", "salary", 5)
    engine.close()


def test_an_index_is_named_by_a_slug(engine, tmp_path):
    engine.index(chunker("headers(size=300)"))
    [folder] = [path for path in (tmp_path / "indexes").iterdir() if path.is_dir()]
    assert folder.name.startswith("headers-size-300-")
    assert "(" not in folder.name
