"""Which indexes are in use, and which can go. An index is never changed, so each change of pages leaves an old one behind.

A file for each corpus and chunker names the index that the last run used for them. It removes nothing unless it is told to,
and nothing but indexes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from docmind.files import write_atomic

USED = "used-"
FORGOTTEN_AFTER = 30 * 86_400.0
"""Seconds after which an index that nothing used is not in use any more, though its pages may be as they were."""

_INDEX = re.compile(r".+-[0-9a-f]{16}")


def note(index: Path, corpus: Path, kind: str) -> None:
    """Keep in mind that `index` is the one in use for `corpus` and what is told by `kind`: chunker and models. Where the folder
    of indexes cannot be written, nothing is kept in mind."""
    if os.access(index.parent, os.W_OK):
        place = str(corpus.resolve())
        name = hashlib.sha256(f"{place}\x1f{kind}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
        told = json.dumps({"corpus": place, "kind": kind, "index": index.name}, indent=1)
        write_atomic({index.with_name(f"{USED}{name}.json"): f"{told}\n"})


def unused(index_dir: Path) -> Mapping[Path, int]:
    """The indexes that no last run used, and their bytes."""
    used = {name for name in map(_index_of, _notes(index_dir)) if name}
    found = {path for path in index_dir.glob("*-*") if _INDEX.fullmatch(path.name) and path.is_dir()}
    return {path: _size(path) for path in sorted(found) if path.name not in used and (path / "chroma").is_dir()}


def prune(index_dir: Path) -> Mapping[Path, int]:
    """Remove what `unused` tells, and give it. An index that is removed is built anew, from vectors that are kept, by a
    run that wants it."""
    removed = unused(index_dir)
    for path in removed:
        shutil.rmtree(path, ignore_errors=True)
    for path in _notes(index_dir):
        if _index_of(path) is None:
            path.unlink(missing_ok=True)
    return {path: size for path, size in removed.items() if not path.exists()}


def _notes(index_dir: Path) -> list[Path]:
    return sorted(index_dir.glob(f"{USED}*.json"))


def _index_of(path: Path) -> str | None:
    """The name of the index that a note tells of; None where it is old, no note, or of a corpus that is gone."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        told = json.loads(path.read_text(encoding="utf-8"))
        if time.time() - path.stat().st_mtime < FORGOTTEN_AFTER and Path(told["corpus"]).is_dir():
            return str(told["index"])
    return None


def _size(folder: Path) -> int:
    """The bytes of the files in `folder`, of those that are still there."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            total += path.stat().st_size if path.is_file() else 0
    return total
