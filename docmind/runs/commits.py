"""Files as a commit of the current folder's repository holds them, read by git's plumbing. Nothing is checked out or written."""

from __future__ import annotations

import os
import re
import reprlib
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from docmind.errors import StorageError, UsageError
from docmind.files import MOST_BYTES

GIT_SECONDS = 60
"""That git has for one answer: a partial clone may have to fetch a file first."""

_REF = re.compile(r"(?![-.])(?!.*(\.\.|@\{|//))[^\x00-\x20\x7f~^:?*\[\\]{1,250}([~^][0-9]{0,6}){0,10}")
"""The name of a branch, a tag or a commit as git allows them (git check-ref-format), and ancestors of it, such as HEAD^1."""

_POINTER = b"version https://git-lfs.github.com/spec/"
_LINK, _SUBMODULE = "120000", "160000"


@dataclass(frozen=True, slots=True)
class Commit:
    """The commit `id`, a hash, that was asked for as `ref`, in the repository whose files begin at `root`."""

    ref: str
    id: str
    root: Path

    @classmethod
    def of(cls, ref: str) -> Commit:
        """Raises UsageError where `ref` is no name of a commit or names none that is there, StorageError where there is no
        git or no repository."""
        if not (_REF.fullmatch(ref) and ref.isprintable()):
            raise UsageError(
                f"--base {reprlib.repr(ref)} was given; expected: a branch, a tag or a commit, such as origin/main or HEAD^1."
            )
        try:
            root = _git("rev-parse", "--show-toplevel").rstrip(b"\n")
        except _GitError as error:
            raise StorageError(
                f"--base {ref}: the current folder is in no git repository that can be read ({error}). Run in a clone of "
                "your own (git config --global --add safe.directory FOLDER says of another's that it may be read), or judge "
                "without --base."
            ) from error
        try:
            found = _git("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").decode().strip()
        except _GitError as error:
            raise UsageError(f"--base {ref}: there is no such commit here. {_remedy(ref)}") from error
        return cls(ref, found, Path(os.fsdecode(root)))

    @property
    def told(self) -> str:
        """What it is called in words."""
        short = self.id[:12]
        return short if self.ref in (self.id, short) else f"{self.ref} ({short})"

    def named(self, path: Path) -> str:
        """What the file at `path` is called in this commit, as git names it. Raises UsageError where it lies elsewhere."""
        return f"{self.ref}:{self._inside(path)}"

    def read(self, path: Path) -> bytes | None:
        """What stands at `path` in this commit, None where nothing does. Raises StorageError where that is no file of its own
        or cannot be read, UsageError where `path` lies outside of the repository."""
        inside = self._inside(path)
        name = f"{self.ref}:{inside}"
        found = self._entry(inside, name)
        if found is None:
            return None
        kind, blob, size = found
        if kind != "blob":
            raise StorageError(f"{name}: is a folder, a file was expected. Name the file.")
        if size.isdigit() and int(size) > MOST_BYTES:
            raise StorageError(f"{name}: it has more than {MOST_BYTES:,} bytes. Name another file.")
        try:
            text = _git("cat-file", "blob", blob)
        except _GitError as error:
            raise StorageError(f"{name}: cannot be read from git ({error}). Fetch it: git fetch origin.") from error
        if text.startswith(_POINTER):
            raise StorageError(
                f"{name}: is a pointer of Git LFS, which keeps the file elsewhere. Keep the file itself in git, so that a "
                f"commit holds what it judges by: git lfs untrack {inside}."
            )
        return text

    def _inside(self, path: Path) -> PurePosixPath:
        """`path` from the root. No link of the tree is followed: whoever changes the tree would choose what is read."""
        whole = Path(os.path.normpath(Path.cwd() / path))
        roots = [
            self.root,
            *(folder for folder in reversed(whole.parents) if os.path.realpath(folder) == str(self.root)),
        ]
        for root in roots:
            if whole.is_relative_to(root):
                return PurePosixPath(whole.relative_to(root).as_posix())
        raise UsageError(
            f"{path}: lies outside of the repository {self.root}, so that {self.ref} does not hold it. Name a file in it, or "
            "judge without --base."
        )

    def _entry(self, inside: PurePosixPath, name: str) -> tuple[str, str, str] | None:
        """Kind, hash and size of what stands there. Each folder on the way is asked: below a link git finds nothing,
        which is no missing file."""
        for place in (*[p for p in reversed(inside.parents) if p.parts], inside):
            try:
                listed = _git("ls-tree", "-z", "-l", "--full-tree", self.id, "--", str(place)).decode(
                    "utf-8", "replace"
                )
            except _GitError as error:
                raise StorageError(f"{name}: cannot be read from git ({error}). Fetch it: git fetch origin.") from error
            if not listed:
                return None
            mode, kind, blob, size = listed.partition("\t")[0].split()
            for odd, what in ((_LINK, "a symbolic link"), (_SUBMODULE, "a submodule")):
                if mode == odd:
                    raise StorageError(
                        f"{name}: {place} is {what} there, which is not followed. Keep the file itself at that place, or name "
                        "where it is."
                    )
        return kind, blob, size


class _GitError(Exception):
    """What git says where it ends with an error."""


def _git(*arguments: str) -> bytes:
    """What git prints. Raises _GitError, and StorageError where there is no git or it does not end."""
    asked = {
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    try:
        return subprocess.run(  # noqa: S603 - a list, no shell, and no argument that could be an option
            ["git", *arguments],  # noqa: S607 - the git that the user has
            capture_output=True,
            timeout=GIT_SECONDS,
            check=True,
            env=os.environ | asked,
        ).stdout
    except FileNotFoundError as error:
        raise StorageError(
            "--base reads from git, and there is no git here. Install it, or judge without --base."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise StorageError(f"git {arguments[0]} did not end within {GIT_SECONDS} seconds. Try it by hand.") from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").split("\n")[0].strip()
        raise _GitError(said.removeprefix("fatal: ") or f"git {arguments[0]} ended with {error.returncode}") from error
    except OSError as error:
        raise StorageError(f"git cannot be run: {error.strerror}. Mend that, or judge without --base.") from error


def _remedy(ref: str) -> str:
    """How a commit that is missing comes here."""
    try:
        shallow = _git("rev-parse", "--is-shallow-repository").strip() == b"true"
    except _GitError:
        shallow = False
    if shallow:
        return (
            "This clone is shallow: fetch more of it (fetch-depth: 2 of actions/checkout for the base of a pull request, or "
            "git fetch --deepen=1)."
        )
    remote, _, branch = ref.rpartition("/")
    return f"Fetch it (git fetch {remote or 'origin'} {branch}), or name another: git branch --all lists them."
