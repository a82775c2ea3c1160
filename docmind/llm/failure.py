"""What goes wrong in one try to get an answer, in words that may be shown: no key is in them. It does not try again."""

from __future__ import annotations

import math
import time
from calendar import timegm
from collections.abc import Mapping
from email.utils import parsedate
from typing import TYPE_CHECKING

from docmind.llm.account import Account
from docmind.llm.concealing import conceal
from docmind.types import Usage

if TYPE_CHECKING:
    import httpx

SHOWN = 300
"""Characters of a server's own words that are shown."""

LOOKED_AT = 20_000
"""Characters of them that are looked at for it."""

_USED_UP = "A model that thinks aloud used up its tokens: choose another model."
REMEDIES = {
    "length": _USED_UP,
    "model_length": _USED_UP,
    "tool_calls": "The model wants to call a tool, and is given none: choose another model.",
}
"""What to do where an answer is empty, by the reason why it ended."""


class AttemptError(Exception):
    """One try that gave no answer. `again`: another may; the server wants it after `wait` seconds, if that is not None.

    `usage` is what the try cost all the same.
    """

    def __init__(
        self, what: str, *, again: bool = False, wait: float | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(what)
        self.again = again
        self.wait = wait
        self.usage = usage or Usage()


def refused(account: Account, model: str, status: int, headers: Mapping[str, str], body: str) -> AttemptError:
    """The server answered with another status than 200."""
    provider = account.provider
    if status in {401, 403}:
        what = f"{provider} refuses the key ({status}). Check {account.key_variable}, and that it may use {model!r}."
    elif status == 404:
        what = (
            f"{provider} knows no model {model!r} at {account.place} (404). Check the model's name and, if it is set, "
            f"{account.address_variable}."
        )
    elif status == 429:
        what = f"{provider} takes no more requests for now, or the quota is spent (429). Try later, or check your plan."
    elif status >= 500:
        what = f"{provider} has a fault of its own ({status}). Try later."
    else:
        what = (
            f"{provider} refuses the request ({status}). Check the model's name, {model!r}, and the length of the text."
        )
    again = status == 429 or status >= 500
    return AttemptError(f"{what}{_quoted(account, body)}", again=again, wait=_wait(headers.get("retry-after", "")))


def unreachable(account: Account, error: httpx.RequestError) -> AttemptError:
    """No answer, or not the whole of one, came over the wire."""
    import httpx

    slow = isinstance(error, httpx.TimeoutException)
    why = "did not answer in time" if slow else f"cannot be reached{_quoted(account, str(error))}"
    return AttemptError(
        f"{account.provider} at {account.place} {why}. Check the network, the proxy and, if it is set, "
        f"{account.address_variable}.",
        again=True,
    )


def misrouted(account: Account, error: Exception) -> AttemptError:
    """The address of a proxy, or one that the server leads to, cannot be used. It may hold a password, and so may `error`."""
    return AttemptError(
        f"{account.provider} cannot be asked over these network settings ({type(error).__name__}). Mend or unset those of "
        "the proxy: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY. A SOCKS proxy needs `pip install 'httpx[socks]'`; "
        f"NO_PROXY takes an IPv6 address without brackets. If none is set, check {account.address_variable}."
    )


def uncertified(error: OSError) -> AttemptError:
    """The file of certificates, or that for the keys of TLS, cannot be opened."""
    return AttemptError(
        f"The file that SSL_CERT_FILE or SSLKEYLOGFILE names cannot be used ({type(error).__name__}). Mend or unset them."
    )


def unreadable(account: Account, body: str) -> AttemptError:
    """What came is no chat completion."""
    return AttemptError(
        f"{account.provider} at {account.place} answers what cannot be read as a chat completion. Check "
        f"{account.address_variable}, if it is set, and the version of the server.{_quoted(account, body)}"
    )


def endless(account: Account, what: str) -> AttemptError:
    """The answer does not end; `what` says which limit it is over."""
    return AttemptError(
        f"The answer of {account.provider} at {account.place} {what}. Check {account.address_variable}, if it is set, or "
        "choose another model."
    )


def packed(account: Account) -> AttemptError:
    """The answer is compressed, though the request takes none that is."""
    return AttemptError(
        f"{account.provider} at {account.place} sends a compressed answer, which was not asked for. Check "
        f"{account.address_variable}, if it is set, and the proxy."
    )


def empty(account: Account, finish: str, usage: Usage) -> AttemptError:
    """The answer is whole, for the reason `finish`, and has no text."""
    return AttemptError(
        f"{account.provider} answered nothing (finish reason {shown(account, finish)}). "
        f"{REMEDIES.get(finish, 'The model may refuse to answer: ask in other words, or choose another model.')}",
        usage=usage,
    )


def shown(account: Account, text: str) -> str:
    """A server's own words: on one line, clipped, without control characters and without what is secret."""
    words = " ".join("".join(c if c.isprintable() else " " for c in text[:LOOKED_AT]).split())
    words = conceal(words, account.secrets)  # before clipping, which could leave half of one
    return words if len(words) <= SHOWN else words[:SHOWN] + "…"


def _quoted(account: Account, text: str) -> str:
    words = shown(account, text)
    return f" ({words})" if words else ""


def _wait(value: str) -> float | None:
    """The seconds of a Retry-After header, RFC 9110 section 10.2.3: a number or a date; None where it is neither."""
    try:
        moment = parsedate(value)
        seconds = float(value) if moment is None else timegm(moment) - time.time()
    except (ValueError, OverflowError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
