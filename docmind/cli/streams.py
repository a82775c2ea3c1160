"""Standard input and output, which may be closed, full, or read by something that takes lines for orders. Python's own means
alone: what else there is may not have been imported yet."""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import IO

from docmind.text import visible

lost: list[OSError | ValueError] = []
"""Why something that was to be shown was not, in the order in which it happened: the run goes on, and ends with 2."""

_RUNNER = "GITHUB_ACTIONS"
_COMMAND = re.compile(r"(?m)^[^\S\n]*:(?=:)|#(?=#\[)")
"""Where a command of a runner's log may begin: "::" at the start of a line, "##[" anywhere
(https://docs.github.com/actions/reference/workflow-commands-for-github-actions, and its older form)."""


def inert(text: str) -> str:
    """Text that gives no orders: to a terminal no escapes, and no carriage return, after which the line is written over;
    to a runner of GitHub Actions no command."""
    shown = visible(text).replace("\r", "")
    return _COMMAND.sub("\\g<0>\N{ZERO WIDTH SPACE}", shown) if _RUNNER in os.environ else shown


@cache
def null() -> int:
    """A descriptor of the null device, opened while one can be."""
    return os.open(os.devnull, os.O_RDWR)


def fill() -> None:
    """Open the null device in place of standard files that are closed: a file that is opened later would get the number of
    one, and what libraries print would go there."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - until Python ends
    null()


def silence(stream: IO[str]) -> None:
    """Let what is written to `stream`, and what it still holds, go nowhere: Python would try again when it ends, and end
    with a code of its own."""
    if not stream.closed:
        os.dup2(null(), stream.fileno())


def flush() -> None:
    """Send what Python still holds. A reader that left early, as `| head` does, is no fault of the run."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            silence(stream)
        except (OSError, ValueError) as error:
            silence(stream)
            lost.append(error)
