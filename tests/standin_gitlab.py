"""The part of GitLab's REST API v4 that scripts/fetch_corpus.py uses, on loopback. It tests nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from urllib.parse import unquote

COMMIT = "29350f82" + 32 * "a"
PROJECT = "/api/v4/projects/gitlab-com%2Fcontent-sites%2Fhandbook/repository"
PATIENCE = 10.0
"""Seconds after which a page that is held back is sent, so that a test fails and does not hang."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What one request gets in place of its answer. Status 0 closes the connection without one."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)


class StandinGitlab:
    """Serves `pages`, by path, at COMMIT alone while it is entered.

    `requests` lists what was asked, as it stood on the wire; `tokens` what each was asked with. Each of the `faults` of
    a path is met once, in order. A request for `held` sets `asked`, and is answered once the server closes.
    """

    def __init__(self, pages: Mapping[str, bytes]) -> None:
        self.pages = dict(pages)
        self.faults: dict[str, list[Fault]] = {}
        self.requests: list[str] = []
        self.tokens: list[str | None] = []
        self.held = ""
        self.asked = Event()
        self._closing = Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        """The value of --url."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def asked_for(self) -> list[str]:
        """The paths of the pages that were asked for, in order."""
        files = f"{PROJECT}/files/"
        return [unquote(path[len(files) :].split("/")[0]) for path in self.requests if path.startswith(files)]

    def __enter__(self) -> StandinGitlab:
        Thread(target=self._server.serve_forever, args=(0.005,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body for what was asked."""
        if path == f"{PROJECT}/commits/{COMMIT[:8]}":
            return 200, {}, json.dumps({"id": COMMIT, "short_id": COMMIT[:8]}).encode()
        for page, content in self.pages.items():
            if (
                path.startswith(f"{PROJECT}/files/")
                and page == self.asked_for[-1]
                and path.endswith(f"/raw?ref={COMMIT}")
            ):
                if page == self.held:
                    self.asked.set()
                    self._closing.wait(PATIENCE)
                if faults := self.faults.get(page):
                    fault = faults.pop(0)
                    return fault.status, fault.headers, b'{"message": "fault"}'
                return 200, {}, content
        return 404, {}, b'{"message": "404 Not Found"}'

    def _handler(gitlab) -> type[BaseHTTPRequestHandler]:  # noqa: N805, the handler has a self of its own
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # or each answer takes 40 ms

            def do_GET(self) -> None:
                gitlab.requests.append(self.path)
                gitlab.tokens.append(self.headers["PRIVATE-TOKEN"])
                status, headers, body = gitlab.answer(self.path)
                if not status:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing on stderr."""

        return Handler
