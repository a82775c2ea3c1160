"""The one call behind everything: it builds what is missing, answers many at once, and shows nothing stale."""

import json
import logging
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from threading import Event, Thread

import pytest

import docmind
from docmind import corpus as corpora
from docmind.chunking import CHUNKERS
from docmind.config import Settings
from docmind.errors import UsageError
from docmind.index import build
from docmind.models import load
from docmind.retrieval import searcher as module
from docmind.retrieval.engine import Engine
from docmind.retrieval.searcher import Searcher
from docmind.retrieval.strategies import chunker, read_strategies
from docmind.types import Query, Split


@pytest.fixture
def settings(corpus, tmp_path):
    return Settings(corpus=corpus, index_dir=tmp_path / "indexes")


@pytest.fixture
def built():
    return []


@pytest.fixture
def searcher(settings, built):
    with Searcher(settings, load("default"), observe=built.append) as made:
        yield made


@pytest.fixture
def engine(settings):
    made = Engine(settings, load("default"), look_every=0)
    yield made
    made.close()


def indexes(settings):
    return [path for path in settings.index_dir.iterdir() if path.is_dir()]


@pytest.mark.parametrize("name", [s.name for s in read_strategies(None).matrix])
def test_every_strategy_of_the_matrix_answers(searcher, name):
    first = searcher(name, "How many days of annual leave do I have?", 3).hits[0]
    assert first.chunk.doc_id == "leave.md"
    assert "25 days" in first.chunk.text


def test_a_question_can_be_limited_to_documents(searcher):
    query = Query("annual leave", doc_ids=frozenset({"travel/rail.md"}))
    assert {hit.chunk.doc_id for hit in searcher("headers+rerank", query, 5).hits} == {"travel/rail.md"}


@pytest.mark.parametrize("name", ["headers+bm25", "headers+bm25_stem", "headers+vector", "headers+rerank"])
def test_words_that_are_hyphenated_out_of_sight_are_found_by_every_mode(corpus, settings, name):
    (corpus / "desk.md").write_text(
        "# Desks\n\nThe of&shy;fice pol\u00adicy is to share\u200b desks.\n", encoding="utf-8"
    )
    with Searcher(settings, load("default")) as searcher:
        hits = searcher(name, "office policy", 1).hits
    assert [hit.chunk.doc_id for hit in hits] == ["desk.md"]
    assert "of\u00adfice pol\u00adicy" in hits[0].text, "the page stays as it is written"


def test_a_document_is_found_however_its_name_is_composed(settings):
    for name in ("\u00dcber.md", "U\u0308ber 2.md"):
        (settings.corpus / name).write_text("Annual leave abroad is 30 days.")
    with Searcher(settings, load("default")) as searcher:
        for name in ("\u00dcber.md", "U\u0308ber.md", "\u00dcber 2.md", "U\u0308ber 2.md"):
            query = Query("annual leave", doc_ids=frozenset({name}))
            found = {hit.chunk.doc_id for hit in searcher("headers+bm25", query, 5).hits}
            assert found == {name.replace("U\u0308", "\u00dc")}


@dataclass(frozen=True)
class Nothing:
    """A chunker that makes no chunk."""

    embedder: object

    def split(self, document):
        return Split(())


@pytest.mark.parametrize("mode", ["bm25", "vector", "rerank"])
def test_a_chunker_that_makes_no_chunk_is_refused_and_not_scored(searcher, monkeypatch, mode):
    monkeypatch.setitem(CHUNKERS._entries, "nothing", Nothing)
    with pytest.raises(
        UsageError, match=r"chunker nothing made no chunk of 3 documents, so .* Its split\(\) must give"
    ):
        searcher(f"nothing+{mode}", "annual leave", 3)


def test_documents_without_text_have_no_chunks_and_no_hits(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("<!-- nothing -->")
    with Searcher(Settings(corpus=tmp_path / "docs", index_dir=tmp_path / "index"), load("default")) as searcher:
        assert searcher("headers+bm25", "annual leave", 3).hits == ()


def test_bm25_builds_no_index_and_embeds_nothing(searcher, settings, built):
    searcher("headers+bm25", "annual leave", 3)
    assert indexes(settings) == []
    assert not (settings.index_dir / module.CACHE).exists()
    assert built == []


@pytest.mark.parametrize("name", ["nothing+vector", "headers+nothing"])
def test_an_unknown_part_is_told_with_those_there_are(searcher, name):
    with pytest.raises(UsageError, match="There are: "):
        searcher(name, "leave", 3)


def test_chunkers_that_differ_in_a_parameter_have_chunks_of_their_own_and_equal_ones_share(searcher):
    small, whole, same = (searcher.collection(chunker(f"fixed(size={n},overlap=0)")) for n in (16, 500, 500))
    assert len(small.chunks) > len(whole.chunks)
    assert same is whole
    assert searcher.collection(chunker("fixed_500(overlap=0)")) is whole


def test_modes_that_differ_in_a_parameter_answer_apart(searcher):
    few, more = (searcher(f"headers+rerank(depth={n})", "salary", 10).hits for n in (2, 4))
    assert (len(few), len(more)) == (2, 4)


def test_a_strategy_is_found_by_its_name_in_the_settings_file(corpus, tmp_path):
    file = tmp_path / "strategies.yaml"
    file.write_text("strategies: {short: headers+rerank(depth=1)}\n")
    settings = Settings(corpus=corpus, index_dir=tmp_path / "indexes", strategies=file)
    with Searcher(settings, load("default")) as searcher:
        assert len(searcher("short", "salary", 5).hits) == 1
        with pytest.raises(UsageError, match=r"unknown strategy 's0_original'. There are: short"):
            searcher("s0_original", "salary", 5)


def test_an_index_is_named_by_a_slug(searcher, settings):
    searcher("headers(size=300)+vector", "leave", 1)
    [folder] = indexes(settings)
    assert folder.name.startswith("headers-size-300-")
    assert "(" not in folder.name


def test_only_the_edited_page_is_embedded_again(corpus, settings):
    for expected in (5, 1):  # leave and pay have two sections each, rail is one
        built = []
        with Searcher(settings, load("default"), observe=built.append) as searcher:
            searcher("headers+vector", "leave", 1)
        assert [(of.chunker, of.chunks, of.embedded) for of in built] == [("headers", 5, expected)]
        (corpus / "travel" / "rail.md").write_text("Second class is the rule.\n")


QUESTIONS = ["annual leave", "When is the salary paid?", "first class", "bonus in March", "carry days over"]
NAMES = [
    "headers+rerank",
    "headers+hybrid",
    "fixed_500+mmr",
    "fixed_500+bm25_stem",
    "recursive(size=100,overlap=0)+minmax",
]


def found(searcher, name, question):
    return [(hit.chunk.id, hit.score, hit.rank) for hit in searcher(name, question, 5).hits]


def test_eight_threads_that_search_at_once_get_what_one_gets(settings):
    """Over strategies of which none is built when they begin."""
    asked = [*product(NAMES, QUESTIONS)] * 4
    with Searcher(settings, load("default")) as alone:
        expected = [found(alone, *each) for each in asked]
    with Searcher(settings, load("default")) as searcher, ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda each: found(searcher, *each), asked)) == expected


def test_who_asks_for_what_is_there_does_not_wait_for_what_is_built(searcher, monkeypatch):
    expected = found(searcher, "headers+rerank", "annual leave")
    building, go_on = Event(), Event()
    whole = build.open_or_build

    def slow(*arguments):
        building.set()
        assert go_on.wait(30)
        return whole(*arguments)

    monkeypatch.setattr(build, "open_or_build", slow)
    other = Thread(target=searcher, args=("fixed_500+vector", "annual leave"))
    other.start()
    assert building.wait(30)
    try:
        answered = []
        asking = Thread(target=lambda: answered.append(found(searcher, "headers+rerank", "annual leave")))
        asking.start()
        asking.join(20)
        assert answered == [expected]
    finally:
        go_on.set()
        other.join()


def test_a_searcher_is_a_snapshot_and_the_engine_gives_a_new_one(engine, corpus, caplog):
    old = engine.searcher()
    assert "25 days" in old("headers+rerank", "days of annual leave", 1).hits[0].chunk.text
    (corpus / "leave.md").write_text("# Leave\n\nYou have 28 days of annual leave a year.\n")
    with caplog.at_level(logging.WARNING):
        hits = engine.searcher()("headers+rerank", "days of annual leave", 10).hits
    assert "has changed" in caplog.text
    assert "28 days" in hits[0].chunk.text
    assert not any("25 days" in hit.chunk.text for hit in hits)
    assert "25 days" in old("headers+rerank", "days of annual leave", 1).hits[0].chunk.text


def test_a_new_page_and_a_removed_one_are_followed(engine, corpus):
    def first(question):
        return [hit.chunk.doc_id for hit in engine.searcher()("headers+bm25", question, 5).hits][:1]

    assert first("ticket") == ["travel/rail.md"]
    (corpus / "bikes.md").write_text("Bikes are free.")
    assert first("bikes") == ["bikes.md"]
    (corpus / "bikes.md").unlink()
    assert first("bikes") == []


def test_the_files_are_looked_at_no_more_often_than_asked_for(settings, monkeypatch):
    looks, now = [], [0.0]
    state = corpora.state
    monkeypatch.setattr(corpora, "state", lambda *of: looks.append(of) or state(*of))
    monkeypatch.setattr("docmind.retrieval.engine.time.monotonic", lambda: now[0])
    engine = Engine(settings, load("default"), look_every=1.0)
    first = engine.searcher()
    for now[0], expected in ((0.5, 1), (0.9, 1), (1.1, 2), (2.0, 2), (2.2, 3)):
        assert engine.searcher() is first
        assert len(looks) == expected
    engine.close()


ASKS = """
import hashlib, json, sys
from importlib import metadata
from pathlib import Path

corpus, index_dir, numpy = sys.argv[1:]
installed = metadata.version
metadata.version = lambda name: numpy if name == "numpy" and numpy else installed(name)

from docmind.config import Settings
from docmind.models import load
from docmind.retrieval.searcher import Searcher

built = []
with Searcher(Settings(corpus=Path(corpus), index_dir=Path(index_dir)), load("default"), observe=built.append) as search:
    hits = [(hit.chunk.id, hit.score) for hit in search("headers+rerank", "annual leave", 5).hits]
    index = search.collection(search.find("headers+rerank").chunker).index
    rows = [*index.vectors.vectors, *(index.tokens.vectors(position) for position in range(2))]
    made = hashlib.sha256(b"".join(row.tobytes() for row in rows)).hexdigest()
print(json.dumps([[of.embedded for of in built], hits, made]))
"""


@pytest.fixture(scope="module")
def yesterday(tmp_path_factory):
    """Asks in a process of its own, by a package that stands in a folder; and what was kept of the first time."""
    root = tmp_path_factory.mktemp("yesterday")
    (root / "corpus").mkdir()
    for name, text in {"leave": "You have 25 days of annual leave.", "pay": "Pay is due on the 25th."}.items():
        (root / "corpus" / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")

    def ask(package, index_dir, numpy=""):
        done = subprocess.run(
            [sys.executable, "-c", ASKS, str(root / "corpus"), str(index_dir), numpy],
            env=os.environ | {"PYTHONPATH": str(package)}, cwd=root, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    kept, package = root / "kept", Path(docmind.__file__).parent
    first = ask(package.parent, kept)
    assert ask(package.parent, kept) == [[0], *first[1:]]
    return ask, kept, package, first


@pytest.mark.parametrize(
    ("file", "old", "new", "numpy"),
    [
        ("models/minilm.py", "np.rint(unit / ", "np.rint(np.abs(unit) / ", ""),
        ("models/minilm.py", "return (mean / ", "return np.abs(mean / ", ""),
        ("models/tokenizing.py", "encoding.ids for", "encoding.ids[::-1] for", ""),
        ("index/cache.py", "np.frombuffer(codes, np.int8)", "abs(np.frombuffer(codes, np.int8))", ""),
        ("index/tokens.py", "self._codes.write(each.codes)", "self._codes.write(abs(each.codes))", ""),
        ("index/tokens.py", "", "", "99.0"),
    ],
)
def test_what_was_kept_before_another_code_or_library_gives_what_nothing_kept_gives(
    yesterday, tmp_path, file, old, new, numpy
):
    ask, kept, package, first = yesterday
    shutil.copytree(package, tmp_path / "changed" / "docmind", ignore=shutil.ignore_patterns("__pycache__"))
    edited = tmp_path / "changed" / "docmind" / file
    text = edited.read_text(encoding="utf-8")
    assert old in text
    edited.write_text(text.replace(old, new) if old else text, encoding="utf-8")
    shutil.copytree(kept, tmp_path / "kept")
    over_old, anew = (ask(tmp_path / "changed", tmp_path / folder, numpy) for folder in ("kept", "empty"))
    assert over_old[1:] == anew[1:]
    assert (anew[2] != first[2]) == bool(old)
    assert anew[0] == [2]
    assert over_old[0] == ([0] if file == "index/tokens.py" and not numpy else [2])


def test_models_handed_in_as_a_function_are_made_when_they_are_first_needed_once(settings):
    made = []

    def models():
        made.append("made")
        return load("default")

    with Searcher(settings, models) as searcher:
        assert searcher.documents
        assert searcher.find("headers+rerank").name == "headers+rerank"
        assert made == []
        with ThreadPoolExecutor(8) as threads:
            embedders = list(threads.map(lambda _: searcher.embedder, range(8)))
        assert {id(embedder) for embedder in embedders} == {id(searcher.embedder)}
        assert (made, searcher.models) == (["made"], load("default"))


def test_reading_documents_and_finding_strategies_loads_no_numpy(settings):
    code = """
import sys
from docmind.config import Settings
from docmind.retrieval.searcher import Searcher

def models():
    raise AssertionError("nothing was searched")

with Searcher(Settings(corpus=sys.argv[1], index_dir=sys.argv[2]), models) as searcher:
    print(len(searcher.documents), searcher.find("semantic+mmr").name, "numpy" in sys.modules)
"""
    places = (str(settings.corpus), str(settings.index_dir))
    done = subprocess.run(
        [sys.executable, "-c", code, *places], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("3 semantic+mmr False\n", "")
