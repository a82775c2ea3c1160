"""Passages made of texts, and models of every provider that ask a stand-in."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from loopback import point, seclude
from standin_llm import LlmServer

from docmind.llm import PROVIDERS
from docmind.protocols import LLM
from docmind.types import Chunk, Hit, Ranking


@pytest.fixture(autouse=True)
def sleeps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[float]:
    """The seconds that were to be slept, and were not."""
    return seclude(monkeypatch, tmp_path)


@pytest.fixture
def found(chunks_of: Callable[[Sequence[str]], list[Chunk]]) -> Callable[..., Ranking]:
    """A ranking whose hits show the given texts, best first."""
    return lambda *texts: Ranking(tuple(Hit(c, 1 / rank, rank) for rank, c in enumerate(chunks_of(texts), start=1)))


@pytest.fixture(params=PROVIDERS)
def connect(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[LlmServer], LLM]:
    """Makes each provider's default model, which asks the given server."""

    def make(server: LlmServer) -> LLM:
        point(monkeypatch, request.param, server)
        return PROVIDERS[request.param](None)

    return make
