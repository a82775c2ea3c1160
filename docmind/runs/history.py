"""The versions of a record: those of a file in git, or all that lie in a folder. Oldest first, read one at a time."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from docmind.errors import IncompleteError, StorageError, UsageError
from docmind.evaluation.gate.history import Version
from docmind.evaluation.record.checking import FieldError
from docmind.evaluation.record.reading import record_in
from docmind.evaluation.record.types import Record
from docmind.files import read_whole

GIT_SECONDS = 120
"""Seconds that git has for an answer: it may have to walk through all commits of a large repository."""

SHORT = 9
"""Hex digits of a commit that are told."""

SHALLOW = (
    "This clone is shallow, so that earlier versions are not here. To have them: git fetch --unshallow (of a workflow's "
    "checkout: fetch-depth: 0)."
)

_ELSE = "Name a folder of runs: docmind history FOLDER."

_HASH = re.compile(r"\x01([0-9a-f]{40,64})")


@dataclass(frozen=True, slots=True)
class History:
    """`versions` can be walked once; `notes` are sentences on what is not among them."""

    versions: Iterator[Version]
    notes: tuple[str, ...] = ()


def committed(path: Path) -> History:
    """The versions of the file `path` on the branch that is checked out, through its renamings: a merge is one version, so that
    each follows the one before it. Raises UsageError where git cannot say, IncompleteError where no commit has the file."""
    place = next(folder for folder in path.absolute().parents if folder.is_dir())
    name = path.absolute().relative_to(place).as_posix()
    found = _git(
        place, "log", "-z", "--follow", "--first-parent", "--no-show-signature", "--no-color", "--no-relative",
        "--format=%x01%H%x00%cs%x00%s", "--name-only", "--", name,
    ).decode("utf-8", "replace")  # fmt: skip
    commits = list(_commits(found.split("\0")))
    notes = (SHALLOW,) if _git(place, "rev-parse", "--is-shallow-repository").strip() == b"true" else ()
    if not commits:
        more = " ".join(("Commit it, or name a folder of runs: docmind history FOLDER.", *notes))
        raise IncompleteError(f"{path}: no commit on this branch has this file, so it has no history. {more}")
    return History((_version(place, *commit) for commit in reversed(commits)), notes)


def latest_commit(path: Path) -> str:
    """The commit that is checked out where `path` lies, "" where git cannot say: while it is the same, so is `committed`."""
    try:
        return _git(path.absolute().parent, "rev-parse", "HEAD").decode().strip()
    except UsageError:
        return ""


def _commits(parts: list[str]) -> Iterator[tuple[str, str, str, str]]:
    """Of what git log wrote: commit, day, subject and the file's path, the newest first."""
    path, at = "", 0
    while at + 2 < len(parts):
        head = _HASH.fullmatch(parts[at])
        if not head:  # the end of a list of names
            at += 1
            continue
        day, subject = parts[at + 1 : at + 3]
        at += 3
        if at < len(parts) and parts[at].startswith("\n"):
            path = parts[at][1:]
            at += 1
        yield head[1], day, subject, path


def _version(place: Path, commit: str, day: str, subject: str, path: str) -> Version:
    name = commit[:SHORT]
    try:
        data = _git(place, "cat-file", "blob", f"{commit}:{path}")
    except UsageError:
        return Version(day, name, subject, None, f"{path} is not in this commit")
    record, fault = _read(data)
    return Version(day, name, subject, record, fault or ("" if record else "it is no record of a run"))


def _read(data: bytes) -> tuple[Record | None, str]:
    """The record, and why there is none; neither where the file was never meant for one."""
    try:
        return record_in(data), ""
    except FieldError as fault:
        told = str(fault).rstrip(".")
        return None, f"it {told}" if told.startswith("is ") else told


def _git(place: Path, *arguments: str) -> bytes:
    """What git says in the folder `place`. Raises UsageError."""
    command = ["git", "-c", "i18n.logOutputEncoding=UTF-8", "--literal-pathspecs", *arguments]
    quiet = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(  # noqa: S603 - a path behind "--" and commits are all that is handed on
            command, cwd=place, capture_output=True, timeout=GIT_SECONDS, env=os.environ | quiet, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"git cannot be asked for the versions: {error}. {_ELSE}") from error
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise UsageError(f"{place}: git has no versions to tell of: {told}. {_ELSE}")
    return done.stdout


def kept(folder: Path) -> History:
    """The records in `folder` and below it, by the time of their files: every *.json that was meant for one, and what is no
    JSON any more. Raises StorageError where there is no such folder, IncompleteError where no record is in it."""
    if not folder.is_dir():
        raise StorageError(
            f"{folder}: there is no such folder. Name one that holds records of runs, such as latest.json."
        )
    timed = sorted((path.stat().st_mtime_ns, path) for path in folder.rglob("*.json") if path.is_file())
    versions = (found for time, path in timed if (found := _kept(folder, path, time)))
    first = next(versions, None)
    if first is None:
        raise IncompleteError(f"{folder}: holds no record. A run writes one: docmind eval --out {folder}")
    return History(chain([first], versions))


def _kept(folder: Path, path: Path, time: int) -> Version | None:
    day = datetime.fromtimestamp(time / 1e9, UTC).strftime("%Y-%m-%d")
    name = path.relative_to(folder).as_posix()
    try:
        data = read_whole(path)
    except OSError as error:
        return Version(day, name, "", None, f"it cannot be read: {error.strerror}")
    record, fault = _read(data)
    return Version(day, name, "", record, fault) if record or fault else None
