"""The first files of a repository that wants the gate: an answer key with examples, thresholds, strategies, a workflow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docmind import corpus as documents_in
from docmind.errors import CorpusError, MissingPackageError, StorageError, UsageError
from docmind.extras import need
from docmind.files import write_atomic
from docmind.text import fold
from docmind.types import Document

FOLDERS = ("corpus", "docs", "documents", "handbook")
"""Where documents are looked for, if no folder is named."""

EXAMPLES = 2
SENTENCE = re.compile(r"[^.!?\n|]{30,200}[.!?]")
"""What is quoted: a sentence of a paragraph, on one line."""

IGNORED = ("eval/latest.*", "eval/timings.json", ".docmind/", ".*.tmp")
"""What a run writes beside what is committed."""

_QUESTION = "EXAMPLE, replace me: what does “{title}” say{section}?"

_THRESHOLDS = """# What a run is held to. docs/gate.md of DocMind tells all keys.
production: {production} # the strategy that your system uses
min_hit_at_3: 0.0 # its floor, a fraction of the questions: after the first baseline, its figure less five points
max_regression_pp: 3 # points of Hit@3 that may be lost against the baseline; one of n questions is worth 100/n points
# max_regression: # and of other metrics, once there are fifty questions or more
#   - {{metric: hit@1, points: 5}}
"""

_OWN = """# Which strategies are scored, and which of them can fail a pull request (all, unless `gate` names some).
# `docmind strategies` lists what there is to choose.
matrix:
  - headers+bm25
  - headers+hybrid
  - headers+rerank

# A retriever of your own beside them, or in their place: name it here, and list `mine` in the matrix.
# strategies:
#   mine: {url: "http://localhost:8000/search"} # or python: package.module:function, command: [...], file: ..., trec: ...
"""

_FOREIGN = """# How your retriever is reached: url, python: package.module:function, command: [...], file: ... or trec: ...
# With `pip install "docmind[retrieval]"` DocMind's own strategies, such as headers+rerank, can be listed too.
strategies:
  mine: {url: "http://localhost:8000/search"}
matrix: [mine]
"""

_WORKFLOW = """name: retrieval
on:
  pull_request:
    types: [opened, synchronize, reopened, labeled, unlabeled]
  push:
    branches: [main]
permissions:
  contents: read
concurrency:
  group: retrieval-${{ github.ref }}
  cancel-in-progress: true
jobs:
  retrieval:
    runs-on: ubuntu-24.04
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2
        with:
          fetch-depth: 2 # the merge commit and its first parent, the branch that the pull request goes to
          persist-credentials: false
      - uses: OWNER/docmind@COMMIT # where DocMind lies for you, and which commit of it
        with:
          corpus: CORPUS
          questions: eval/questions.jsonl
          thresholds: eval/thresholds.yaml
          baseline: eval/baseline.json
          out: eval
          # who set the label by which a loss that is meant is accepted
          accept: >-
            ${{ github.event.action == 'labeled' && github.event.label.name == 'retrieval-accepted' &&
            github.event.sender.login || '' }}
"""


@dataclass(frozen=True, slots=True)
class Started:
    """The folder of documents, the files that were `written`, and those that were there and were left as they are."""

    corpus: Path
    written: tuple[Path, ...]
    left: tuple[Path, ...]


def start(root: Path, corpus: Path | None = None) -> Started:
    """Write what is not there yet below `root`, for the documents in `corpus`, by default the one folder of FOLDERS that holds
    some. Nothing that is there is changed, but that `.gitignore` gets the lines of IGNORED that it lacks.

    Raises UsageError where it cannot be seen which folder is meant, CorpusError where its documents cannot be read,
    StorageError where something cannot be written; then nothing is.
    """
    folder = corpus or _found(root)
    inside = folder if folder.is_absolute() else root / folder
    documents = documents_in.load(inside)
    own = _has_retrieval()
    wanted = {
        root / "eval/questions.jsonl": "".join(
            json.dumps(line, ensure_ascii=False) + "\n" for line in _examples(documents)
        ),
        root / "eval/thresholds.yaml": _THRESHOLDS.format(production="headers+rerank" if own else "mine"),
        root / "eval/strategies.yaml": _OWN if own else _FOREIGN,
        root / ".github/workflows/retrieval.yml": _WORKFLOW.replace("CORPUS", _yaml(folder)),
    }
    if folders := [path for path in wanted if path.is_dir()]:
        raise StorageError(f"{folders[0]} is a folder; a file is written there. Move it away.")
    left = tuple(path for path in wanted if path.exists() or path.is_symlink())
    files = {path: text for path, text in wanted.items() if path not in left}
    ignore = root / ".gitignore"
    if lacking := _lacking(ignore):
        files[ignore] = lacking
    for path in files:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"{path.parent} cannot be made: {error.strerror}. Write where you may.") from error
    write_atomic(files)
    return Started(folder, tuple(files), left)


def _found(root: Path) -> Path:
    """The one folder of documents. Raises UsageError where there is none, or several."""
    there = [Path(name) for name in FOLDERS if (root / name).is_dir() and _readable(root / name)]
    if not there:
        others = (path for path in sorted(root.iterdir()) if path.is_dir() and not path.name.startswith("."))
        there = [
            Path(path.name) for path in others if path.name not in ("eval", "results", "tests") and _readable(path)
        ]
    if len(there) == 1:
        return there[0]
    told = f"documents are in {', '.join(map(str, there))}" if there else "no folder here holds documents"
    raise UsageError(f"{told}. Say which folder is meant: docmind init my-docs")


def _readable(folder: Path) -> bool:
    """Whether it holds at least one file of a format that is read."""
    return any(path.suffix.lower() in documents_in.FORMATS for path in folder.rglob("*") if path.is_file())


def _has_retrieval() -> bool:
    try:
        need("retrieval", "")
    except MissingPackageError:
        return False
    return True


def _examples(documents: Sequence[Document]) -> Iterator[Mapping[str, object]]:
    """Questions that quote the first documents, one each. Raises CorpusError where none has a sentence to quote."""
    made = 0
    for document in documents:
        if made == EXAMPLES:
            return
        if (found := _quotation(document)) is None:
            continue
        made += 1
        section, evidence = found
        told = f" under “{section}”" if section and section != document.title else ""
        question = _QUESTION.format(title=document.title, section=told)
        yield {"id": f"example-{made}", "question": question, "source": document.id, "evidence": evidence}
    if not made:
        raise CorpusError(
            "no document holds a sentence that stands once in it, to make an example of. Add documents with prose."
        )


def _quotation(document: Document) -> tuple[str, str] | None:
    """A sentence that stands once in the document, and the title of its section."""
    folded = fold(document.text).text
    for block in document.blocks:
        if block.kind != "paragraph":
            continue
        text = document.text[block.span.start : block.span.end]
        for match in SENTENCE.finditer(text):
            sentence = match[0].strip()
            if sentence[0].isalnum() and folded.count(fold(sentence).text) == 1:
                above = [s.title for s in document.sections if s.span.start <= block.span.start < s.span.end]
                return (above[0] if above else ""), sentence
    return None


def _lacking(path: Path) -> str:
    """The text of .gitignore with what it lacks, "" where that is nothing. Raises StorageError where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"{path} cannot be read: {error}. Mend it first.") from error
    lacking = [line for line in IGNORED if line not in text.splitlines()]
    return (
        f"{text}{chr(10) if text and not text.endswith(chr(10)) else ''}{''.join(f'{line}{chr(10)}' for line in lacking)}"
        if lacking
        else ""
    )


def _yaml(path: Path) -> str:
    """A path as a scalar of YAML."""
    return json.dumps(path.as_posix(), ensure_ascii=False)
