"""What is said where the environment's proxies and certificates cannot be used."""

import ssl

import pytest
from standin_llm import LlmServer, Reply

from docmind.errors import LanguageModelError
from docmind.types import Message

ASKED = [Message("user", "How long?")]
PROXY = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]


@pytest.fixture(autouse=True)
def no_proxy(sleeps, monkeypatch):
    for name in PROXY:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.parametrize("on_text", [None, lambda _: None])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://user:hidden@127.0.0.1:1"),
        ("HTTP_PROXY", "foo://user:hidden@x"),
        ("HTTP_PROXY", "http://user:hidden@x:abc"),
        ("HTTP_PROXY", "http://user:hidden@a..b"),
        ("HTTP_PROXY", "http://user:hidden\udcff@x"),
        ("NO_PROXY", "[::1]"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_an_error_that_names_its_variables(
    connect, monkeypatch, sleeps, name, value, on_text
):
    monkeypatch.setenv(name, value)
    with LlmServer(["Yes."]) as server, pytest.raises(LanguageModelError) as caught:
        connect(server).complete(ASKED, on_text=on_text)
    assert all(variable in str(caught.value) for variable in PROXY)
    assert "hidden" not in str(caught.value)
    assert (server.requests, sleeps) == ([], [])


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSLKEYLOGFILE"])
@pytest.mark.parametrize("place", ["missing/file", "."])
def test_a_file_of_certificates_that_cannot_be_used_is_an_error_that_names_its_variable(
    connect, monkeypatch, name, place
):
    monkeypatch.setattr(ssl, "create_default_context", ssl.create_default_context.__wrapped__)  # not the shared context
    monkeypatch.setenv(name, place)
    with LlmServer(["Yes."]) as server, pytest.raises(LanguageModelError, match=name):
        connect(server).complete(ASKED)
    assert server.requests == []


@pytest.mark.parametrize("place", ["http://xn--/", "foo:bar"])
def test_a_redirection_to_nowhere_is_an_error(connect, provider, place):
    away = Reply(status=307, headers={"Location": place})
    with LlmServer([away]) as server, pytest.raises(LanguageModelError, match=f"{provider.upper()}_BASE_URL"):
        connect(server).complete(ASKED)
