"""`docmind init`: the first files of a repository that wants the gate. It overwrites nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from docmind.cli.terminal import say
from docmind.runs.starting import start


def init(
    corpus: Annotated[
        Path | None, typer.Argument(help="Folder of documents; corpus, docs, documents or handbook if it is not named.")
    ] = None,
) -> None:
    """Write a first answer key, thresholds, strategies and a workflow. What is there already stays."""
    found = start(Path(), corpus)
    for path in found.written:
        say(f"written: {path}")
    for path in found.left:
        say(f"left as it is: {path}")
    say(
        f"""
What next:
  1. In eval/questions.jsonl, put questions of your own in place of the examples; thirty or more tell something.
  2. Make the reference, and commit it with these files:
     docmind eval --corpus {found.corpus} --out eval --save-baseline
  3. After a change:
     docmind eval --corpus {found.corpus} --out eval --baseline eval/baseline.json --check
.github/workflows/retrieval.yml does so on each pull request; say in it where DocMind lies (OWNER, COMMIT)."""
    )
