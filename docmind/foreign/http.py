"""A retriever behind HTTP: `url: http://…`. A question is a request with JSON, and the reply is JSON."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import closing
from functools import cached_property
from time import monotonic, perf_counter
from typing import TYPE_CHECKING

from docmind.errors import UsageError
from docmind.foreign.declared import Declared
from docmind.foreign.reading import loads, reply
from docmind.foreign.reply import Asked, Reply, ReplyError
from docmind.foreign.within import within
from docmind.llm.concealing import conceal

if TYPE_CHECKING:
    import httpx

MOST_BYTES = 20_000_000
"""Of a reply. A passage may have a megabyte; ten are asked for."""

SHOWN = 200
"""Characters of a server's own words that are shown."""

VERSION = "x-retriever-version"
"""The header in which a service may say what it is."""

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class UrlSource:
    """Posts `{"question", "k"}`, and "documents" and "history" where the question has them, with one connection a worker."""

    live = True

    def __init__(self, declared: Declared) -> None:
        """Raises UsageError where a header names a variable that the environment does not have."""
        self._declared = declared
        self._secrets: list[str] = []
        self._headers = {name: self._filled(name, value) for name, value in declared.headers.items()}

    @property
    def treatment(self) -> Mapping[str, str]:
        """Nothing of a service can be known from here but what its replies say."""
        return {}

    def _filled(self, name: str, value: str) -> str:
        def of_environment(match: re.Match[str]) -> str:
            found = os.environ.get(match[1], "").strip()
            if not found:
                raise UsageError(f"headers.{name}: the environment has no {match[1]}. Set it, or take the header out.")
            if not (found.isascii() and found.isprintable()):
                raise UsageError(f"headers.{name}: {match[1]} holds characters that no header can. Set it anew.")
            self._secrets.append(found)
            return found

        return _VARIABLE.sub(of_environment, value)

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        seconds = self._declared.timeout
        headers = {"Accept-Encoding": "identity", "Accept": "application/json", **self._headers}
        try:
            return httpx.Client(timeout=seconds, headers=headers, limits=httpx.Limits(max_connections=None))
        except (OSError, ImportError, ValueError, httpx.InvalidURL) as error:
            raise UsageError(
                f"{self._declared.url} cannot be asked over these network settings ({type(error).__name__}). Mend or unset "
                "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY and SSL_CERT_FILE."
            ) from None

    def ask(self, asked: Asked) -> Reply:
        """Raises ReplyError where there is no answer in time, another status than 200, or none that can be read."""
        client = self._client
        return within(self._declared.timeout, lambda: self._asked(client, asked))

    def _asked(self, client: httpx.Client, asked: Asked) -> Reply:
        import httpx

        declared, names = self._declared, self._declared.fields
        payload: dict[str, object] = {**declared.body, names.question: asked.text, names.k: asked.k}
        if asked.documents is not None:
            payload[names.documents] = list(asked.documents)
        if asked.history:
            payload[names.history] = [{"role": turn.role, "text": turn.text} for turn in asked.history]
        started = perf_counter()
        try:
            request = client.build_request(
                declared.method,
                declared.url or "",
                params=httpx.QueryParams(payload) if declared.method == "GET" else None,  # type: ignore[arg-type]
                json=payload if declared.method == "POST" else None,
            )
            with closing(client.send(request, stream=True)) as response:
                data = self._read(response)
                told = self._refused(response, data)
        except httpx.TimeoutException:
            raise ReplyError(f"no answer within {declared.timeout:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ReplyError(f"it cannot be reached{self._quoted(str(error))}") from None
        if told:
            raise ReplyError(told)
        try:
            found = reply(loads(data), names, perf_counter() - started)
        except ReplyError as error:
            raise ReplyError(conceal(str(error), self._secrets)) from None
        version = response.headers.get(VERSION, "") or found.version
        return Reply(found.passages, found.steps, conceal(version, self._secrets)[:SHOWN], found.seconds)

    def _read(self, response: httpx.Response) -> bytes:
        """The body, as long as it may be. A few bytes of a compressed one can be any number."""
        if response.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
            raise ReplyError("the reply is compressed, which was not asked for")
        until = monotonic() + self._declared.timeout
        data = bytearray()
        for piece in response.iter_raw():
            data += piece
            if len(data) > MOST_BYTES:
                raise ReplyError(f"the reply is longer than {MOST_BYTES:,} bytes")
            if monotonic() > until:
                raise ReplyError(f"no whole answer within {self._declared.timeout:g} s")
        return bytes(data)

    def _refused(self, response: httpx.Response, data: bytes) -> str:
        """What is wrong with the answer's status, "" where nothing is."""
        if response.is_redirect:
            place = response.headers.get("location", "")
            return f"it redirects{self._quoted(place)}, which is not followed: write the address itself in url"
        if response.status_code != 200:
            return (
                f"status {response.status_code}, 200 was expected{self._quoted(data[:4000].decode('utf-8', 'replace'))}"
            )
        return ""

    def _quoted(self, text: str) -> str:
        words = conceal(" ".join("".join(c if c.isprintable() else " " for c in text).split()), self._secrets)
        return f" ({words[:SHOWN]}{'…' if len(words) > SHOWN else ''})" if words else ""

    def close(self) -> None:
        """Let go of the connections."""
        if "_client" in self.__dict__:
            self._client.close()
