"""Models of every provider that ask a stand-in, and a clock that does not run."""

import functools
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from standin_llm import LlmServer

from docmind.llm import PROVIDERS
from docmind.protocols import LLM

MAKE_CONTEXT = functools.cache(ssl.create_default_context)  # half of the time of these tests, and of no use to them
KEY = "sk-this/is+the-secret-0123456789="  # JSON and addresses may write three of its characters in other ways


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable of a provider, no `.env` and no proxy from outside."""
    monkeypatch.chdir(tmp_path)
    for provider in PROVIDERS:
        monkeypatch.delenv(f"{provider.upper()}_API_KEY", raising=False)
        monkeypatch.delenv(f"{provider.upper()}_BASE_URL", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(ssl, "create_default_context", MAKE_CONTEXT)


@pytest.fixture(autouse=True)
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were to be slept, and were not."""
    slept: list[float] = []
    monkeypatch.setattr("docmind.llm.retry.sleep", slept.append)
    return slept


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
        monkeypatch.setenv(f"{provider.upper()}_API_KEY", KEY)
        monkeypatch.setenv(f"{provider.upper()}_BASE_URL", server if isinstance(server, str) else server.url)
        return PROVIDERS[provider](None)

    return make
