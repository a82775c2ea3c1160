"""Keeps language models to stand-ins on loopback: no key, address, `.env` or proxy from outside. It tests nothing."""

from __future__ import annotations

import functools
import ssl
from pathlib import Path

import pytest
from standin_llm import LlmServer

from docmind.llm import PROVIDERS

KEY = "sk-a-key-that-no-provider-gave"
_CONTEXT = functools.cache(ssl.create_default_context)  # half of the time of these tests, and of no use to them


def seclude(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[float]:
    """Work in `folder`, where no provider is known. Gives the list of seconds that were to be slept, and are not."""
    slept: list[float] = []
    monkeypatch.chdir(folder)
    for provider in PROVIDERS:
        monkeypatch.delenv(PROVIDERS[provider].key_variable, raising=False)
        monkeypatch.delenv(PROVIDERS[provider].address_variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(ssl, "create_default_context", _CONTEXT)
    monkeypatch.setattr("docmind.llm.retry.sleep", slept.append)
    return slept


def point(monkeypatch: pytest.MonkeyPatch, provider: str, server: LlmServer) -> None:
    """Let `provider` ask `server`."""
    monkeypatch.setenv(PROVIDERS[provider].key_variable, KEY)
    monkeypatch.setenv(PROVIDERS[provider].address_variable, server.url)
