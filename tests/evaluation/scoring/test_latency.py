import time

import numpy as np
import pytest

from docmind.evaluation.scoring.latency import _percentiles, latency, sample
from docmind.types import Query, Ranking, Stage


class Slow:
    """Reports a stage twice a query, of 1 to n hundredths of a second; sleeps 2 ms."""

    def __init__(self) -> None:
        self.asked = 0

    def retrieve(self, query: Query, k: int) -> Ranking:
        self.asked += 1
        time.sleep(0.002)
        half = Stage("vector", "candidates", (), self.asked / 200)
        return Ranking((), (half, half, Stage("late", "rerank", (), 0.5)))


def test_percentiles_in_milliseconds_by_stage_and_whole() -> None:
    """Stage vector takes 10, 20, 30, 40, 50 ms: p50 = 30; p95 stands 3.8 steps up: 40 + 0.8 * 10 = 48."""
    found = latency(Slow(), [Query("q")] * 5, k=10)
    assert found.n == 5
    assert found.stages["vector"].model_dump() == pytest.approx({"p50": 30, "p95": 48})
    assert found.stages["late"].model_dump() == pytest.approx({"p50": 500, "p95": 500})
    assert 2 <= found.query.p50 <= found.query.p95 < 1000


def test_a_sample_is_evenly_spaced_and_the_same_each_time(ask) -> None:
    questions = [ask(f"q{i}") for i in range(10)]
    assert [q.id for q in sample(questions, 4)] == ["q0", "q2", "q5", "q7"]
    assert sample(questions, 4) == sample(questions, 4)
    assert sample(questions, 99) == tuple(questions)
    assert sample([], 5) == ()


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20])
def test_percentiles_are_numpys(n) -> None:
    times = np.random.default_rng(n).random(n).tolist()
    expected = 1000 * np.percentile(times, [50, 95])
    assert list(_percentiles(times).model_dump().values()) == pytest.approx(expected.tolist(), rel=1e-12)
