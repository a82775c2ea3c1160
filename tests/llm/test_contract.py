"""What holds for the models of every provider, against a server that speaks their protocols."""

import email.utils
import json
import socket
import time
from threading import Event
from typing import Literal

import pytest
from pydantic import BaseModel
from standin_llm import LlmServer, Reply

from docmind.errors import LanguageModelError
from docmind.llm import PROVIDERS
from docmind.types import Completion, Message, Usage

ASKED = [Message("system", "Answer briefly."), Message("user", "How long is the leave?")]


class Reason(BaseModel):
    quote: str = ""


class Verdict(BaseModel):
    verdict: Literal["correct", "wrong"]
    reasons: list[Reason] = []


def label(server, model):
    return f"{model}@{server.url.removeprefix('http://').removesuffix('/v1')}"


def test_a_plain_answer(provider, connect, key):
    with LlmServer(["Sixteen weeks [7]."]) as server:
        llm = connect(server)
        done = llm.complete(ASKED, max_tokens=50)
    model = label(server, PROVIDERS[provider].model)
    assert llm.name == f"{provider}/{model}"
    assert done == Completion("Sixteen weeks [7].", model, Usage(100, 20), cut=False, served=PROVIDERS[provider].model)
    [asked] = server.requests
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {key}"
    assert asked.body["model"] == PROVIDERS[provider].model
    assert [(m["role"], m["content"]) for m in asked.body["messages"]] == [(m.role, m.text) for m in ASKED]
    assert (asked.body["temperature"], asked.body["max_tokens"]) == (0, 50)
    assert not asked.body.get("stream")
    assert "response_format" not in asked.body


def test_an_answer_is_streamed_while_the_server_still_writes(connect):
    go_on = Event()
    told = []

    def on_text(piece):
        told.append((piece, go_on.is_set()))
        go_on.set()

    with LlmServer([Reply(("Sixteen", " weeks", "."), go_on=go_on)]) as server:
        done = connect(server).complete(ASKED, on_text=on_text)
    # The server writes " weeks" only after the first piece was told here.
    assert told == [("Sixteen", False), (" weeks", True), (".", True)]
    assert (done.text, done.usage, done.cut) == ("Sixteen weeks.", Usage(100, 20), False)
    assert server.requests[0].body["stream"] is True


@pytest.mark.parametrize("size", [1, 7])
def test_text_survives_packets_that_end_within_a_character(connect, size):
    pieces = ("für ", "東京 ", "👶🏽", "\u2028line", "\x85", ' "quoted"\n\n', "data: [DONE]")
    told = []
    with LlmServer([Reply(pieces, bytes_a_packet=size)]) as server:
        done = connect(server).complete(ASKED, on_text=told.append)
    assert tuple(told) == pieces
    assert done.text == "".join(pieces)


@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_an_answer_stopped_at_its_limit_is_cut(connect, on_text):
    with LlmServer([Reply(finish="length"), Reply(finish="stop")]) as server:
        llm = connect(server)
        assert llm.complete(ASKED, on_text=on_text).cut
        assert not llm.complete(ASKED, on_text=on_text).cut


@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_the_schema_is_sent_strict(connect, on_text):
    with LlmServer(['{"verdict": "correct", "reasons": []}']) as server:
        done = connect(server).complete(ASKED, schema=Verdict, on_text=on_text)
    assert Verdict.model_validate_json(done.text).verdict == "correct"
    form = server.requests[0].body["response_format"]
    assert (form["type"], form["json_schema"]["name"], form["json_schema"]["strict"]) == (
        "json_schema",
        "Verdict",
        True,
    )
    schema = form["json_schema"]["schema"]
    assert schema["properties"]["verdict"]["enum"] == ["correct", "wrong"]
    # strict: all that there is, also what has a default, is required, and nothing else is allowed, at every depth
    for part, names in [(schema, ["verdict", "reasons"]), (schema["$defs"]["Reason"], ["quote"])]:
        assert (part["required"], part["additionalProperties"]) == (names, False)


def test_json_that_does_not_keep_to_the_schema_is_left_to_the_caller(connect):
    with LlmServer(['{"verdict": "perh']) as server:
        assert connect(server).complete(ASKED, schema=Verdict).text == '{"verdict": "perh'


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (401, "_API_KEY"),
        (403, "_API_KEY"),
        (404, "model"),
        (400, "model"),
        (422, "length"),
        (402, "refuses"),
        (307, "307"),
    ],
)
@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_a_refusal_is_not_tried_again_and_says_what_to_mend(connect, sleeps, status, hint, on_text):
    refusal = Reply(status=status, body=b'{"message": "because\x1b[31m of this"}')
    with LlmServer([refusal]) as server, pytest.raises(LanguageModelError) as caught:
        connect(server).complete(ASKED, on_text=on_text)
    assert (len(server.requests), sleeps) == (1, [])
    assert hint in str(caught.value)
    assert str(status) in str(caught.value)
    assert "because [31m of this" in str(caught.value)


def test_a_missing_model_is_named(connect, provider):
    with LlmServer([Reply(status=404, body=b"{}")]) as server, pytest.raises(LanguageModelError) as caught:
        connect(server).complete(ASKED)
    assert repr(PROVIDERS[provider].model) in str(caught.value)
    assert f"{provider.upper()}_BASE_URL" in str(caught.value)


@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_too_many_requests_are_tried_again_after_the_seconds_that_the_server_asks_for(connect, sleeps, on_text):
    busy = Reply(status=429, headers={"Retry-After": "7"}, body=b"{}")
    with LlmServer([busy, "Sixteen weeks."]) as server:
        assert connect(server).complete(ASKED, on_text=on_text).text == "Sixteen weeks."
    assert (len(server.requests), sleeps) == (2, [7])


def test_a_retry_after_may_be_a_date(connect, sleeps):
    date = email.utils.formatdate(time.time() + 30, usegmt=True)
    with LlmServer([Reply(status=429, headers={"Retry-After": date}, body=b"{}"), "Yes."]) as server:
        connect(server).complete(ASKED)
    [slept] = sleeps
    assert 25 < slept <= 30


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("86400", 60),
        ("-5", 0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("0.5", 0.5),
        ("soon", 1),
        ("nan", 1),
        ("inf", 1),
        ("", 1),
        ("Sun, 06 Nov 99999 08:49:37 GMT", 1),
    ],
)
def test_a_retry_after_is_kept_within_a_minute_and_ignored_where_it_is_neither(connect, sleeps, header, seconds):
    with LlmServer([Reply(status=429, headers={"Retry-After": header}, body=b"{}"), "Yes."]) as server:
        connect(server).complete(ASKED)
    assert sleeps == [seconds]


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_four_tries_are_all(connect, sleeps, status, caplog):
    with (
        LlmServer([Reply(status=status, body=b"<html>busy</html>")]) as server,
        pytest.raises(LanguageModelError) as caught,
    ):
        connect(server).complete(ASKED)
    assert (len(server.requests), sleeps) == (4, [1, 2, 4])
    assert f"({status})" in str(caught.value)
    assert "Tried 4 times" in str(caught.value)
    assert len([r for r in caplog.records if "Trying again" in r.getMessage()]) == 3


@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_a_server_that_recovers_is_believed(connect, sleeps, on_text):
    bare = [Reply(status=500, body=b""), Reply(status=502, body=b"", headers={"Content-Type": "text/html"})]
    with LlmServer([*bare, "Yes."]) as server:
        assert connect(server).complete(ASKED, on_text=on_text).text == "Yes."
    assert sleeps == [1, 2]


def test_the_tokens_of_a_try_that_failed_count(connect):
    # 100 + 30 tokens in, 5 + 20 out: a generation that broke off is billed too.
    with LlmServer([Reply((), finish="error", usage=(30, 5)), Reply(usage=(100, 20))]) as server:
        assert connect(server).complete(ASKED).usage == Usage(130, 25)


def test_a_server_that_tells_no_tokens_leaves_the_usage_empty(connect):
    with LlmServer([Reply(usage=None)]) as server:
        assert connect(server).complete(ASKED, on_text=lambda _: None).usage == Usage()


def reply(content="Yes.", finish="stop", *, usage="{}", streamed=False, charset="utf-8", **message):
    """A whole answer, or one event of a stream, with what the stand-in would not send by itself."""
    said = {"delta" if streamed else "message": {"role": "assistant", "content": content, **message}}
    told = {
        "id": "x1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, **said, "finish_reason": finish}], "usage": "USAGE",
    }  # fmt: skip
    body = json.dumps(told).replace('"USAGE"', usage).encode()
    kind = "text/event-stream" if streamed else "application/json"
    return Reply(
        body=b"data: " + body + b"\n\ndata: [DONE]\n\n" if streamed else body,
        headers={"Content-Type": f"{kind}; charset={charset}"},
    )


@pytest.mark.parametrize("count", ["null", "-5", f"1{'0' * 30}", "1000000001"])
@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_a_number_of_tokens_that_is_none_is_unknown_and_the_answer_good(connect, count, on_text):
    usage = f'{{"prompt_tokens": {count}, "completion_tokens": 7}}'
    with LlmServer([reply(usage=usage, streamed=on_text is not None)]) as server:
        done = connect(server).complete(ASKED, on_text=on_text)
    assert (done.text, done.usage) == ("Yes.", Usage(0, 7))


@pytest.mark.parametrize("count", ["1e999", "NaN", '"many"', "[]"])
@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_what_is_no_whole_number_of_tokens_is_unknown_where_it_can_be_read(connect, provider, count, on_text):
    usage = f'{{"prompt_tokens": {count}, "completion_tokens": 7}}'
    with LlmServer([reply(usage=usage, streamed=on_text is not None)]) as server:
        llm = connect(server)
        if provider != "mistral":
            model = label(server, PROVIDERS[provider].model)
            assert llm.complete(ASKED, on_text=on_text) == Completion("Yes.", model, Usage(0, 7), served="m")
        else:  # the package refuses it
            with pytest.raises(LanguageModelError, match="cannot be read"):
                llm.complete(ASKED, on_text=on_text)


@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_a_number_that_no_reader_of_json_takes_is_no_answer(connect, on_text):
    digits = f'{{"prompt_tokens": 1{"0" * 5000}}}'  # int() takes 4,300
    with (
        LlmServer([reply(usage=digits, streamed=on_text is not None)]) as server,
        pytest.raises(LanguageModelError, match="cannot be read"),
    ):
        connect(server).complete(ASKED, on_text=on_text)


EMPTY = [
    ("", "length", "thinks aloud"),
    (None, "length", "thinks aloud"),
    (" \n", "length", "thinks aloud"),
    ("", "tool_calls", "call a tool"),
    (None, "stop", "refuse to answer"),
]


@pytest.mark.parametrize(("content", "finish", "remedy"), EMPTY)
@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_an_empty_answer_is_an_error_that_is_not_tried_again(connect, sleeps, content, finish, remedy, on_text):
    usage = '{"prompt_tokens": 70, "completion_tokens": 30}'
    empty = reply(content, finish, usage=usage, streamed=on_text is not None, refusal="I cannot.")
    with LlmServer([empty]) as server, pytest.raises(LanguageModelError) as caught:
        connect(server).complete(ASKED, on_text=on_text)
    assert f"answered nothing (finish reason {finish})" in str(caught.value)
    assert remedy in str(caught.value)
    assert "broke off" not in str(caught.value)
    assert (caught.value.usage, len(server.requests), sleeps) == (Usage(70, 30), 1, [])


def test_an_empty_answer_to_a_schema_is_left_to_the_caller_where_it_was_cut(connect):
    with LlmServer([reply("", "length"), reply("", "stop")]) as server:
        llm = connect(server)
        done = llm.complete(ASKED, schema=Verdict)
        assert (done.text, done.cut) == ("", True)
        with pytest.raises(LanguageModelError, match="finish reason stop"):
            llm.complete(ASKED, schema=Verdict)


@pytest.mark.parametrize("charset", ["utf-16", "base64", "rot13", "idna", "undefined", "latin-1"])
@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_every_body_is_read_as_utf_8_whatever_its_header_says(connect, charset, on_text):
    good = reply("für", streamed=on_text is not None, charset=charset)
    bad = Reply(status=400, body="für".encode(), headers={"Content-Type": f"application/json; charset={charset}"})
    with LlmServer([good, bad]) as server:
        llm = connect(server)
        assert llm.complete(ASKED, on_text=on_text).text == "für"
        with pytest.raises(LanguageModelError, match=r"refuses the request \(400\).*\(für\)"):
            llm.complete(ASKED, on_text=on_text)


def test_a_stream_cut_in_the_middle_is_an_error_and_not_tried_again(connect, sleeps):
    told = []
    with LlmServer([Reply(("Sixteen", " weeks"), cut=True)]) as server, pytest.raises(LanguageModelError) as caught:
        connect(server).complete(ASKED, on_text=told.append)
    assert told == ["Sixteen", " weeks"]
    assert "broke off in the middle" in str(caught.value)
    assert (len(server.requests), sleeps) == (1, [])


def test_a_stream_cut_before_its_first_piece_is_tried_again(connect, sleeps):
    told = []
    with LlmServer([Reply((), cut=True), "Yes."]) as server:
        assert connect(server).complete(ASKED, on_text=told.append).text == "Yes."
    assert (told, sleeps) == (["Yes."], [1])


def test_an_unstreamed_answer_cut_in_the_middle_was_not_shown_and_is_tried_again(connect, sleeps):
    with LlmServer([Reply(cut=True), "Yes."]) as server:
        assert connect(server).complete(ASKED).text == "Yes."
    assert sleeps == [1]


def test_a_stream_that_ends_without_a_reason_is_no_answer(connect):
    with LlmServer([Reply(("Half",), finish=None)]) as server, pytest.raises(LanguageModelError, match="in the middle"):
        connect(server).complete(ASKED, on_text=lambda _: None)


@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_a_withheld_answer_is_no_answer(connect, on_text, sleeps):
    with LlmServer([Reply((), finish="content_filter")]) as server, pytest.raises(LanguageModelError, match="filter"):
        connect(server).complete(ASKED, on_text=on_text)
    assert sleeps == []


@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_a_silent_server_is_given_up(connect, sleeps, monkeypatch, on_text):
    monkeypatch.setattr("docmind.llm.connection.READ_SECONDS", 0.1)
    with LlmServer([Reply(silent=True)]) as server, pytest.raises(LanguageModelError, match="in time"):
        connect(server).complete(ASKED, on_text=on_text)
    assert (len(server.requests), sleeps) == (4, [1, 2, 4])


def test_a_server_that_falls_silent_within_its_answer_breaks_it_off(connect, monkeypatch):
    monkeypatch.setattr("docmind.llm.connection.READ_SECONDS", 0.1)
    go_on = Event()
    with (
        LlmServer([Reply(("a", "b"), go_on=go_on)]) as server,
        pytest.raises(LanguageModelError, match="in the middle"),
    ):
        connect(server).complete(ASKED, on_text=lambda _: None)
    go_on.set()


def test_the_time_outs_are_ten_seconds_to_connect_and_sixty_to_read(connect, monkeypatch):
    import httpx

    seen = []

    def handle(_, request):
        seen.append(request.extensions["timeout"])
        raise httpx.ConnectTimeout("")

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", handle)
    with pytest.raises(LanguageModelError, match="in time"):
        connect("http://127.0.0.1:9/v1").complete(ASKED)
    assert {(t["connect"], t["read"]) for t in seen} == {(10, 60)}


@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_a_port_where_nobody_listens(connect, provider, sleeps, on_text):
    with socket.socket() as taken:  # bound, not listening: connections are refused, and nobody else gets it
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(LanguageModelError) as caught:
            connect(address).complete(ASKED, on_text=on_text)
    assert sleeps == [1, 2, 4]
    assert address.removesuffix("/v1") in str(caught.value)
    assert address not in str(caught.value), "a path may hold a secret"
    assert f"{provider.upper()}_BASE_URL" in str(caught.value)


@pytest.mark.parametrize(
    "body", [b"<html>Welcome</html>", b'{"choices": [{"mess', b"[]", b'{"choices": null}', b"\xff\xfe", b""]
)
@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_a_body_that_is_no_completion(connect, sleeps, body, on_text):
    with LlmServer([Reply(body=body)]) as server, pytest.raises(LanguageModelError, match="cannot be read"):
        connect(server).complete(ASKED, on_text=on_text)
    assert (len(server.requests), sleeps) == (1, [])


@pytest.mark.parametrize(
    "data", [b'{"error": {"message": "overloaded"}}', b'{"choices": [{"del', b'{"x": "\xff"}', b"[" * 100_000]
)
def test_an_event_that_is_no_part_of_a_completion(connect, data):
    stream = Reply(body=b"data: " + data + b"\n\n", headers={"Content-Type": "text/event-stream"})
    with LlmServer([stream]) as server, pytest.raises(LanguageModelError, match="cannot be read"):
        connect(server).complete(ASKED, on_text=lambda _: None)


def test_comments_and_keep_alives_in_a_stream_are_passed_over(connect):
    event = {
        "id": "x1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}],
    }  # fmt: skip
    body = b": waiting\r\n\r\nevent: message\r\ndata: " + json.dumps(event).encode() + b"\r\n\r\ndata: [DONE]\r\n\r\n"
    with LlmServer([Reply(body=body, headers={"Content-Type": "text/event-stream"})]) as server:
        assert connect(server).complete(ASKED, on_text=lambda _: None).text == "Yes."


def test_what_the_listener_raises_reaches_the_caller(connect):
    class EnoughError(Exception):
        pass

    def stop(_):
        raise EnoughError

    with LlmServer(["Sixteen weeks."]) as server:
        llm = connect(server)
        with pytest.raises(EnoughError):
            llm.complete(ASKED, on_text=stop)
        assert llm.complete(ASKED).text == "Sixteen weeks."


def test_a_message_with_bytes_that_no_text_has_is_sent_all_the_same(connect):
    with LlmServer(["Yes."]) as server:
        connect(server).complete([Message("user", "caf\udce9 \x00 \u202e " + "x" * 100_000)])
    assert server.requests[0].body["messages"][0]["content"] == "caf? \x00 \u202e " + "x" * 100_000


def test_every_role_is_sent(connect):
    talk = [Message("user", "a"), Message("assistant", "b"), Message("user", "c")]
    with LlmServer(["Yes."]) as server:
        connect(server).complete(talk)
    assert [m["role"] for m in server.requests[0].body["messages"]] == ["user", "assistant", "user"]


def test_a_server_may_be_scripted_by_what_it_is_asked(connect):
    with LlmServer(lambda body: body["messages"][-1]["content"].upper()) as server:
        assert connect(server).complete([Message("user", "echo")]).text == "ECHO"


@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_what_an_answer_cost_that_cannot_be_used_is_told(connect, on_text):
    with LlmServer([Reply(("Half",), finish="content_filter", usage=(70, 30))]) as server:
        llm = connect(server)
        with pytest.raises(LanguageModelError) as caught:
            llm.complete(ASKED, on_text=on_text)
    assert caught.value.usage == Usage(70, 30)
    assert llm.name.endswith(f"/{caught.value.model}")


def test_where_nothing_came_nothing_was_paid(connect):
    with LlmServer([Reply(status=401)]) as server, pytest.raises(LanguageModelError) as caught:
        connect(server).complete(ASKED)
    assert caught.value.usage == Usage()


@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_the_model_that_was_served_is_told_and_its_fingerprint_where_there_is_one(connect, provider, on_text):
    replies = [Reply(model="large-2407", fingerprint="fp_1"), Reply(model="large-2411"), Reply(model="x" * 5_000)]
    with LlmServer(replies) as server:
        first, second, odd = (connect(server).complete(ASKED, on_text=on_text) for _ in range(3))
    assert first.served == (
        "large-2407" if provider == "mistral" else "large-2407 fp_1"
    )  # its package has no field for it
    assert (second.served, first.model) == ("large-2411", second.model)
    assert len(odd.served) < 500


def test_a_server_that_names_the_key_as_its_model_shows_none(connect, key):
    with LlmServer([Reply(model=f"m {key}\n\x1b[1m")]) as server:
        assert connect(server).complete(ASKED).served == "m [key] [1m"


THINKING = [{"type": "text", "text": "Maybe [2]? "}, {"type": "text", "text": "No."}]


@pytest.mark.parametrize("streamed", [False, True])
def test_what_a_model_thinks_in_a_part_of_its_own_is_no_part_of_the_answer(connect, streamed):
    content = [
        {"type": "thinking", "thinking": THINKING},
        {"type": "text", "text": "Five "},
        {"type": "text", "text": "days."},
    ]
    told = []
    with LlmServer([reply(content, streamed=streamed)]) as server:
        done = connect(server).complete(ASKED, on_text=told.append if streamed else None)
    assert (done.text, done.thought) == ("Five days.", "Maybe [2]? No.")
    assert "".join(told) == ("Five days." if streamed else "")


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_what_a_model_thinks_in_a_field_of_its_own_is_kept_apart(connect, provider, name, streamed):
    with LlmServer([reply("Five days.", streamed=streamed, **{name: "Maybe [2]?"})]) as server:
        done = connect(server).complete(ASKED, on_text=(lambda _: None) if streamed else None)
    assert (done.text, done.thought) == ("Five days.", "" if provider == "mistral" else "Maybe [2]?")


@pytest.mark.parametrize("bytes_a_packet", [None, 3])
def test_what_a_model_thinks_aloud_is_neither_told_nor_kept_in_the_text(connect, bytes_a_packet):
    told = []
    pieces = ("<th", "ink>Maybe", " [2]?</thi", "nk>\n\nFive", " days <", "b>[1].")
    with LlmServer([Reply(pieces, bytes_a_packet=bytes_a_packet)]) as server:
        done = connect(server).complete(ASKED, on_text=told.append)
    assert (done.text, done.thought) == ("Five days <b>[1].", "Maybe [2]?")
    assert "".join(told) == done.text


def test_a_model_that_only_thinks_answers_nothing(connect):
    with (
        LlmServer([Reply(("<think>Maybe [2]",), finish="length")]) as server,
        pytest.raises(LanguageModelError) as caught,
    ):
        connect(server).complete(ASKED)
    assert "A model that thinks aloud used up its tokens" in str(caught.value)
