"""A retriever behind HTTP, asked over a real socket: what is sent, what is read, and what a hostile one gets."""

from __future__ import annotations

import gzip
import json
import time

import pytest

from docmind.errors import UsageError
from docmind.foreign import open_source
from docmind.foreign.declared import parse
from docmind.foreign.reply import Asked, Passage, ReplyError, Step
from docmind.types import Turn


def source(service, **fields):
    return open_source(parse("mine", {"url": service.url, **fields}))


def ask(service, question="how long?", k=3, **fields):
    one = source(service, **fields)
    try:
        return one.ask(Asked(question, k))
    finally:
        one.close()


def gives(service, value, status=200, headers=None):
    service.answer = lambda handler: handler.give(value, status, headers)


def test_a_question_is_posted_and_its_passages_are_read(service):
    gives(
        service,
        {
            "passages": [
                {"text": "Ten days.", "source": "a.md", "start": 3, "end": 12, "score": 0.5, "id": "x"},
                "Or not.",
            ]
        },
        headers={"X-Retriever-Version": "7"},
    )
    found = ask(service)
    assert found.passages == (Passage("Ten days.", "a.md", 3, 12, 0.5, "x"), Passage("Or not."))
    assert (found.version, found.steps) == ("7", ())
    assert found.seconds > 0
    [(method, _, headers, sent)] = service.seen
    assert (method, sent) == ("POST", {"question": "how long?", "k": 3})
    assert headers["Accept-Encoding"] == "identity"


def test_the_bare_list_and_steps_are_replies_too(service):
    gives(service, ["One.", {"text": "Two."}])
    assert [passage.text for passage in ask(service).passages] == ["One.", "Two."]
    gives(service, {"steps": [{"query": "a", "passages": ["One."]}, {"query": "b", "passages": []}], "version": 3})
    found = ask(service)
    assert found.steps == (Step("a", (Passage("One."),)), Step("b", ()))
    assert (found.passages, found.version) == ((), "3")


def test_scope_and_history_are_sent_where_a_question_has_them(service):
    gives(service, [])
    one = source(service)
    one.ask(Asked("and then?", 5, "q1", (Turn("user", "hello"),), ("a.md", "b.md")))
    one.close()
    assert service.seen[0][3] == {
        "question": "and then?",
        "k": 5,
        "documents": ["a.md", "b.md"],
        "history": [{"role": "user", "text": "hello"}],
    }


def test_an_endpoint_that_exists_need_not_change(service):
    gives(service, {"data": {"hits": [{"content": "Ten.", "meta": {"path": "a.md"}, "sim": 1}]}})
    names = {
        "question": "query",
        "k": "top_k",
        "passages": "data.hits",
        "text": "content",
        "source": "meta.path",
        "score": "sim",
    }
    found = ask(service, method="GET", fields=names, body={"index": "hr"})
    assert found.passages == (Passage("Ten.", "a.md", score=1.0),)
    method, path, _, _ = service.seen[0]
    assert (method, path) == ("GET", "/search?index=hr&query=how+long%3F&top_k=3")


def test_a_key_comes_from_the_environment_and_is_never_shown(service, monkeypatch):
    key = "sk-a-long-key-of-the-search-service"
    monkeypatch.setenv("SEARCH_KEY", key)
    headers = {"Authorization": "Bearer ${SEARCH_KEY}"}
    gives(service, {"error": f"wrong key {key}"}, status=401)
    declared = parse("mine", {"url": service.url, "headers": headers})
    one = open_source(declared)
    with pytest.raises(ReplyError) as told:
        one.ask(Asked("q", 1))
    one.close()
    assert service.seen[0][2]["Authorization"] == f"Bearer {key}"
    assert "status 401" in str(told.value)
    assert key not in f"{told.value} {declared!r} {declared} {one.treatment}"
    gives(service, [{"text": f"my {key}", "score": "x"}])
    with pytest.raises(ReplyError) as told:
        ask(service, headers=headers)
    assert key not in str(told.value)


def test_a_variable_that_is_not_there_is_told_before_anything_is_asked(service, monkeypatch):
    monkeypatch.delenv("SEARCH_KEY", raising=False)
    with pytest.raises(UsageError, match=r"headers\.Authorization: the environment has no SEARCH_KEY\. Set it"):
        source(service, headers={"Authorization": "Bearer ${SEARCH_KEY}"})
    assert not service.seen


def hang(handler):
    time.sleep(5)


def trickle(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def trickling_headers(handler):
    for _ in range(100):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" if _ == 0 else b"x: y\r\n")
        handler.wfile.flush()
        time.sleep(0.05)


def huge(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(100_000_000))
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" " * 1_000_000)


def cut_off(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"passages": [')
    handler.close_connection = True


BOMB = gzip.compress(b" " * 10_000_000)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (hang, "no answer within 0.5 s"),
        (trickle, "within 0.5 s"),
        (trickling_headers, "no answer within 0.5 s"),
        (lambda h: h.give(b"<html>Sign in</html>"), "the reply is no JSON"),
        (lambda h: h.give(b"<html>Down</html>", 500), "status 500, 200 was expected (<html>Down</html>)"),
        (lambda h: h.give([], 204), "status 204"),
        (lambda h: h.give(BOMB, headers={"Content-Encoding": "gzip"}), "the reply is compressed"),
        (lambda h: h.give('{"passages": []}'.encode("utf-16")), "the reply is not UTF-8"),
        (lambda h: h.give('["für"]'.encode("latin-1")), "the reply is not UTF-8"),
        (
            lambda h: h.give({}, 302, {"Location": "http://other.example/search"}),
            "redirects (http://other.example/search)",
        ),
        (cut_off, "cannot be reached"),
        (lambda h: h.give(b""), "the reply is no JSON"),
        (lambda h: h.give(None), "neither a list of passages nor an object"),
        (lambda h: h.give({"hits": []}), "the reply has no 'passages'"),
        (lambda h: h.give({"passages": {}}), "passages: a list was expected"),
        (lambda h: h.give([{"score": 1}]), "a passage has neither text nor source"),
        (lambda h: h.give([{"text": 7}]), "text: a text was expected: 7"),
        (lambda h: h.give([{"text": "a", "start": 3}]), "one of start and end"),
        (lambda h: h.give([{"text": "a", "start": 3, "end": 3}]), "a start before the end"),
        (lambda h: h.give([{"text": "a", "start": 1.5, "end": 3}]), "start: a whole number"),
        (lambda h: h.give([{"text": "a", "start": -1, "end": 3}]), "start: a whole number"),
        (lambda h: h.give(b'[{"text": "a", "score": NaN}]'), "NaN is no number of JSON"),
        (lambda h: h.give(b'[{"text": "a", "score": 1e999}]'), "score: a finite number"),
        (lambda h: h.give([{"text": "a", "score": "high"}]), "score: a finite number was expected: 'high'"),
        (lambda h: h.give(rb'[{"text": "a\ud800"}]'), "half of a character"),
        (lambda h: h.give([{"text": "a" * 1_000_001}]), "at most 1,000,000 are read"),
        (lambda h: h.give(["a"] * 10_001), "at most 10,000 are read"),
        (lambda h: h.give(b"[" * 100_000), "the reply is no JSON"),
        (lambda h: h.give([[1]]), "a passage is neither text nor a mapping"),
        (lambda h: h.give({"steps": [1]}), "a step is no object"),
    ],
    ids=str,
)
def test_what_is_no_reply_is_an_error_of_the_question_in_words(service, answer, told):
    service.answer = answer
    with pytest.raises(ReplyError) as error:
        ask(service, timeout=0.5)
    assert told in str(error.value)
    assert len(str(error.value)) < 500


def test_a_reply_of_a_hundred_megabytes_is_not_read_to_its_end(service):
    service.answer = huge
    with pytest.raises(ReplyError, match="longer than 20,000,000 bytes"):
        ask(service)


def test_nobody_there_is_told(service):
    with pytest.raises(ReplyError, match="cannot be reached"):
        open_source(parse("mine", {"url": "http://127.0.0.1:9/x"})).ask(Asked("q", 1))


def test_scores_that_rise_or_are_missing_and_passages_twice_are_no_fault(service):
    listed = [{"text": "a", "score": 1}, {"text": "b", "score": 2}, {"text": "a"}]
    gives(service, json.loads(json.dumps(listed)))
    assert [passage.text for passage in ask(service).passages] == ["a", "b", "a"]
