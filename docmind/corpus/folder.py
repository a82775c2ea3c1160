"""Which files of a folder are pages. It opens none of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from docmind.errors import CorpusError

NO_PAGES = ("README.md", "NOTICE.md")
"""Names of files that speak of the folder, at any depth, rather than belonging to what it holds."""


def pages(root: Path, suffixes: Collection[str], exclude: Sequence[str] = ()) -> list[tuple[str, Path]]:
    """(document id, path) of every page below `root`, by id. Links are followed; names that start with a dot are not.

    `exclude` are patterns (fnmatch) of ids to leave out. Raises CorpusError where `root` is no folder, holds no page,
    or where links lead round in a circle.
    """
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        raise CorpusError(f"{root}: {what}. Give a folder of documents with --corpus.")
    found = []
    for path in _files(root, (root.resolve(),)):
        doc_id = path.relative_to(root).as_posix()
        left_out = path.name in NO_PAGES or any(fnmatchcase(doc_id, pattern) for pattern in exclude)
        if path.suffix.lower() in suffixes and not left_out:
            found.append((doc_id, path))
    if not found:
        raise CorpusError(
            f"{root}: holds no page. Pages end in {', '.join(sorted(suffixes))}; {', '.join(NO_PAGES)} and what "
            f"--exclude names do not count."
        )
    return sorted(found)


def _files(folder: Path, above: tuple[Path, ...]) -> Iterator[Path]:
    """Every file below `folder`; `above` are the real paths of the folder and of those that it lies in."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise CorpusError(f"{folder}: cannot be listed: {error.strerror}. Make it readable or leave it out.") from error
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith("."):
            continue
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError) as error:  # RuntimeError: a circle of links, before Python 3.13
            raise CorpusError(f"{path}: is a link that leads nowhere or to itself. Mend or remove it.") from error
        if not real.is_dir():
            yield path
        elif real in above:
            raise CorpusError(f"{path}: is a link to a folder that it lies in, so that it has no end. Remove it.")
        else:
            yield from _files(path, (*above, real))
