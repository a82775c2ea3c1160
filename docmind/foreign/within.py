"""Ends the wait for what may never end: a call in a thread of its own. The thread itself cannot be ended."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import TypeVar

from docmind.foreign.reply import ReplyError

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """What `call` gives. Raises ReplyError where it takes longer than `seconds`, and whatever it raises."""
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(call())
        except BaseException as error:  # also SystemExit: it is raised again where it is waited for
            failed.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise ReplyError(f"no answer within {seconds:g} s")
    return done[0]
