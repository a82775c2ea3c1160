"""Questions that are remembered: the one used longest ago makes way, and batches give the same bits."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np

from docmind.models.recent import Recent

QUESTIONS = [f"How many days of leave are there in part {i} of the year{'?' * (i % 3)}" for i in range(40)] + ["", "x"]


def test_the_one_used_longest_ago_makes_way():
    recent = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert [recent.get(name) for name in "abc"] == [1, None, 3]


def test_what_is_known_stays_and_all_is_forgotten():
    recent = Recent(2)
    first = recent.put("a", [1])
    assert recent.put("a", [1]) is first
    recent.clear()
    assert recent.get("a") is None


def test_many_threads_keep_the_size():
    recent = Recent(5)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda i: recent.put(str(i % 50), i), range(5_000)))
    assert sum(recent.get(str(i)) is not None for i in range(50)) == 5


def test_questions_together_give_the_bits_of_one_by_one_in_fewer_runs(embedder, monkeypatch):
    embedder.forget_queries()
    alone = [embedder.embed_query(question) for question in QUESTIONS]
    embedder.forget_queries()
    runs = []
    session = embedder._session()
    counted = SimpleNamespace(run=lambda *given: runs.append(1) or session.run(*given))
    monkeypatch.setattr(embedder, "_session", lambda: counted)
    embedder.embed_queries(QUESTIONS)
    asked = len(runs)
    together = [embedder.embed_query(question) for question in QUESTIONS]
    assert asked < len(QUESTIONS) / 4
    assert len(runs) == asked, "what is remembered is not computed again"
    for (vector, tokens), (other, others) in zip(alone, together, strict=True):
        assert np.array_equal(vector, other)
        assert np.array_equal(tokens, others)
    embedder.embed_queries(QUESTIONS)
    assert len(runs) == asked
