"""How much of a server's reply is read, and for how long: what never ends would fill the memory, or hold a run for ever."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx

from docmind.llm.account import Account
from docmind.llm.failure import endless, packed

MOST_BYTES = 20_000_000
"""Of a whole reply. A thousand tokens, streamed, are some 300 kilobytes."""

LONGEST_SECONDS = 600.0
"""From the headers of a reply to its end."""


class Bounded(httpx.SyncByteStream):
    """The body `stream`, which ends in an AttemptError where it is too long or takes too long, comments and pings included."""

    def __init__(self, stream: httpx.SyncByteStream, account: Account) -> None:
        self._stream = stream
        self._account = account
        self._until = time.monotonic() + LONGEST_SECONDS

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for data in self._stream:
            size += len(data)
            if size > MOST_BYTES:
                raise endless(self._account, f"is longer than {MOST_BYTES:,} bytes")
            if time.monotonic() > self._until:
                raise endless(self._account, f"takes longer than {LONGEST_SECONDS:.0f} s")
            yield data

    def close(self) -> None:
        """Let go of the connection."""
        self._stream.close()


def bound(response: httpx.Response, account: Account) -> None:
    """Let no more of `response` be read than that. Raises AttemptError where it is compressed, which was not asked for: a few
    bytes of it can be any number."""
    if response.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise packed(account)
    if isinstance(response.stream, httpx.SyncByteStream):
        response.stream = Bounded(response.stream, account)
