"""The HTTP client of every provider: time-outs, limits, proxies, certificates. It knows no protocol, and sends nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docmind.llm.account import Account
from docmind.llm.failure import misrouted, uncertified

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0
"""How long a server may be silent, before its answer and within it."""


def timeout() -> httpx.Timeout:
    """The time-outs of every request."""
    import httpx

    return httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)


def connection(account: Account) -> httpx.Client:
    """A client with the proxies and certificates that the environment names. Raises AttemptError where they cannot be used."""
    import httpx

    from docmind.llm.bounded import bound

    def settle(response: httpx.Response) -> None:
        """JSON (RFC 8259, section 8.1) and event streams are UTF-8, and httpx fails at some charsets that a header may name."""
        response.encoding = "utf-8"
        bound(response, account)

    try:
        return httpx.Client(
            timeout=timeout(), headers={"Accept-Encoding": "identity"}, event_hooks={"response": [settle]}
        )
    except OSError as error:
        raise uncertified(error) from None
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        raise misrouted(account, error) from None
