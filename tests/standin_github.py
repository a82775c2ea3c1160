"""The part of GitHub's REST API that scripts/comment.py uses, on loopback. It tests nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

REPOSITORY = "acme/handbook"
TOKEN = "ghs_of_the_tests"
BOT = {"login": "github-actions[bot]", "type": "Bot"}


@dataclass(frozen=True, slots=True)
class Fault:
    """What the next request of `method` gets instead; with `kept`, what it asked for is done all the same.

    Status 0 closes the connection without an answer.
    """

    method: str
    status: int
    kept: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = ""


class StandinGithub:
    """Serves the pull requests and the comments of pull request 7 while it is entered.

    `requests` lists what was asked, in order. Each of `faults` is met once, by the next request of its method.
    """

    def __init__(self, pulls: Sequence[dict[str, Any]]) -> None:
        self.pulls = list(pulls)
        self.comments: list[dict[str, Any]] = []
        self.faults: list[Fault] = []
        self.requests: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        """The value of GITHUB_API_URL."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> StandinGithub:
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def comment(self, body: str, user: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Add a comment, by the bot if no user is given."""
        made = {"id": 1000 + len(self.comments), "user": dict(user or BOT), "body": body}
        self.comments.append(made)
        return made

    def answer(self, method: str, path: str, query: Mapping[str, str], payload: Any) -> tuple[int, Any]:
        """Status and reply of a request."""
        if (method, path) == ("GET", f"/repos/{REPOSITORY}/pulls"):
            asked = (query["state"], query["head"])
            return 200, [pull for pull in self.pulls if (pull["state"], pull["head"]["label"]) == asked]
        if (method, path) == ("GET", f"/repos/{REPOSITORY}/issues/7/comments"):
            return 200, self.comments
        if (method, path) == ("POST", f"/repos/{REPOSITORY}/issues/7/comments"):
            return 201, self.comment(payload["body"])
        named = re.fullmatch(rf"/repos/{REPOSITORY}/issues/comments/(\d+)", path)
        for comment in self.comments:
            if method == "PATCH" and named and comment["id"] == int(named[1]):
                comment["body"] = payload["body"]
                return 200, comment
        return 404, {"message": "Not Found"}

    def _handler(github) -> type[BaseHTTPRequestHandler]:  # noqa: N805, the handler has a self of its own
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                url = urlsplit(self.path)
                query = {name: values[-1] for name, values in parse_qs(url.query).items()}
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                github.requests.append(f"{self.command} {self.path}")
                fault = next((fault for fault in github.faults if fault.method == self.command), None)
                if fault:
                    github.faults.remove(fault)
                if self.headers["Authorization"] != f"Bearer {TOKEN}":
                    self._reply(401, {"message": "Bad credentials"})
                elif fault and not fault.kept:
                    self._fail(fault)
                else:
                    status, found = github.answer(self.command, url.path, query, json.loads(body) if body else None)
                    if fault:
                        self._fail(fault)
                    elif isinstance(found, list):
                        self._reply_page(found, url.path, query)
                    else:
                        self._reply(status, found)

            do_POST = do_PATCH = do_GET  # noqa: N815, the names that http.server looks for

            def _fail(self, fault: Fault) -> None:
                if fault.status:
                    self._reply(
                        fault.status, {"message": fault.message or f"stand-in\nfault {fault.status}"}, fault.headers
                    )
                else:
                    self.close_connection = True

            def _reply_page(self, found: list[Any], path: str, query: Mapping[str, str]) -> None:
                size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
                following = f"{github.url}{path}?{urlencode({**query, 'page': page + 1})}"
                links = {"Link": f'<{github.url}{path}>; rel="first", <{following}>; rel="next"'}
                rest = found[(page - 1) * size :]
                self._reply(200, rest[:size], links if len(rest) > size else {})

            def _reply(self, status: int, found: Any, headers: Mapping[str, str] | None = None) -> None:
                body = json.dumps(found).encode()
                self.send_response(status)
                for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing on stderr."""

        return Handler
