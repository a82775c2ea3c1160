"""What lies in a folder of pages: which of its files are pages, why others are left out, and what is wrong. It reads none."""

from __future__ import annotations

import errno
import glob
import re
import shlex
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from docmind.errors import CorpusError
from docmind.text import nfc

_SURROGATE = re.compile("[\ud800-\udfff]")

LEFT_OUT = ("NOTICE.md", "README.md")
"""Pages at the top of the folder that tell of the corpus and are no part of it."""

TOLD = 20
"""How many faults one error tells; of the rest it gives the number."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a page or a folder, in a sentence that names it; `page` is its path below the corpus."""

    page: str
    message: str


@dataclass(slots=True)
class Folder:
    """What lies below a folder, by id: the path below it with forward slashes, NFC as all text is, however the file system
    writes it. `pages` are of one of `suffixes`; `left_out` says why the others are not, and folders that were not looked
    into; `unread` counts by suffix the files that nothing reads."""

    suffixes: Collection[str]
    patterns: tuple[str, ...]
    pages: dict[str, Path] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)

    def why_left_out(self, page: str) -> str:
        """Why there is no document `page`, without a full stop; "" where nothing is known of it."""
        parts = PurePosixPath(page).parts
        above = ("/".join(parts[:n]) for n in range(1, len(parts) + 1))
        return next((self.left_out[each] for each in above if each in self.left_out), "")

    def _look(self, folder: Path, prefix: str, above: tuple[Path, ...]) -> None:
        """Into `folder`. `above` are the folders it lies in, itself included, resolved."""
        try:
            entries = sorted(folder.iterdir())
        except OSError as error:
            self.faults.append(Fault(prefix.rstrip("/"), f"folder {folder} cannot be read ({error.strerror})."))
            return
        for path in entries:
            self._sort(path, prefix + nfc(path.name), above)

    def _by_name(self, page: str) -> str:
        """Why what is named so is left out, "" where it is not."""
        if page in LEFT_OUT:
            return "it is left out, since it tells of the corpus"
        if pattern := next((pattern for pattern in self.patterns if fnmatchcase(page, pattern)), ""):
            return f"it is left out by the pattern {pattern!r} of --exclude"
        hidden = page.rpartition("/")[2].startswith(".")
        return "it is left out, as all is whose name begins with a dot" if hidden else ""

    def _sort(self, path: Path, page: str, above: tuple[Path, ...]) -> None:
        if why := self._by_name(page):
            self.left_out[page] = why
            return
        if _SURROGATE.search(page):
            self.faults.append(Fault(page, f"the name of {page!r} is not UTF-8."))
            return
        suffix = path.suffix.lower()
        try:
            mode = path.stat().st_mode
        except OSError as error:
            if error.errno == errno.ELOOP:
                self.faults.append(Fault(page, f"{path} is a link that leads back to itself."))
            elif suffix in self.suffixes:
                self.faults.append(Fault(page, f"{path} cannot be read ({error.strerror})."))
            return
        if stat.S_ISDIR(mode):
            target = path.resolve()
            if target in above:
                self.faults.append(Fault(page, f"{path} is a link to {target}, which it lies in: a circle."))
            else:
                self._look(path, f"{page}/", (*above, target))
        elif not stat.S_ISREG(mode):
            self.left_out[page] = "it is no file that can be read"
        elif suffix not in self.suffixes:
            self.left_out[page] = (
                f"it is there, but {suffix or 'a file without a suffix'} is not read; {', '.join(self.suffixes)} are"
            )
            self.unread[suffix] += 1
        elif page in self.pages:
            self.faults.append(Fault(page, f"two files are named {page!r}, in other code points: rename {path}."))
        else:
            self.pages[page] = path


def look(root: Path, suffixes: Collection[str], exclude: Sequence[str] = ()) -> Folder:
    """What lies below `root`, at any depth. Left out are LEFT_OUT, whatever begins with a dot, and every page or folder whose
    path matches a pattern of `exclude` (as in a shell, `*` matching slashes too). Links are followed. Raises CorpusError
    where there is no such folder."""
    try:
        is_folder = stat.S_ISDIR(root.stat().st_mode)
    except OSError as error:
        what = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        raise CorpusError(f"corpus {root} {what}. Name a folder of pages: --corpus DIR.") from error
    if not is_folder:
        raise CorpusError(f"corpus {root} is no folder. Name a folder of pages: --corpus DIR.")
    found = Folder(suffixes, tuple(nfc(pattern) for pattern in exclude))
    found._look(root, "", (root.resolve(),))
    return found


def summary(root: Path, faults: Iterable[Fault]) -> str:
    """All that is wrong with a corpus, in one message that ends with how to leave it out."""
    ordered = sorted(faults, key=lambda fault: fault.page)
    shown = ordered[:TOLD]
    more = [f"and {len(ordered) - TOLD} more"] if len(ordered) > TOLD else []
    patterns = (_SURROGATE.sub("?", glob.escape(fault.page)) for fault in shown if fault.page)
    options = " ".join(f"--exclude {shlex.quote(pattern)}" for pattern in patterns)
    remedy = f"Mend what is wrong, or leave it out: {options}" if options else "Mend what is wrong."
    if len(ordered) == 1:
        return f"{shown[0].message} {remedy}"
    return "\n".join(
        [f"corpus {root}: faults in the documents: {len(ordered)}", *(fault.message for fault in shown), *more, remedy]
    )
