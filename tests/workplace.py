"""A folder in which a test runs the command on three pages and five questions. It tests nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from docmind.cli import main

QUESTIONS = [
    {"id": "q1", "question": "How many days of annual leave?", "type": "direct", "split": "dev",
     "source": "leave.md", "evidence": "25 days of annual leave"},
    {"id": "q2", "question": "When is the bonus paid?", "type": "direct", "split": "test",
     "gold": [{"source": "pay.md", "evidence": "paid in March"}, {"source": "pay.md", "evidence": "Bonus", "section": "Bonus"}]},
    {"id": "q3", "question": "Who may go first class?", "source": "travel/rail.md", "evidence": "over three hours"},
    {"id": "q4", "question": "How many days can I take into next year?", "type": "paraphrase", "split": "dev",
     "source": "leave.md", "evidence": "Five days may be carried over"},
    {"id": "u1", "question": "Where do I park?", "type": "unanswerable", "source": None, "evidence": None},
]  # fmt: skip


@dataclass(frozen=True)
class Workplace:
    """The pages of the fixture `corpus` and, beside them, QUESTIONS, `out` and `index_dir`, which do not exist yet."""

    root: Path

    @property
    def corpus(self) -> Path:
        return self.root / "corpus"

    @property
    def questions(self) -> Path:
        return self.root / "questions.jsonl"

    @property
    def out(self) -> Path:
        return self.root / "out"

    @property
    def index_dir(self) -> Path:
        return self.root / "indexes"

    def ask(self, *questions: object) -> None:
        """Make `questions` the answer key; text is a line as it stands."""
        lines = [q if isinstance(q, str) else json.dumps(q) for q in questions]
        self.questions.write_text("\n".join(lines), encoding="utf-8")

    def arguments(self, command: str, *more: str) -> list[str]:
        """The command line; of an option that stands in `more` too, the last counts."""
        places = ["--corpus", str(self.corpus), "--index-dir", str(self.index_dir)]
        if command == "eval":
            places += ["--questions", str(self.questions), "--out", str(self.out)]
        return [command, *places, *more]

    def eval(self, *more: str) -> int:
        return main(self.arguments("eval", *more))

    def index(self, *more: str) -> int:
        return main(self.arguments("index", *more))

    def process(self, command: str, *more: str, **env: str) -> subprocess.CompletedProcess[str]:
        """The command in a process of its own, with `env` beside the environment there is."""
        return subprocess.run(
            [sys.executable, "-m", "docmind.cli", *self.arguments(command, *more)],
            env=os.environ | env, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    def results(self) -> dict[str, Any]:
        return json.loads((self.out / "latest.json").read_text(encoding="utf-8"))

    def bytes(self) -> bytes:
        return (self.out / "latest.json").read_bytes()


@contextmanager
def disk(place: Path, options: str) -> Iterator[None]:
    """A file system in memory, mounted at `place`; the test is skipped where that is not permitted."""
    place.mkdir()
    try:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("there is no mount command here")
    if mounted.returncode:
        pytest.skip(f"mounting is not permitted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)
