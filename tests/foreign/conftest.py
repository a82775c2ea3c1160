"""A search service on loopback, which answers as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Service:
    """`answer` is given the handler, which has the request's JSON as `asked`, and writes what it likes. `seen` keeps every
    request: method, path, headers and JSON."""

    url: str
    answer: Callable[[Any], None] = lambda handler: handler.give({"passages": []})
    seen: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def give(self, value: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            for name, text in {
                "Content-Type": "application/json",
                "Content-Length": str(len(data)),
                **(headers or {}),
            }.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            self.asked = json.loads(self.rfile.read(size) or b"null")
            there.seen.append((self.command, self.path, dict(self.headers), self.asked))
            try:
                there.answer(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        do_GET = do_POST  # noqa: N815 - http.server calls it so

        def log_message(self, *_: object) -> None:
            """Nothing is told."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    there = Service(f"http://127.0.0.1:{server.server_port}/search")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield there
    server.shutdown()
    server.server_close()
