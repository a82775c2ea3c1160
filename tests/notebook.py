"""Runs the code of a notebook, cell by cell, in one namespace, and gives what each cell prints. It tests nothing.

    python tests/notebook.py docs/tour.ipynb

runs it and writes what is printed into the file.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any


def cells(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def run(notebook: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Each code cell and what it prints."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(compile("".join(cell["source"]), "<cell>", "exec"), namespace)  # the project's own code
            yield cell, printed.getvalue()


def printed(cell: dict[str, Any]) -> str:
    """What stands below a cell."""
    return "".join(line for output in cell["outputs"] for line in output["text"])


def write(path: Path) -> None:
    notebook = cells(path)
    for count, (cell, text) in enumerate(run(notebook), start=1):
        stream = {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}
        cell["execution_count"], cell["outputs"] = count, [stream] if text else []
    for number, cell in enumerate(notebook["cells"]):
        cell["id"] = f"cell-{number}"
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
