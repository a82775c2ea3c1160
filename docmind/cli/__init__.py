"""The `docmind` command. It joins the parts and shows what they do; a file a command.

Exit codes: 0 done, and passed where there was a gate; 1 the gate failed; 2 a wrong option, bad input, a damaged or
missing file, a model out of reach, a full disk; 3 nothing to score, not comparable, or a question that ended in an
error; 130 interrupted. Where several apply, the first of 2, 3, 1.
"""

from __future__ import annotations

import errno
import logging
import sys
import traceback
from collections.abc import Sequence
from io import TextIOWrapper

import typer

from docmind.cli import answers, chat, evaluate, index, strategies
from docmind.cli.common import Judged
from docmind.cli.terminal import Warnings, out, tell
from docmind.errors import DocMindError

INTERRUPTED = 130

app = typer.Typer(
    help="DocMind measures retrieval for RAG and keeps it from getting worse.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("index")(index.index)
app.command("eval")(evaluate.evaluate)
app.command("diff")(evaluate.diff)
app.command("answers")(answers.answers)
app.command("chat")(chat.chat)
app.command("strategies")(strategies.strategies)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with `argv`, by default the process's own, and return its exit code."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[Warnings()])
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # A terminal that knows ASCII alone gets "?" for the rest; what it sends may be no text at all.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app(args=argv, prog_name="docmind")
        sys.stdout.flush()
        return 0
    except SystemExit as end:  # how Typer ends, having told of a wrong option itself
        if end.code == INTERRUPTED:
            tell("interrupted; what is done is kept, and the next run goes on from there")
        # Typer's 1 is a reader that left early; to us it means that a gate failed.
        return 2 if end.code == 1 else int(end.code or 0)
    except Judged as judged:
        return judged.code
    except DocMindError as error:
        tell(f"error: {error}", "red")
        return error.exit_code
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:  # files tell it as a StorageError
            out.on_broken_pipe()
            tell("error: standard output cannot be written: no space is left there. What files there are stay.", "red")
            return 2
        # Python would end with 1, which means that a gate failed.
        traceback.print_exc()
        tell("This is a fault of DocMind, not of your input. Please report it, with the lines above.")
        return 2
