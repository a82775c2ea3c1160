"""The `docmind` command. This module ends a run, whatever ends it; commands.py has what is run, a second's imports.

Exit codes: 0 done, and passed where there was a gate; 1 the gate failed; 2 a wrong option, bad input, a damaged or
missing file, a model out of reach, a full disk, output that cannot be written, a fault of DocMind; 3 nothing to score, not
comparable, or a question that ended in an error; 130 interrupted; 143 ended by SIGTERM. Where several apply, the first of
130, 143, 2, 3, 1. Python itself ends with 1 where an error reaches it, so none may.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from docmind.cli import streams

WRONG, INTERRUPTED, TERMINATED = 2, 130, 143
_ENDED = {INTERRUPTED: "interrupted", TERMINATED: "ended by SIGTERM"}
_SCARCE = {errno.EMFILE: "Raise the limit: ulimit -n 1024.", errno.ENFILE: "Close other programs."}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv`, by default the process's own, and return its exit code. Nothing is raised."""
    streams.lost.clear()
    try:
        streams.fill()
        with _ending_by_sigterm():
            from docmind.cli.commands import run

            code = run(argv)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except SystemExit as end:
        # How Typer ends, having told of a wrong option itself. Its 1 is a reader that left early; to us a gate failed.
        code = end.code if end.code in (0, *_ENDED) and isinstance(end.code, int) else WRONG
    except BaseException as error:  # a panic of a library that is written in Rust is no Exception
        _tell(_told(error))
        code = WRONG
    if code in _ENDED:
        _tell(f"{_ENDED[code]}; what is done is kept, and the next run goes on from there")
    streams.flush()
    if streams.lost and code not in _ENDED:
        _tell(f"error: what was found cannot be shown: {streams.lost[0]}. What files there are stay.")
        return WRONG
    return code


@contextmanager
def _ending_by_sigterm() -> Iterator[None]:
    """SIGTERM ends what runs inside as an interrupt does, so that files are let go of. Only a main thread can be told."""

    def end(*_: object) -> None:
        raise SystemExit(TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _told(error: BaseException) -> str:
    """What is said of an error that no part of DocMind has foreseen."""
    for number, remedy in _SCARCE.items():  # of imports it stands in the words alone
        if os.strerror(number) in str(error):
            return f"error: {error}. {remedy}"
    if isinstance(error, MemoryError):
        return "error: there is not enough memory. Close other programs, or give fewer documents at once."
    told = "".join(traceback.format_exception(error))
    return f"{told}This is a fault of DocMind, not of your input. Please report it, with the lines above."


def _tell(text: str) -> None:
    """On stderr, with nothing that may itself be why the run ends."""
    try:
        print(streams.inert(text), file=sys.stderr, flush=True)  # noqa: T201
    except (OSError, ValueError):  # then the exit code is all that can be told
        streams.silence(sys.stderr)
