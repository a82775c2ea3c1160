"""Downloads a second corpus for those who have a network: pages of the GitLab Handbook, at one commit.

Pages are kept byte for byte as GitLab has them. The corpus loader cleans them when it reads them, as it does any other
page: so there is one cleaning, a better one needs no new download, and the lock's checksums can be held against the source.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from urllib.parse import quote

import httpx
from rich.console import Console
from rich.progress import Progress

from docmind.corpus import FORMATS, LEFT_OUT
from docmind.errors import CorpusError, DocMindError, StorageError, UsageError
from docmind.files import check_writable, write_atomic

PROJECT = "gitlab-com/content-sites/handbook"
COMMIT = "29350f82"

PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds before the second to the fifth try."""
LONGEST_WAIT = 300
"""Seconds. Whoever asks for more is not waited for: the next run goes on from what is kept."""
TIMEOUT = 30

RECORD = ".checksums"
"""In the folder, the checksums of what was fetched so far; a lock that is not full yet."""

LOCK_HEAD = (
    "# SHA-256 of pages of the GitLab Handbook, by scripts/fetch_corpus.py.\n"
    "# Check in the folder of pages: sha256sum --check this file.\n"
)
NOTICE = """# Notice

The pages of this folder are part of the GitLab Handbook, by GitLab and its contributors, licensed under Creative Commons
Attribution-ShareAlike 4.0 International (CC BY-SA 4.0): https://creativecommons.org/licenses/by-sa/4.0/

- Source: https://gitlab.com/{project}
- Commit: {commit}
- Changes: none. A selection of its pages, each byte for byte, at its path in the source.

DocMind downloaded them to measure retrieval. GitLab does not endorse DocMind.
"""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Checksums:
    """The SHA-256, in hex, of pages at `commit`, by their paths. "" is the commit of no pages."""

    commit: str
    pages: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> Checksums:
        """Those in `path`; none where there is no such file. Raises StorageError where it is damaged."""
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return cls("", {})
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(f"{path} cannot be read: {error}. Restore it, or remove it to write it anew.") from error
        commit, pages = "", {}
        for number, line in enumerate(lines, 1):
            if told := re.fullmatch(r"# commit ([0-9a-f]{40})", line):
                commit = told[1]
            elif page := re.fullmatch(r"([0-9a-f]{64})  (.+)", line):
                pages[page[2]] = page[1]
            elif not line.startswith("#"):
                raise StorageError(
                    f"{path}:{number}: {line!r} is no checksum, two blanks and a path. "
                    "Restore the file, or remove it to write it anew."
                )
        if not commit:
            raise StorageError(f'{path} has no line "# commit …". Restore it, or remove it to write it anew.')
        return cls(commit, pages)

    def text(self) -> str:
        """The file's text, sorted by path, as `read` and sha256sum take it."""
        lines = [f"{checksum}  {page}\n" for page, checksum in sorted(self.pages.items())]
        return "".join([LOCK_HEAD, f"# commit {self.commit}\n", *lines])


@dataclass(frozen=True, slots=True)
class GitLab:
    """What is asked of GitLab's API v4. `client` has the project as its base URL, and the token if there is one."""

    client: httpx.Client
    tell: Tell
    sleep: Callable[[float], None]

    def commit(self) -> str:
        """The full id of COMMIT."""
        reply = self._get(f"commit {COMMIT}", f"repository/commits/{COMMIT}")
        try:
            found = str(reply.json()["id"])
        except (ValueError, KeyError, TypeError):
            found = ""
        if not re.fullmatch(rf"{COMMIT}[0-9a-f]{{32}}", found):
            raise CorpusError(
                f"commit {COMMIT}: {self.client.base_url} does not know it (status {reply.status_code}). Check --url."
            )
        return found

    def page(self, path: str, commit: str) -> bytes | None:
        """The bytes of a page, and None where the commit does not have it."""
        reply = self._get(path, f"repository/files/{quote(path, safe='')}/raw?ref={commit}")
        return reply.content if reply.status_code == 200 else None

    def _get(self, what: str, url: str) -> httpx.Response:
        """The reply, of status 200 or 404. Whatever passes by itself is tried again; else CorpusError, with `what`."""
        for pause in (*PAUSES, None):
            asked = 0
            try:
                reply = self.client.get(url)
            except httpx.RequestError as error:
                told = f"{what}: {self.client.base_url.host} cannot be reached ({error or type(error).__name__})"
                remedy = "Check the network"
            else:
                status = reply.status_code
                if status in {200, 404}:
                    return reply
                told = f"{what}: GitLab answers {status} {reply.reason_phrase}".rstrip()
                if status in {401, 403}:
                    raise CorpusError(f"{told}. Unset GITLAB_TOKEN, or set one that may read the project's files.")
                if status != 429 and status < 500:
                    raise CorpusError(f"{told}, and 200 was expected. Check --url.")
                remedy = "Wait a while"
                retry_after = reply.headers.get("Retry-After", "")
                asked = int(retry_after) if retry_after.isdecimal() else 0  # GitLab tells seconds, never a date
            if pause is None:
                told += f", at the last of {len(PAUSES) + 1} tries"
                break
            if asked > LONGEST_WAIT:
                told += f" and wants {asked:,} s of patience"
                break
            wait = max(pause, asked)
            self.tell(f"{told}. Trying again in {wait:.0f} s.")
            self.sleep(wait)
        raise CorpusError(f"{told}. {remedy}, and run this again: it goes on from what was fetched.")


def read_manifest(path: Path) -> dict[str, int]:
    """The pages that `path` names, with their lines. Raises UsageError where a line is no page below the folder."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"manifest {path} cannot be read: {error}. Name a text file: --manifest FILE.") from error
    pages: dict[str, int] = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        page = PureWindowsPath(line)  # knows drives and both kinds of slashes; other systems' paths are fewer
        hidden = any(part.startswith(".") for part in page.parts)
        odd = page.anchor or hidden or page.as_posix() != line or not line.isprintable()
        if odd or line in LEFT_OUT or page.suffix.lower() not in FORMATS:
            raise UsageError(
                f"{path}:{number}: {line!r} is no page that can be fetched. Expected is a path below the project such as "
                f"content/handbook/finance/expenses.md: relative, slashes forward, printable, no name that begins with a dot, "
                f"{' or '.join(FORMATS)} at its end, and not {' or '.join(LEFT_OUT)}. Mend the line."
            )
        pages.setdefault(line, number)
    if not pages:
        raise UsageError(f"manifest {path} names no page. Write one path a line.")
    return pages


def fetch(gitlab: GitLab, out: Path, manifest: Path, lock: Path, console: Console) -> str:
    """Bring the manifest's pages into `out`, lock them if they were not, and say what was done.

    A page is kept as soon as it is whole, with its checksum in RECORD. The lock is written once all are there. It
    gains and loses pages as the manifest does, but never lets another page in for one that it holds.
    """
    pages = read_manifest(manifest)
    locked = Checksums.read(lock)
    if locked.commit and not locked.commit.startswith(COMMIT):
        raise StorageError(
            f"{lock} is of commit {locked.commit}, and {COMMIT} is fetched. Remove it to lock what is fetched."
        )
    for folder in (out, lock.parent):
        check_writable(folder)
    commit = locked.commit or gitlab.commit()
    record = Checksums.read(out / RECORD)
    known = {**(record.pages if record.commit == commit else {}), **locked.pages}
    done = {page: known[page] for page in pages if page in known and _checksum(out / page) == known[page]}
    wanted = [page for page in pages if page not in done]
    write_atomic({out / "NOTICE.md": NOTICE.format(project=PROJECT, commit=commit)})

    missing = []
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        for page in progress.track(wanted, description="fetching pages"):
            content = gitlab.page(page, commit)
            if content is None:
                missing.append(page)
                continue
            done[page] = hashlib.sha256(content).hexdigest()
            if done[page] != locked.pages.get(page, done[page]):
                raise CorpusError(
                    f"{page}: its SHA-256 is {done[page]}, and {lock} holds {locked.pages[page]}. Nothing was "
                    "overwritten. Check --url; if this page is wanted all the same, remove its line from the lock."
                )
            write_atomic({out / page: _text(page, content), out / RECORD: Checksums(commit, done).text()})
    if missing:
        lines = "".join(f"\n  {manifest}:{pages[page]}: {page}" for page in missing)
        raise CorpusError(
            f"{len(missing)} of {len(pages)} pages are not in commit {commit} (404):{lines}\n"
            "Mend or remove these lines, and run this again; the other pages are kept."
        )
    if done != locked.pages:
        write_atomic({lock: Checksums(commit, done).text()})
    for page in sorted(_found(out) - pages.keys()):
        gitlab.tell(
            f"{out / page} is not in {manifest}, and belongs to the corpus all the same. Remove it if it should not."
        )
    return f"{len(pages)} pages are in {out}: {len(wanted)} fetched, {len(pages) - len(wanted)} there already."


def _text(page: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise CorpusError(f"{page}: {error}. A page is UTF-8; remove its line from the manifest.") from error


def _checksum(path: Path) -> str | None:
    """The SHA-256 of a file, and None where there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}. Make it readable, or remove it.") from error


def _found(out: Path) -> set[str]:
    """The pages in `out`, by their paths below it."""
    files = (path for path in out.rglob("*") if path.suffix.lower() in FORMATS and path.is_file())
    return {path.relative_to(out).as_posix() for path in files}.difference(LEFT_OUT)


def _address(url: str) -> str:
    """The project's base URL at `url`. Raises UsageError, which does not quote it: it may hold a password."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL()
    if parsed.scheme not in {"http", "https"} or not parsed.host or parsed.userinfo or parsed.query or parsed.fragment:
        raise UsageError("--url is no address of the form https://gitlab.com without a user, a password or a query.")
    return f"{url.rstrip('/')}/api/v4/projects/{quote(PROJECT, safe='')}/"


def _headers(environ: Mapping[str, str]) -> dict[str, str]:
    """Of every request. Raises UsageError for a token that no header can hold: the error of httpx would quote it."""
    token = environ.get("GITLAB_TOKEN", "").strip()
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise UsageError("GITLAB_TOKEN holds a blank or a character that no token has. Copy it again, or unset it.")
    return {"User-Agent": "docmind"} | ({"PRIVATE-TOKEN": token} if token else {})


def main(arguments: Sequence[str], environ: Mapping[str, str], sleep: Callable[[float], None] = time.sleep) -> int:
    """Fetch as `arguments` say, and return the exit code: 0, 2 for an error, 130 interrupted."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="A token is optional: GITLAB_TOKEN, from the environment."
    )
    parser.add_argument("--out", type=Path, default=Path("corpus-gitlab"), help="the folder of pages: %(default)s")
    parser.add_argument(
        "--manifest", type=Path, default=Path("eval/gitlab_handbook.txt"), help="the pages wanted: %(default)s"
    )
    parser.add_argument(
        "--lock", type=Path, default=Path("eval/gitlab_handbook.lock"), help="their checksums: %(default)s"
    )
    parser.add_argument("--url", default="https://gitlab.com", help="where the API is: %(default)s")
    options = parser.parse_args(arguments)
    console = Console(stderr=True, markup=False, highlight=False, soft_wrap=True)
    try:
        # Redirects are not followed: httpx would hand the token on to wherever they lead.
        with httpx.Client(base_url=_address(options.url), headers=_headers(environ), timeout=TIMEOUT) as client:
            gitlab = GitLab(client, console.print, sleep)
            console.print(fetch(gitlab, options.out, options.manifest, options.lock, console))
    except DocMindError as error:
        console.print(f"error: {error}", style="red")
        return error.exit_code
    except KeyboardInterrupt:
        console.print("interrupted; what was fetched is kept, and the next run goes on from there")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
