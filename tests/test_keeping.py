"""What is kept of documents and chunks is what would be made anew; where it could be another thing it is made anew."""

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmind import corpus as corpora
from docmind.chunking import CHUNKERS
from docmind.chunking import stored as chunks_stored
from docmind.corpus import stored
from docmind.corpus.markdown import document
from docmind.keeping import Keeper, key
from docmind.models import load
from docmind.types import Chunk, Document, Span, Split

PAGE = """# Leave {x}

Take 25 days.

| Country | Days |
|---|---|
| Spain | 23 |
| | 24 |

## More

- one
- two

```sh
make
```
"""
DAMAGE = [b"", b"{", b"[]", b'{"id": 3}', b"\xff\xfe", b'{"id":"a.md","blocks":[[1]]}', b"null", b'"x"']


@pytest.fixture
def keeper(tmp_path):
    made = Keeper(tmp_path / "kept.sqlite3")
    yield made
    made.close()


@pytest.fixture
def reads(monkeypatch):
    """The ids of the pages that are read, not found kept."""
    found = []
    read = corpora._read
    monkeypatch.setattr(corpora, "_read", lambda path, doc_id: found.append(doc_id) or read(path, doc_id))
    return found


@pytest.mark.parametrize(
    "made", [document("a/b.md", PAGE, url="https://x.org", meta={"n": 1}), Document("e.txt", "", "")]
)
def test_a_document_comes_back_as_it_was(made):
    assert stored.loads(stored.dumps(made)) == made


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=200))
def test_so_does_any_other(text):
    made = document("a.md", text)
    assert stored.loads(stored.dumps(made)) == made


@pytest.mark.parametrize("name", CHUNKERS)
def test_chunks_come_back_as_they_were(name, embedder):
    page = document("a.md", PAGE * 20)
    split = CHUNKERS[name](embedder).split(page)
    assert chunks_stored.loads(chunks_stored.dumps(split), page) == split


def test_parents_come_back_too():
    page = document("a.md", PAGE)
    whole = Chunk.of(page, (Span("a.md", 0, 20),), 0)
    part = Chunk.of(
        page,
        (Span("a.md", 0, 5), Span("a.md", 9, 12)),
        0,
        parent_id=whole.id,
        prefix="x\n\n",
        fragment=3,
        path=("a", "b"),
    )
    split = Split((part,), (whole,))
    assert chunks_stored.loads(chunks_stored.dumps(split), page) == split


def test_a_page_that_is_as_it_was_is_not_read_again(corpus, keeper, reads):
    first = corpora.load(corpus, (), keeper)
    assert reads == ["leave.md", "pay.md", "travel/rail.md"]
    reads.clear()
    assert corpora.load(corpus, (), keeper) == first == corpora.load(corpus)
    assert reads == ["leave.md", "pay.md", "travel/rail.md"], "only without a keeper"


def test_another_byte_name_or_reader_is_read(corpus, keeper, reads, monkeypatch):
    corpora.load(corpus, (), keeper)
    reads.clear()
    page = corpus / "leave.md"
    page.write_text(page.read_text().replace("25", "26"))  # of the same length
    (corpus / "pay.md").rename(corpus / "wages.md")
    corpora.load(corpus, (), keeper)
    assert reads == ["leave.md", "wages.md"]
    reads.clear()
    monkeypatch.setattr(corpora, "digest", lambda parts, libraries: "another")
    corpora.load(corpus, (), keeper)
    assert reads == ["leave.md", "travel/rail.md", "wages.md"]


def test_pages_of_equal_contents_stay_two(tmp_path, keeper):
    for folder in ("one", "two"):
        for name in ("a.md", "b.md"):
            path = tmp_path / folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("Take 25 days.")
    for folder in ("one", "two"):
        assert [d.id for d in corpora.load(tmp_path / folder, (), keeper)] == ["a.md", "b.md"]


def test_what_a_page_is_warned_of_is_told_each_time(tmp_path, keeper, caplog):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("<!-- never closed\n\nTake 25 days.")
    for _ in range(2):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            corpora.load(tmp_path / "docs", (), keeper)
        assert "never closed" in caplog.text


def test_a_page_that_changes_while_it_is_read_is_not_kept_under_its_old_bytes(corpus, keeper, reads, monkeypatch):
    page = corpus / "leave.md"
    old = page.read_text()
    read = corpora._read

    def slow(path, doc_id):
        if doc_id == "leave.md":
            page.write_text("# Leave\n\nNothing is as it was.\n")
        return read(path, doc_id)

    with monkeypatch.context() as patched:
        patched.setattr(corpora, "_read", slow)
        corpora.load(corpus, (), keeper)
    page.write_text(old)
    assert "25 days" in corpora.load(corpus, (), keeper)[0].text


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_value_that_cannot_be_read_is_made_anew(keeper, caplog, damage):
    of = key("x")
    keeper.kept(of, lambda: 1, lambda _: damage, lambda _: 1)
    with caplog.at_level(logging.WARNING):
        found = keeper.kept(of, lambda: document("a.md", PAGE), stored.dumps, stored.loads)
    assert found == document("a.md", PAGE)


def test_a_place_that_cannot_be_used_is_told_once_and_everything_works(corpus, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    keeper = Keeper(tmp_path / "file" / "kept.sqlite3")
    with caplog.at_level(logging.WARNING):
        assert corpora.load(corpus, (), keeper) == corpora.load(corpus)
    assert caplog.text.count("nothing is kept for the next time") == 1


def test_a_chunker_from_outside_the_package_is_never_kept(keeper, embedder):
    class Outside:
        calls = 0

        def split(self, page):
            self.calls += 1
            return Split((Chunk.of(page, (Span(page.id, 0, 5),), 0),))

    made, page = Outside(), document("a.md", PAGE)
    for _ in range(2):
        chunks_stored.splitter(made, "outside()", keeper, embedder=embedder)(page)
    assert made.calls == 2


def test_chunks_that_an_embedder_from_outside_the_package_decides_are_never_kept(keeper, embedder):
    class Outside:
        """As another would write it: its id does not tell its code."""

        id, tokenizer, sign = "outside", embedder.tokenizer, 1

        def embed(self, texts, *, cut=False, advance=None):
            return np.random.default_rng(self.sign).standard_normal((len(texts), 8))

    page, found = document("a.md", "One is this. Two is that. Three is it. Four is not. Five stays. Six goes. " * 3), []
    for Outside.sign in range(5):
        split = chunks_stored.splitter(
            CHUNKERS["semantic"](Outside()), "semantic() outside", keeper, embedder=Outside()
        )
        found.append(split(page))
    assert len(set(map(str, found))) > 1


def test_other_parameters_and_other_documents_have_other_chunks(keeper):
    embedder = load("default").embedder
    page, other = document("a.md", PAGE * 9), document("a.md", PAGE * 9, title="Another title")
    found = {}
    for size, of in ((30, page), (60, page), (30, other)):
        chunker = CHUNKERS["headers"](embedder, size=size)
        split = chunks_stored.splitter(chunker, f"headers(size={size})", keeper, embedder=embedder)
        found[size, of.title] = split(of)
        assert found[size, of.title] == split(of) == chunker.split(of)
    assert len(set(map(str, found.values()))) == 3
