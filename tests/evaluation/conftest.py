"""Small documents, chunks and retrievers that tests of the evaluation are built from."""

from collections.abc import Callable, Sequence

import pytest

from docmind.types import Chunk, Document, Gold, Hit, Query, Question, Ranking, Span, Stage


@pytest.fixture(scope="session")
def page() -> Document:
    """1,000 characters: 0 to 99 are "a", the next hundred are "b", and so on, so that every span has a text."""
    return Document("page.md", "Page", "".join(letter * 100 for letter in "abcdefghij"))


@pytest.fixture(scope="session")
def chunks(page: Document) -> tuple[Chunk, ...]:
    """Ten chunks that tile the page, a hundred characters each."""
    return tuple(Chunk.of(page, (Span(page.id, 100 * i, 100 * i + 100),), i) for i in range(10))


@pytest.fixture(scope="session")
def listed() -> Callable[[Sequence[Chunk]], tuple[Hit, ...]]:
    """Chunks as hits, best first, with falling scores."""
    return lambda found: tuple(Hit(chunk, 1 / rank, rank) for rank, chunk in enumerate(found, start=1))


@pytest.fixture(scope="session")
def gold_in() -> Callable[[Chunk], Gold]:
    """A piece of evidence that only this chunk covers."""
    return lambda chunk: Gold(spans=chunk.spans)


class Scripted:
    """A retriever that answers each question with what the script holds for its text; an exception is raised."""

    depth = None

    def __init__(self, script: dict[str, Sequence[Chunk] | BaseException], stages: tuple[Stage, ...] = ()) -> None:
        self.script = script
        self.stages = stages

    def context(self, chunk: Chunk) -> tuple[Chunk, ...]:
        return ()

    def retrieve(self, query: Query, k: int) -> Ranking:
        found = self.script[query.text]
        if isinstance(found, BaseException):
            raise found
        return Ranking(tuple(Hit(c, 1 / rank, rank) for rank, c in enumerate(found[:k], start=1)), self.stages)


@pytest.fixture(scope="session")
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture(scope="session")
def ask() -> Callable[..., Question]:
    """A question whose text is its id."""
    return lambda id_, *gold, **rest: Question(id=id_, text=id_, gold=gold, **rest)
