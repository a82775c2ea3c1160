"""What goes wrong in one try to get an answer, in words that may be shown: no key is in them. It does not try again."""

from __future__ import annotations

import math
import time
from calendar import timegm
from collections.abc import Mapping
from email.utils import parsedate
from typing import TYPE_CHECKING

from docmind.llm.account import Account
from docmind.types import Usage

if TYPE_CHECKING:
    import httpx

SHOWN = 300
"""Characters of a server's own words that are shown."""


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
            f"{provider} knows no model {model!r} at {account.address} (404). Check the model's name and, if it is set, "
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
    return AttemptError(f"{what}{_said(account, body)}", again=again, wait=_wait(headers.get("retry-after", "")))


def unreachable(account: Account, error: httpx.RequestError) -> AttemptError:
    """No answer, or not the whole of one, came over the wire."""
    import httpx

    slow = isinstance(error, httpx.TimeoutException)
    why = "did not answer in time" if slow else f"cannot be reached{_said(account, str(error))}"
    return AttemptError(
        f"{account.provider} at {account.address} {why}. Check the network and, if it is set, {account.address_variable}.",
        again=True,
    )


def unreadable(account: Account, body: str) -> AttemptError:
    """What came is no chat completion."""
    return AttemptError(
        f"{account.provider} at {account.address} answers what cannot be read as a chat completion. Check "
        f"{account.address_variable}, if it is set, and the version of the server.{_said(account, body)}"
    )


def _said(account: Account, text: str) -> str:
    """A server's own words, led by a blank: on one line, clipped, without control characters and without the key."""
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if account.secret:
        words = words.replace(account.secret, "[key]")  # before clipping, which could leave half of it
    return f" ({words if len(words) <= SHOWN else words[:SHOWN] + '…'})" if words else ""


def _wait(value: str) -> float | None:
    """The seconds of a Retry-After header, RFC 9110 section 10.2.3: a number or a date; None where it is neither."""
    try:
        moment = parsedate(value)
        seconds = float(value) if moment is None else timegm(moment) - time.time()
    except (ValueError, OverflowError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
