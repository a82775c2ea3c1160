"""Where keys and addresses come from, and what is said where they are missing or wrong."""

import subprocess
import sys
from pathlib import Path

import pytest
from standin_llm import LlmServer

from docmind.errors import LanguageModelError, UsageError
from docmind.llm import PROVIDERS, Provider, available
from docmind.llm.openai import OpenAI
from docmind.llm.prices import cost
from docmind.types import Message, Usage

ASKED = [Message("user", "How long?")]


@pytest.fixture(params=[name for name, provider in PROVIDERS.items() if provider.key_at_home])
def needing(request):
    """Each provider that needs a key at its own address."""
    return request.param


def test_without_a_key_the_error_names_the_variable_and_the_way_without_one(needing):
    provider = needing
    with pytest.raises(LanguageModelError) as caught:
        PROVIDERS[provider](None)
    assert f"{provider.upper()}_API_KEY" in str(caught.value)
    assert "extractive answers need none" in str(caught.value)
    own = f"A server of your own (Ollama, vLLM) needs {provider.upper()}_BASE_URL and no key." in str(caught.value)
    assert own == (provider == "openai")


def test_a_key_from_the_environment_goes_before_one_from_the_file(provider, monkeypatch):
    name = provider.upper()
    with LlmServer(["Yes."]) as server:
        Path(".env").write_text(f"{name}_API_KEY=from-file\n{name}_BASE_URL={server.url}\n")
        PROVIDERS[provider](None).complete(ASKED)
        monkeypatch.setenv(f"{name}_API_KEY", "from-environment")
        monkeypatch.setenv(f"{name}_BASE_URL", server.url)
        PROVIDERS[provider](None).complete(ASKED)
    assert [r.headers["authorization"] for r in server.requests] == ["Bearer from-file", "Bearer from-environment"]


@pytest.mark.parametrize(
    ("in_environment", "in_file", "sent"),
    [
        ("KEY", "URL", None),  # whoever made the folder would get the key of whoever works in it
        ("KEY", "KEY URL", None),
        ("KEY URL", "URL", "from-environment"),
        ("KEY URL", "KEY URL", "from-environment"),
        ("URL", "KEY URL", "from-file"),
        ("", "KEY URL", "from-file"),
    ],
)
def test_a_key_of_the_environment_goes_to_no_address_of_a_file(provider, monkeypatch, in_environment, in_file, sent):
    name = provider.upper()
    with LlmServer(["Yes."]) as server, LlmServer(["Yes."]) as other:
        of_file = other if "URL" in in_environment else server
        said = {"KEY": (f"{name}_API_KEY", "from-{}"), "URL": (f"{name}_BASE_URL", server.url)}
        for part in in_environment.split():
            monkeypatch.setenv(said[part][0], said[part][1].format("environment"))
        said["URL"] = (f"{name}_BASE_URL", of_file.url)
        Path(".env").write_text("".join(f"{said[p][0]}={said[p][1].format('file')}\n" for p in in_file.split()))
        if sent:
            PROVIDERS[provider](None).complete(ASKED)
            assert server.requests[0].headers["authorization"] == f"Bearer {sent}"
        else:
            with pytest.raises(LanguageModelError, match=f"{name}_BASE_URL in .env .*{name}_API_KEY, to 127.0.0.1"):
                PROVIDERS[provider](None)
            assert provider not in available()
            assert not server.requests
        assert not other.requests


def test_the_home_of_a_provider_may_stand_in_the_file(provider, monkeypatch):
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "plain-key")
    Path(".env").write_text(f"{provider.upper()}_BASE_URL={PROVIDERS[provider].home}/\n")
    assert "@" not in PROVIDERS[provider]("some-model").name


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('export {}_API_KEY="plain-key"  # mine', "plain-key"),
        ("\ufeff{}_API_KEY=plain-key", "plain-key"),
        ("{}_API_KEY = 'plain-key'\r\n", "plain-key"),
        ("A\n{}_API_KEY=plain-key", "plain-key"),
        ("{}_API_KEY=pl${{HOME}}ain", "pl${HOME}ain"),
    ],
)
def test_the_file_is_read_as_such_files_are_written(line, key, provider):
    Path(".env").write_text(line.format(provider.upper()), encoding="utf-8")
    assert PROVIDERS[provider](None)._account.secret == key


def test_nothing_of_the_file_is_exported(provider):
    import os

    Path(".env").write_text(f"{provider.upper()}_API_KEY=plain-key\n")
    PROVIDERS[provider](None)
    assert f"{provider.upper()}_API_KEY" not in os.environ


def test_a_blank_variable_switches_the_key_of_the_file_off(needing, monkeypatch):
    provider = needing
    Path(".env").write_text(f"{provider.upper()}_API_KEY=plain-key\n")
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", " ")
    with pytest.raises(LanguageModelError, match="is not set"):
        PROVIDERS[provider](None)


def test_a_file_in_another_encoding_is_an_error_that_shows_nothing_of_it(provider):
    Path(".env").write_bytes(f"{provider.upper()}_API_KEY=plain-key".encode("utf-16"))
    with pytest.raises(LanguageModelError, match=r"\.env cannot be read") as caught:
        PROVIDERS[provider](None)
    assert caught.value.__suppress_context__
    assert "plain" not in str(caught.value)


@pytest.mark.parametrize(
    "key", ['"sk-secret"', "'sk-secret'", "`sk-secret`", "sk-secret\\", '"sk-secret', "sk-se'cret"]
)
def test_a_key_in_quotation_marks_is_refused_and_not_quoted(provider, monkeypatch, key):
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", key)  # as `docker --env-file` takes the marks for a part of it
    with pytest.raises(LanguageModelError, match=f"{provider.upper()}_API_KEY .* without quotation marks") as caught:
        PROVIDERS[provider](None)
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-se\ncret", "sk secret", "sk-sécret", "“sk-secret”", "sk\x7fsecret"])
def test_a_key_that_cannot_stand_in_a_header_is_refused_and_not_quoted(provider, monkeypatch, key):
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", key)
    with pytest.raises(LanguageModelError, match=f"{provider.upper()}_API_KEY") as caught:
        PROVIDERS[provider](None)
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    ["localhost:11434/v1", "ftp://host/v1", "http://", "http://[::1", "http://u:hidden@host/v1", "https://host/v1?key=hidden",
     "https://host/v1#hidden", "http://host:abc", "http://a..hidden/v1", "http://xn--/v1", f"http://{'a' * 64}/v1",
     "http://./v1", "http://host/\udcff", '"https://hidden/v1"'],
)  # fmt: skip
def test_an_address_that_cannot_be_used_is_refused_and_not_quoted(provider, monkeypatch, address):
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "plain-key")
    monkeypatch.setenv(f"{provider.upper()}_BASE_URL", address)
    with pytest.raises(LanguageModelError, match=f"{provider.upper()}_BASE_URL") as caught:
        PROVIDERS[provider](None)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("end", ["", "/"])
def test_a_slash_at_the_end_of_an_address_changes_nothing(connect, end):
    with LlmServer(["Yes."]) as server:
        connect(server.url + end).complete(ASKED)
    assert server.requests[0].path == "/v1/chat/completions"


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_a_server_of_ones_own_needs_no_key(provider, monkeypatch):
    with LlmServer(["Yes."]) as server:
        monkeypatch.setenv(f"{provider.upper()}_BASE_URL", server.url)
        assert PROVIDERS[provider]("some-model").complete(ASKED).text == "Yes."
        assert available() == (provider,)
    assert "authorization" not in server.requests[0].headers
    assert server.requests[0].body["model"] == "some-model"


@pytest.mark.parametrize("provider", ["mistral", "groq"])
def test_a_key_is_needed_elsewhere_too_where_the_row_says_so(provider, monkeypatch):
    monkeypatch.setenv(f"{provider.upper()}_BASE_URL", "http://localhost:8000/v1")
    with pytest.raises(LanguageModelError, match=f"{provider.upper()}_API_KEY is not set"):
        PROVIDERS[provider]()
    assert available() == ()


def test_at_home_a_name_is_provider_and_model(provider, monkeypatch):
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "plain-key")
    assert PROVIDERS[provider]("some-model").name == f"{provider}/some-model"


def test_openai_at_its_own_address_needs_a_key(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.openai.com/v1/")
    with pytest.raises(LanguageModelError, match="is not set"):
        PROVIDERS["openai"](None)


def test_ollama_at_its_own_address_needs_nothing_and_is_offered_where_its_address_is_set(monkeypatch):
    assert PROVIDERS["ollama"]("llama3.2").name == "ollama/llama3.2"
    assert available() == ()
    monkeypatch.setenv("OLLAMA_BASE_URL", PROVIDERS["ollama"].home)
    assert PROVIDERS["ollama"]("llama3.2").name == "ollama/llama3.2"
    assert available() == ("ollama",)


def test_a_provider_is_a_row(monkeypatch):
    added = Provider("acme", "https://acme.test/v1", OpenAI, model="m-1", prices={"m-1": (1.0, 2.0)})
    monkeypatch.setitem(PROVIDERS._entries, "acme", added)
    with pytest.raises(LanguageModelError, match="ACME_API_KEY is not set"):
        PROVIDERS["acme"]()
    monkeypatch.setenv("ACME_API_KEY", "plain-key")
    assert available() == ("acme",)
    assert PROVIDERS["acme"]().name == "acme/m-1"
    # 1,000,000 in at $1 and 500,000 out at $2 a million
    assert cost("acme/m-1", Usage(1_000_000, 500_000)) == pytest.approx(2.0)
    with LlmServer(["Yes."]) as server:
        monkeypatch.setenv("ACME_BASE_URL", server.url)
        assert PROVIDERS["acme"]().complete(ASKED).text == "Yes."
    assert server.requests[0].headers["authorization"] == "Bearer plain-key"


def test_a_judge_is_a_model_of_its_provider_that_does_not_answer(provider):
    assert PROVIDERS[provider].judge != PROVIDERS[provider].model


def test_available_are_those_with_a_key(provider, monkeypatch):
    assert available() == ()
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "plain-key")
    assert available() == (provider,)


def test_an_unknown_provider_is_told_which_there_are():
    with pytest.raises(UsageError, match=", ".join(PROVIDERS)):
        PROVIDERS["mistrall"]


def test_importing_reads_nothing_and_loads_no_client():
    code = """
import os, sys, builtins
class Refusing(dict):
    def get(self, name, *_): assert not name.endswith(("_API_KEY", "_BASE_URL")); return None
    __getitem__ = get
import docmind.llm.account, docmind.errors
docmind.llm.account.os.environ = Refusing()
import docmind.llm
print([m for m in ("mistralai", "httpx", "httpx_sse") if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
