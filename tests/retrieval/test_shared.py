"""A list that several strategies share is asked for once, and is the same in whatever order they ask."""

import pytest

from docmind.retrieval.shared import Shared
from docmind.retrieval.strategies import mode
from docmind.types import Query

QUESTION = Query("how many days of annual leave a year?")


class Counting:
    def __init__(self, inner):
        self.inner, self.asked = inner, []

    def retrieve(self, query, k):
        self.asked.append(k)
        return self.inner.retrieve(query, k)


def of(ranking):
    return ranking.hits, [(stage.name, stage.role, stage.candidates) for stage in ranking.stages]


@pytest.mark.parametrize("name", ["vector", "bm25", "hybrid", "rerank", "mmr"])
@pytest.mark.parametrize("order", [(10, 20, 3), (20, 10, 3), (3, 10, 20), (30, 5, 30)])
def test_it_gives_what_the_inner_one_gives(parts, name, order):
    inner = parts.mode(mode(name))
    shared = Shared(inner)
    for k in order:
        assert of(shared.retrieve(QUESTION, k)) == of(inner.retrieve(QUESTION, k))


def test_the_inner_one_is_asked_once_where_that_will_do(parts):
    inner = Counting(parts.mode(mode("vector")))
    shared = Shared(inner)
    for k in (10, 20, 3, 20):
        shared.retrieve(QUESTION, k)
    assert inner.asked == [20]
    shared.retrieve(QUESTION, 30)
    assert inner.asked == [20, 30]
