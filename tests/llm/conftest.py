"""Models of every provider that ask a stand-in, and a clock that does not run."""

from collections.abc import Callable
from pathlib import Path

import pytest
from loopback import seclude
from standin_llm import LlmServer

from docmind.llm import PROVIDERS
from docmind.protocols import LLM

KEY = "sk-this/is+the-secret-0123456789="  # JSON and addresses may write three of its characters in other ways


@pytest.fixture(autouse=True)
def sleeps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[float]:
    """The seconds that were to be slept, and were not. No key, address, `.env` or proxy is known from outside."""
    return seclude(monkeypatch, tmp_path)


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    """Each provider's name."""
    return request.param


@pytest.fixture
def key() -> str:
    """The key that `connect` sets."""
    return KEY


@pytest.fixture
def connect(provider: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[LlmServer | str], LLM]:
    """Makes the provider's default model, which asks the given server or address."""

    def make(server: LlmServer | str) -> LLM:
        monkeypatch.setenv(PROVIDERS[provider].key_variable, KEY)
        monkeypatch.setenv(PROVIDERS[provider].address_variable, server if isinstance(server, str) else server.url)
        return PROVIDERS[provider](None)

    return make
