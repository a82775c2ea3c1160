"""A language model on loopback that says what it is told to, in the protocols of Mistral and OpenAI. It tests nothing.

    with LlmServer(replies=["Five days [7].", Reply(status=429), '{"verdict": "correct"}']) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)

Each request gets the next reply, and the last one again when there are no more. A function in place of the list gets
each request's body and returns its reply.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

PATIENCE = 10.0
"""Seconds after which the server goes on without what it waits for, so that a test fails and does not hang."""


@dataclass(frozen=True)
class Reply:
    """What one request gets. `pieces` is the answer as it is streamed; unstreamed it is joined.

    `model` and `fingerprint` are what the server says it answers with, the model asked for where None.
    `usage` is (tokens in, tokens out). `body` stands in place of all that the protocol would send. With `cut`, the
    connection ends after the pieces, without a word. `silent` never answers. `go_on` is waited for after the first
    piece. `bytes_a_packet` splits what is streamed, wherever it falls.
    """

    pieces: Sequence[str] = ("Five days.",)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    finish: str = "stop"
    usage: tuple[int, int] | None = (100, 20)
    model: str | None = None
    fingerprint: str | None = None
    body: bytes | None = None
    cut: bool = False
    silent: bool = False
    go_on: Event | None = None
    bytes_a_packet: int | None = None


@dataclass(frozen=True)
class Asked:
    """A request as it came; the names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


Replies = Sequence[str | Reply] | Callable[[dict[str, Any]], str | Reply]


class LlmServer:
    """Answers while it is entered. `requests` lists what was asked, in order."""

    def __init__(self, replies: Replies) -> None:
        self.requests: list[Asked] = []
        self.closing = Event()
        self._replies = replies
        self._lock = Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))

    @property
    def url(self) -> str:
        """The value of MISTRAL_BASE_URL or OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> LlmServer:
        Thread(target=self._server.serve_forever, args=(0.005,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def reply(self, asked: Asked) -> Reply:
        """Notes a request, and what it gets."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(asked)
        listed = self._replies
        reply = listed(asked.body) if callable(listed) else listed[min(number, len(listed) - 1)]
        return Reply((reply,)) if isinstance(reply, str) else reply


class _Server(ThreadingHTTPServer):
    block_on_close = False  # a client may keep its connection open

    def handle_error(self, *_: object) -> None:
        """Nothing on stderr when a client has gone away."""


def _whole(asked: Asked, reply: Reply) -> bytes:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "".join(reply.pieces), "tool_calls": None},
        "finish_reason": reply.finish,
    }
    return json.dumps(_envelope(asked, reply, "chat.completion", [choice], reply.usage)).encode()


def _events(asked: Asked, reply: Reply) -> Iterator[bytes]:
    """OpenAI tells the usage in an event of its own if it is asked to; Mistral tells it with the reason of the end."""
    options = asked.body.get("stream_options")

    def event(delta: Mapping[str, str], finish: str | None = None, usage: tuple[int, int] | None = None) -> bytes:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return _event(_envelope(asked, reply, "chat.completion.chunk", choices, usage))

    yield event({"role": "assistant", "content": ""})
    for piece in reply.pieces:
        yield event({"content": piece})
    if reply.cut:
        return
    yield event({"content": ""}, reply.finish, reply.usage if options is None else None)
    if reply.usage and options and options.get("include_usage"):
        yield _event(_envelope(asked, reply, "chat.completion.chunk", [], reply.usage))
    yield b"data: [DONE]\n\n"


def _event(data: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


def _envelope(
    asked: Asked, reply: Reply, kind: str, choices: list[dict[str, Any]], usage: tuple[int, int] | None
) -> dict[str, Any]:
    model = reply.model or asked.body["model"]
    told = {"id": "x1", "object": kind, "created": 1, "model": model, "choices": choices}
    if reply.fingerprint:
        told["system_fingerprint"] = reply.fingerprint
    if usage:
        into, out = usage
        told["usage"] = {"prompt_tokens": into, "completion_tokens": out, "total_tokens": into + out}
    return told


def _handler(llm: LlmServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or each answer takes 40 ms

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            reply = llm.reply(asked)
            if reply.silent:
                llm.closing.wait(PATIENCE)
                self.close_connection = True
            elif self.path != "/v1/chat/completions":
                self.whole(404, b'{"message": "no such path"}', {})
            elif reply.status != 200 or reply.body is not None or not body.get("stream"):
                sent = _whole(asked, reply) if reply.body is None else reply.body
                self.whole(reply.status, sent, reply.headers, cut=reply.cut)
            else:
                self.stream(asked, reply)

        def whole(self, status: int, body: bytes, headers: Mapping[str, str], *, cut: bool = False) -> None:
            self.start(status, {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers})
            self.wfile.write(body[: len(body) // 2] if cut else body)
            self.close_connection = cut

        def stream(self, asked: Asked, reply: Reply) -> None:
            self.start(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked", **reply.headers})
            for number, event in enumerate(_events(asked, reply)):
                if number == 2 and reply.go_on:  # the role and the first piece are sent
                    reply.go_on.wait(PATIENCE)
                step = reply.bytes_a_packet or len(event)
                for at in range(0, len(event), step):
                    packet = event[at : at + step]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(packet), packet))
            if reply.cut:
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")

        def start(self, status: int, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    return Handler
