"""What the `docmind` command can do, a file a command: it joins the parts and shows what they do."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from io import TextIOWrapper

import typer

from docmind.cli import answers, chat, demo, evaluate, history, index, init, strategies
from docmind.cli.common import Judged, version
from docmind.cli.terminal import Warnings, tell
from docmind.errors import DocMindError

app = typer.Typer(
    help="DocMind measures retrieval for RAG and keeps it from getting worse.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.callback()(version)
app.command("index")(index.index)
app.command("eval")(evaluate.evaluate)
app.command("diff")(evaluate.diff)
app.command("history")(history.history)
app.command("badge")(history.badge_command)
app.command("answers")(answers.answers)
app.command("chat")(chat.chat)
app.command("strategies")(strategies.strategies)
app.command("init")(init.init)
app.command("demo")(demo.demo)


def run(argv: Sequence[str] | None) -> int:
    """Run the command with `argv`, by default the process's own, and return the exit code of a verdict or of an error that
    the user can mend. Raises SystemExit where there is neither, and whatever else ends it."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[Warnings()])
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # A terminal that knows ASCII alone gets "?" for the rest; what it sends may be no text at all.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app(args=argv, prog_name="docmind")
    except Judged as judged:
        return judged.code
    except DocMindError as error:
        tell(f"error: {error}", "red")
        return error.exit_code
    return 0
