"""The key is in the request, and nowhere that anybody reads: no log, no error, no repr, no trace."""

import json
import logging
import traceback
from base64 import b64encode
from urllib.parse import quote

import pytest
from standin_llm import LlmServer, Reply

from docmind.errors import LanguageModelError
from docmind.llm import PROVIDERS
from docmind.types import Message

ASKED = [Message("user", "How long?")]
READ_BACK = [
    lambda key: Reply(status=401, body=f"Incorrect API key provided: {key}".encode()),
    lambda key: Reply(status=400, body=("x" * 290 + key).encode()),  # what is shown ends within the key
    lambda key: Reply(status=500, body=key.encode()),
    lambda key: Reply(body=f"<html>{key}</html>".encode()),
    lambda key: Reply(("a",), cut=True),
    lambda key: Reply((), finish=f"as {key} wants"),
    lambda key: Reply(status=401, body=in_json(key)),
    lambda key: Reply(status=401, body=in_json(key).replace(b"/", rb"\/").replace(b"+", rb"\u002B")),
    lambda key: Reply(status=401, body=in_json(in_json(key).replace(b"/", rb"\/").replace(b"=", rb"\u003d").decode())),
    lambda key: Reply(status=401, body=quote(key, safe="").encode()),
    lambda key: Reply(status=401, body=key.upper().encode()),
    lambda key: Reply(status=401, body=f"{key[:12]}\n{key[12:]}".encode()),
    lambda key: Reply(status=401, body=in_json(f"{key[:12]}\n{key[12:]}")),
    lambda key: Reply(status=401, body=b64encode(f"user:{key}".encode())),
    lambda key: Reply(status=401, body="".join(f"&#{ord(c)};" for c in key).encode()),
]


def in_json(text):
    return json.dumps({"error": {"message": text}}).encode()


def parts(key):
    """Any eight characters in a row of the key that only it has."""
    return [key[at : at + 8] for at in range(len(key) - 7)]


def chain(error):
    """What a trace with the values of all variables shows, also of errors whose context is suppressed."""
    lines = []
    while error is not None:
        lines += traceback.TracebackException.from_exception(error, capture_locals=True, compact=True).format()
        error = error.__cause__ or error.__context__
    return "".join(lines)


@pytest.mark.parametrize("reply", READ_BACK)
@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_no_error_log_or_trace_shows_the_key(connect, key, reply, on_text, caplog, capfd, monkeypatch):
    monkeypatch.setenv("MISTRAL_DEBUG", "1")
    caplog.set_level(logging.DEBUG)
    with LlmServer([reply(key)]) as server:
        llm = connect(server)
        with pytest.raises(LanguageModelError) as caught:
            llm.complete(ASKED, on_text=on_text)
    assert server.requests[0].headers["authorization"] == f"Bearer {key}"
    # The frames of this test know the key themselves.
    trace = chain(caught.value.with_traceback(caught.value.__traceback__.tb_next))
    written = capfd.readouterr()
    for seen in [trace, str(caught.value), repr(caught.value), caplog.text, written.out, written.err]:
        assert not [part for part in parts(key) if part.lower() in seen.lower()]
        assert not [part for part in parts(b64encode(key.encode()).decode()) if part in seen]
    assert "self = " in trace  # it shows values


def test_an_unreachable_server_shows_no_key(connect, key, caplog):
    caplog.set_level(logging.DEBUG)
    llm = connect("http://127.0.0.1:9/v1")
    with pytest.raises(LanguageModelError) as caught:
        llm.complete(ASKED)
    trace = chain(caught.value.with_traceback(caught.value.__traceback__.tb_next))
    assert key not in trace + caplog.text


def test_a_body_of_nothing_but_backslashes_is_searched_in_no_time(connect):
    with (
        LlmServer([Reply(status=400, body=b"\\" * 1_000_000)]) as server,
        pytest.raises(LanguageModelError, match="400"),
    ):
        connect(server).complete(ASKED)


def test_no_repr_shows_the_key(connect, key):
    with LlmServer(["Yes."]) as server:
        llm = connect(server)
        llm.complete(ASKED)
    shown = [repr(llm), str(llm), repr(vars(llm)), repr(llm._account), repr(vars(llm._client))]
    assert not [text for text in shown if key in text]


def test_a_good_answer_logs_neither_key_nor_prompt(connect, key, caplog, capfd, monkeypatch):
    monkeypatch.setenv("MISTRAL_DEBUG", "1")
    caplog.set_level(logging.DEBUG)
    with LlmServer(["Yes."]) as server:
        connect(server).complete([Message("user", "my private question")])
    seen = caplog.text + "".join(capfd.readouterr())
    assert "POST" in seen  # httpx tells the address
    assert key not in seen
    assert "private" not in seen


@pytest.mark.parametrize("size", [None, 1, 7])
def test_a_key_in_a_good_answer_is_neither_shown_nor_given_on(connect, key, caplog, size):
    for on_text in (None, [].append):
        caplog.clear()
        with LlmServer([Reply(("Your key: ", key[:9], key[9:], f" {key.upper()}."), bytes_a_packet=size)]) as server:
            done = connect(server).complete(ASKED, on_text=on_text)
        assert done.text == "Your key: [key] [key]."
        assert "[key] stands there instead" in caplog.text
        assert key not in caplog.text
        if on_text:
            told = "".join(on_text.__self__)
            assert not [part for part in parts(key) if part.lower() in told.lower()]


def test_a_word_that_is_a_key_of_a_server_of_ones_own_stays_in_an_answer(provider, monkeypatch):
    with LlmServer(["None of them: none."]) as server:
        monkeypatch.setenv(f"{provider.upper()}_API_KEY", "none")
        monkeypatch.setenv(f"{provider.upper()}_BASE_URL", server.url)
        assert PROVIDERS[provider](None).complete(ASKED).text == "None of them: none."


PATH = "token-0123456789-of-an-account"


@pytest.mark.parametrize(
    "reply",
    [Reply(status=404, body=f"no such path: /{PATH}/v1".encode()), Reply(body=b"<html>"), Reply(finish="error")],
)
def test_no_error_shows_the_path_of_an_address(provider, monkeypatch, reply, caplog):
    with LlmServer([reply]) as server:
        monkeypatch.setenv(f"{provider.upper()}_API_KEY", "plain-key")
        monkeypatch.setenv(f"{provider.upper()}_BASE_URL", server.url.replace("/v1", f"/{PATH}/v1"))
        llm = PROVIDERS[provider](None)
        with pytest.raises(LanguageModelError) as caught:
            llm.complete(ASKED)
    assert PATH not in f"{caught.value} {llm.name} {caplog.text}"
