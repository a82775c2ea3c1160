"""A server's reply ends, however long the server goes on."""

import gzip

import pytest
from standin_llm import LlmServer, Reply

from docmind.errors import LanguageModelError
from docmind.llm import bounded
from docmind.types import Message

ASKED = [Message("user", "How long?")]
EVENTS = {"Content-Type": "text/event-stream"}


@pytest.fixture(params=[None, lambda _: None], ids=["whole", "streamed"])
def on_text(request):
    return request.param


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b'{"choices": [], "filler": "' + b"x" * 30_000 + b'"}', headers=EVENTS),
        Reply(body=b": ping\n\n" * 5_000, headers=EVENTS),
        Reply(body=b"data: " + b"x" * 30_000, headers=EVENTS),
        Reply(("word ",) * 5_000),
        Reply(status=500, body=b"x" * 30_000),
        Reply(status=400, body=b"x" * 30_000),
    ],
)
def test_a_reply_over_the_limit_of_bytes_is_an_error_that_is_not_tried_again(
    connect, sleeps, monkeypatch, on_text, reply, provider
):
    monkeypatch.setattr(bounded, "MOST_BYTES", 20_000)
    with LlmServer([reply]) as server, pytest.raises(LanguageModelError) as caught:
        connect(server).complete(ASKED, on_text=on_text)
    assert "is longer than 20,000 bytes" in str(caught.value)
    assert f"{provider.upper()}_BASE_URL" in str(caught.value)
    assert (len(server.requests), sleeps) == (1, [])


@pytest.mark.parametrize("reply", [Reply(), Reply(body=b": ping\n\n", headers=EVENTS), Reply(status=503, body=b"busy")])
def test_a_reply_over_the_limit_of_time_is_an_error(connect, sleeps, monkeypatch, on_text, reply):
    monkeypatch.setattr(bounded, "LONGEST_SECONDS", -1.0)
    with LlmServer([reply]) as server, pytest.raises(LanguageModelError, match="takes longer than -1 s"):
        connect(server).complete(ASKED, on_text=on_text)
    assert sleeps == []


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("encoding", ["gzip", "deflate, GZIP", "br", "zstd"])
def test_a_compressed_reply_is_refused_unread_since_none_was_asked_for(connect, on_text, status, encoding):
    bomb = Reply(status=status, body=gzip.compress(b"x" * 1_000_000), headers={"Content-Encoding": encoding})
    with LlmServer([bomb]) as server, pytest.raises(LanguageModelError, match="sends a compressed answer"):
        connect(server).complete(ASKED, on_text=on_text)
    assert server.requests[0].headers["accept-encoding"] == "identity"


def test_a_long_answer_within_the_limits_is_whole(connect, on_text):
    words = tuple(f"word{number} " for number in range(3_000))
    with LlmServer([Reply(words, headers={})]) as server:
        assert connect(server).complete(ASKED, on_text=on_text).text == "".join(words)
