"""1 comes from a verdict alone: whatever else ends a run, at whatever stage, is 2, 3, 130 or 143, and told if it can be."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from workplace import QUESTIONS, Workplace

import docmind.cli
from docmind.cli import main, streams

REPOSITORY = Path(docmind.cli.__file__).parents[2]
STRATEGY = "headers+vector"

pytestmark = pytest.mark.slow  # a process for each


@pytest.fixture
def place(tmp_path: Path, corpus: Path) -> Workplace:
    place = Workplace(tmp_path)
    place.ask(*QUESTIONS)
    return place


class PanicException(BaseException):
    """As libraries in Rust raise it."""


ENDS = [
    (PanicException("called `Option::unwrap()` on a `None` value"), 2),
    (RuntimeError("a fault"), 2),
    (MemoryError(), 2),
    (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), 2),
    (SystemExit(1), 2),
    (SystemExit("a word"), 2),
    (KeyboardInterrupt(), 130),
]

STAGES = [
    ("eval", "docmind.cli.evaluate.scored"),
    ("eval", "docmind.runs.retrieval.load_models"),
    ("eval", "docmind.corpus.look"),
    ("eval", "docmind.corpus._read"),
    ("eval", "docmind.runs.retrieval.load_questions"),
    ("eval", "docmind.models.minilm.OnnxEmbedder.embed_queries"),
    ("eval", "docmind.index.store._client"),
    ("eval", "docmind.index.build._whole"),
    ("eval", "docmind.runs.evaluating.score"),
    ("eval", "docmind.runs.evaluating.latency"),
    ("eval", "docmind.runs.saving.save"),
    ("eval", "docmind.cli.evaluate.show"),
    ("index", "docmind.cli.index.Searcher"),
    ("index", "docmind.index.build._put_in_place"),
    ("answers", "docmind.cli.answers.load_questions"),
    ("answers", "docmind.runs.answers.answerer"),
    ("answers", "docmind.runs.answers.append_line"),
    ("answers", "docmind.cli.answers._show"),
    ("chat", "docmind.cli.chat.Engine"),
    ("chat", "docmind.cli.chat.ask"),
    ("strategies", "docmind.cli.strategies.declared"),
]


def arguments(place: Workplace, command: str) -> list[str]:
    more = {
        "eval": ["--strategies", STRATEGY],
        "index": ["headers"],
        "answers": ["--questions", str(place.questions), "--out", str(place.out), "--strategy", STRATEGY],
        "chat": ["--strategy", STRATEGY],
    }
    return ["strategies"] if command == "strategies" else place.arguments(command, *more[command])


@pytest.mark.parametrize(("command", "stage"), STAGES)
def test_what_ends_a_run_at_any_stage_is_never_taken_for_a_verdict(place, monkeypatch, capsys, command, stage):
    for error, code in ENDS:
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdin", io.StringIO("How many days of annual leave?\n"))
            patch.setattr(stage, lambda *_, error=error, **__: (_ for _ in ()).throw(error))
            # Chroma's own errors are told as what they are: an index that cannot be used.
            assert main(arguments(place, command)) == code, error
    told = capsys.readouterr().err
    assert "interrupted; what is done is kept" in told
    assert "Raise the limit" in told or "--index-dir" in told


IMPORTS = """
import runpy, signal, sys
class Stop:
    def find_spec(self, name, *_):
        if name == "{module}":
            {end}
sys.meta_path.insert(0, Stop())
sys.argv = ["{script}", *sys.argv[1:]]
sys.path.insert(0, {repository!r})
runpy.run_path({repository!r} + "/{script}", run_name="__main__")
"""


@pytest.mark.parametrize(
    "script", ["eval/run_retrieval.py", "eval/run_answers.py", "scripts/build_index.py", "main.py"]
)
@pytest.mark.parametrize("module", ["docmind.cli.commands", "typer", "docmind.evaluation.gate", "numpy"])
@pytest.mark.parametrize(
    ("end", "code", "told"),
    [
        ("raise KeyboardInterrupt", 130, "interrupted"),
        ("signal.raise_signal(signal.SIGTERM)", 143, "ended by SIGTERM"),
        ("raise ImportError('no such library')", 2, "no such library"),
        ("raise OSError(24, 'Too many open files')", 2, "Raise the limit"),
        ("raise BaseException('a panic')", 2, "a panic"),
    ],
)
def test_what_ends_the_imports_is_told_in_words(script, module, end, code, told):
    program = IMPORTS.format(module=module, end=end, script=script, repository=str(REPOSITORY))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert told in done.stderr
    assert ("Traceback" in done.stderr) == (code == 2 and "Raise" not in told)


SHELLS = [
    ("full stderr", "exec 2>/dev/full", {"wrong": 2, "failed": 2, "good": 0}),
    ("closed stderr", "exec 2>&-", {"wrong": 2, "failed": 1, "good": 0}),
    ("full stdout", "exec >/dev/full", {"wrong": 2, "failed": 2, "good": 2}),
    ("closed stdout", "exec >&-", {"wrong": 2, "failed": 1, "good": 0}),
    ("all closed", "exec <&- >&- 2>&-", {"wrong": 2, "failed": 1, "good": 0}),
    ("all full", "exec >/dev/full 2>/dev/full", {"wrong": 2, "failed": 2, "good": 2}),
    ("twelve files", "ulimit -n 12", {"wrong": 2, "failed": 2, "good": 2}),
    ("twelve files, full stderr", "ulimit -n 12; exec 2>/dev/full", {"wrong": 2, "failed": 2, "good": 2}),
]

RUNS = {
    "good": "import sys; from docmind.cli import main; sys.exit(main())",
    "wrong": "import sys; from docmind.cli import main; sys.exit(main([*sys.argv[1:], '--strategies', 'none']))",
    "failed": """
import sys
import docmind.cli.evaluate as evaluate
from docmind.cli import main
from docmind.cli.common import Judged
def judged(*_):
    evaluate.tell("The gate failed.")
    evaluate.say("a table")
    raise Judged(1)
evaluate._end = judged
sys.exit(main())
""",
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(("shell", "codes"), [pytest.param(shell, codes, id=name) for name, shell, codes in SHELLS])
def test_output_that_nobody_can_read_is_no_verdict(place, shell, codes):
    strategy = STRATEGY if "ulimit" in shell else "headers+bm25"  # which needs few files
    for name, code in codes.items():
        command = [sys.executable, "-c", RUNS[name], *place.arguments("eval", "--strategies", strategy)]
        whole = ["/bin/bash", "-c", f'{shell}; exec "$@"', "bash", *command]
        done = subprocess.run(whole, stdin=subprocess.DEVNULL, timeout=60, check=False)
        assert done.returncode == code, name
        if "ulimit" not in shell and name != "wrong":
            assert place.results()["schema"], "what was found is written"


def test_sigterm_ends_a_run_with_143_and_what_is_done_is_kept(place):
    code = (
        "import signal, sys, docmind.runs.evaluating as run; from docmind.cli import main; "
        "run.ceiling = lambda *_: signal.raise_signal(signal.SIGTERM); sys.exit(main())"
    )
    command = [sys.executable, "-c", code, *place.arguments("eval", "--strategies", STRATEGY)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 143
    assert done.stderr.endswith("ended by SIGTERM; what is done is kept, and the next run goes on from there\n")
    assert "Traceback" not in done.stderr
    assert [path.name for path in place.index_dir.iterdir() if path.is_dir() and path.name.startswith("headers-")]


def test_after_a_run_sigterm_does_what_it_did_before():
    before = signal.getsignal(signal.SIGTERM)
    main(["strategies"])
    assert signal.getsignal(signal.SIGTERM) == before


# What a runner of GitHub Actions obeys in its log

ORDERS = [
    "::add-mask::x",
    "  ::stop-commands::x",
    "a\n::error::b",
    "a\r::warning::c",
    "\u00a0::debug::d",
    "##[group]x",
    "a ##[set-output name=y]z",
]


def begins_a_command(line: str) -> bool:
    """As the runner reads it: the older form anywhere in a line, the newer one after white space."""
    return "##[" in line or line.strip().startswith("::")


@pytest.mark.parametrize("order", ORDERS)
def test_nothing_that_is_shown_is_a_command_to_a_runner(monkeypatch, order):
    assert streams.inert(order) == order.replace("\r", "")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    shown = streams.inert(order)
    assert not any(map(begins_a_command, shown.splitlines()))
    assert shown.replace("\N{ZERO WIDTH SPACE}", "") == order.replace("\r", "")


def test_no_text_of_a_question_an_id_or_an_error_gives_a_runner_an_order(place, monkeypatch, capsys):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    named = [QUESTIONS[0] | {"type": "::add-mask::x", "id": "::error::y"}, QUESTIONS[1] | {"type": "##[group]"}]
    place.ask(*named)
    assert place.eval("--strategies", "headers+bm25") == 0
    place.ask(QUESTIONS[0] | {"evidence": "not\n::error file=a::there\n##[error]so"})
    assert place.eval("--strategies", "headers+bm25") == 2
    monkeypatch.setattr("docmind.runs.retrieval.load_models", lambda _: {}["\n::add-mask::x\n"])
    place.eval("--strategies", "headers+bm25")
    assert place.eval("--strategies", "a\n::add-mask::x") == 2
    shown = capsys.readouterr()
    assert "add-mask" in shown.out
    assert "there" in shown.err
    assert not [line for line in (shown.out + shown.err).splitlines() if begins_a_command(line)]
