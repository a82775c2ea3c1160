"""Posts what a finished workflow run found to its pull request: one comment for each name, edited in place ever after.

It runs with a token that may write, so it uses the standard library alone, takes the pull request from GitHub and never
from the folder it is given, and reads that folder's files as text. Whoever opened the pull request may have written that
text: above it stands what GitHub says of the run, and nothing in it mentions, commands, loads or links to another place.
They choose the names too, and with them at most which of the comments on their own pull request this is.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

FILES = ("latest.comment.md", "latest.answers.comment.md")
"""Of retrieval and of answers; either may be missing."""

NAME = re.compile(r"[a-z0-9-]{1,40}")
"""What a comment may be called: a folder of that name holds its text."""

MOST = 10
"""Comments on one pull request."""

MARKER = re.compile(rf"<!-- docmind:{NAME.pattern} -->")
"""How each of them begins, with its name."""

AUTHOR = ("github-actions[bot]", "Bot")
"""Login and type of the user that a workflow's own token writes as."""

LIMIT = 65_536
"""Characters that GitHub takes as a comment."""

TRIES = 5
LONGEST_WAIT = 120
"""Seconds. Whoever asks for more is not waited for: the job would only hold a machine."""
TIMEOUT = 30


class GivenUpError(Exception):
    """Nothing was posted, and it should have been."""


class LeftError(Exception):
    """Nothing was posted, and that is in order."""


@dataclass(frozen=True, slots=True)
class Api:
    """GitHub's REST API, at `url`. Raises HTTPError, OSError or HTTPException as urllib does."""

    url: str
    token: str

    def call(self, method: str, url: str, payload: Mapping[str, str] | None = None) -> tuple[Any, str | None]:
        """The reply, and the URL of its next page if there is one."""
        data = None if payload is None else json.dumps(payload).encode()
        request = Request(url, data, method=method)  # noqa: S310, the runner gives the URL
        request.add_header("Accept", "application/vnd.github+json")
        request.add_header("X-GitHub-Api-Version", "2022-11-28")
        request.add_header("User-Agent", "docmind")
        request.add_unredirected_header("Authorization", f"Bearer {self.token}")
        with urlopen(request, timeout=TIMEOUT) as reply:  # noqa: S310
            following = re.search(r'<([^>]+)>; rel="next"', reply.headers.get("Link", ""))
            return json.load(reply), following and following[1]

    def pages(self, path: str, **query: str) -> Iterator[dict[str, Any]]:
        """What a list holds, over all its pages."""
        following: str | None = f"{self.url}{path}?{urlencode({**query, 'per_page': '100'})}"
        while following:
            found, following = self.call("GET", following)
            yield from found


def main(arguments: Sequence[str], environ: Mapping[str, str], sleep: Callable[[float], None] = time.sleep) -> int:
    """Post the files of the folder that `arguments` names, and return the exit code: 0 posted, or rightly not; 1 not all."""
    given_up = False
    try:
        run = json.loads(Path(environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))["workflow_run"]
        repository, own = (
            environ["GITHUB_REPOSITORY"],
            f"{environ['GITHUB_SERVER_URL']}/{environ['GITHUB_REPOSITORY']}/blob/",
        )
        api = Api(environ["GITHUB_API_URL"], environ["GITHUB_TOKEN"])
        for name in names(Path(*arguments)):
            try:
                body = compose(name, reports(Path(*arguments) / name), run, own)
                _say(_patiently(partial(publish, api, repository, run, name, body), sleep))
            except GivenUpError as reason:  # of this one; the others are posted
                _say(f"::error::No comment {name} was posted: {reason}")
                given_up = True
    except LeftError as reason:
        _say(f"::warning::No comment was posted: {reason}")
    except GivenUpError as reason:
        _say(f"::error::No comment was posted: {reason}")
        return 1
    except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        # The event, or a reply through a proxy, is not what GitHub documents.
        told = " ".join(f"{type(error).__name__}: {error}".split())
        _say(f"::error::No comment was posted: the event or a reply has not the form expected ({told}).")
        return 1
    return int(given_up)


def names(folder: Path) -> list[str]:
    """Those that the run left a folder for. Another name is never shown: it could be a command to this job's log."""
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if not found:
        raise LeftError("the run left no text. Its log says why.")
    if not all(map(NAME.fullmatch, found)):
        raise GivenUpError("a name is not of a-z, 0-9 and -, 40 characters at most.")
    if len(found) > MOST:
        raise GivenUpError(f"the run has {len(found)} names. One pull request gets {MOST} comments at most.")
    return found


def reports(folder: Path) -> list[str]:
    """The texts in `folder`, of retrieval first."""
    if folder.is_symlink() or not folder.is_dir():
        raise GivenUpError("it is no folder.")
    found = [text for name in FILES if (text := read(folder / name)) is not None]
    if not found:
        raise GivenUpError(f"the run left no {FILES[0]}. Its log says why.")
    return found


def read(path: Path) -> str | None:
    """The text of `path`, which the pull request's own code has written; None where there is no such file."""
    if path.is_symlink():  # could name any file of this machine, and its contents would be published
        raise GivenUpError(f"{path.name} is a link. Only a file is read.")
    if not path.is_file():
        return None
    with path.open("rb") as file:
        found = file.read(4 * LIMIT + 1)  # a character has four bytes at most
    if len(found) > 4 * LIMIT:
        raise GivenUpError(f"{path.name} is longer than the {LIMIT:,} characters of a comment.")
    try:
        return found.decode()
    except UnicodeDecodeError as error:
        raise GivenUpError(f"{path.name} is not UTF-8: {error.reason} at byte {error.start}.") from None


def compose(name: str, reports: Sequence[str], run: Mapping[str, Any], own: str) -> str:
    """The comment: the marker, how the run ended and which it is as GitHub says, first, where no report can hide it; then the
    reports with nothing in them that does anything. Links to addresses that begin with `own` stay."""
    ended = str(run["conclusion"]).replace("_", " ")
    body = (
        f"<!-- docmind:{name} -->\n**{name}: the checks of this pull request ended with: {ended}.** Below is what its own files "
        f"report. [The run of {run['head_sha'][:7]}]({run['html_url']}) has the full report.\n\n"
        + "\n".join(inert(report, own) for report in reports)
    )
    if len(body) > LIMIT:
        raise GivenUpError(f"the comment would have {len(body):,} characters. GitHub takes {LIMIT:,}.")
    return body


GAP = "\u200b"
"""Takes no room, and parts what GitHub would take for a mention or an address."""

INERT = (
    (r"&(?!(?:amp|lt|gt);)", "&amp;"),  # an entity may stand for any of the characters below
    (r"<(?!/?(?:details|summary)>)", "&lt;"),
    (r"!(?=\[)", rf"\g<0>{GAP}"),
    (r"\](?=[(:])", rf"\g<0>{GAP}"),
    (r":(?=//)|(?i:(?<=ww)w)(?=\.)", rf"\g<0>{GAP}"),
    (r"(?<![A-Za-z0-9])@(?=\w)|@(?=[\w-]+\.\w)|#(?=\d)|\b[Gg][Hh]-(?=\d)", rf"\g<0>{GAP}"),
    (r"(?m)^[ >*+.\d-]*(?=/)", rf"\g<0>{GAP}"),  # a bot's command begins a line
    # Of headings the first line may be one; others stand in quotes and lists too.
    (r"(?m)(?<=\n)([ >*+.)\d-]*?)(?=#{1,6}(?: |$)|=+ *$|-+ *$)", rf"\1{GAP}"),
)
"""What in a report does something, and what stands there instead. A report that DocMind wrote looks the same afterwards."""


def inert(report: str, own: str) -> str:
    """The report with its words, tables and folds, and no tag, image, mention, command, further heading, or link elsewhere."""
    seen = "".join(c if c in f"\n{GAP}" or c.isprintable() else " " for c in report)
    parts, done = [], 0
    for link in re.finditer(rf"(?<!\\)\[(?:[^\[\]\\\n]|\\.)*(\]\({re.escape(own)}[^\s()]*\))", seen):
        parts += [seen[done : link.start(1)], link[1]]
        done = link.end(1)
    parts.append(seen[done:])
    for n in range(0, len(parts), 2):  # between the links that stay
        for pattern, instead in INERT:
            parts[n] = re.sub(pattern, instead, parts[n])
    return "".join(parts)


def publish(api: Api, repository: str, run: Mapping[str, Any], name: str, body: str) -> str:
    """Edit the comment of that name of an earlier run, or post the first one, and say which. Done again, it does no harm."""
    number = pull_request(api, repository, run)
    comments = api.pages(f"/repos/{repository}/issues/{number}/comments")  # the oldest first
    ours = 0
    for comment in filter(_is_ours, comments):
        if comment["body"].startswith(f"<!-- docmind:{name} -->"):
            api.call("PATCH", f"{api.url}/repos/{repository}/issues/comments/{comment['id']}", {"body": body})
            return f"Edited the comment {name} of pull request {number}."
        ours += 1
    if ours >= MOST:
        raise GivenUpError(f"pull request {number} has {ours} comments of other names. It gets {MOST} at most.")
    api.call("POST", f"{api.url}/repos/{repository}/issues/{number}/comments", {"body": body})
    return f"Posted {name} to pull request {number}."


def pull_request(api: Api, repository: str, run: Mapping[str, Any]) -> int:
    """The number of the one open pull request whose head is the commit that was run."""
    head = run["head_repository"]
    if head is None:
        raise LeftError("the fork is gone.")
    branch = f"{head['owner']['login']}:{run['head_branch']}"
    found = [
        pull
        for pull in api.pages(f"/repos/{repository}/pulls", state="open", head=branch)
        if pull["head"]["label"] == branch  # GitHub takes no notice of a filter that it does not understand
    ]
    if not found:
        raise LeftError(f"there is no open pull request from {branch}.")
    current = [pull["number"] for pull in found if pull["head"]["sha"] == run["head_sha"]]
    if not current:
        raise LeftError(f"{branch} has moved on from {run['head_sha']}; the run of its newest commit will comment.")
    if len(current) > 1:
        raise LeftError(f"{branch} has pull requests {current}, and the run does not tell which it was for.")
    return int(current[0])


def _is_ours(comment: Mapping[str, Any]) -> bool:
    """Whether it is of any name."""
    user = comment["user"] or {}  # null: the account was deleted
    return (user.get("login"), user.get("type")) == AUTHOR and MARKER.match(comment["body"] or "") is not None


def _patiently(publish: Callable[[], str], sleep: Callable[[float], None]) -> str:
    """Begin `publish` again from its start where GitHub is not well: a request that seemed to fail may have been kept."""
    for wait in [*(2.0**n for n in range(TRIES - 1)), None]:
        try:
            return publish()
        except HTTPError as error:
            told = f"GitHub answered {error.code}: {_message(error)}"
            asked = _asked(error, told)
            if error.code == 403 and asked is None:
                raise LeftError(
                    f"{told}. The token may not write here; the verdict and the job's summary stand."
                ) from None
            if asked is None and error.code != 429 and error.code < 500:
                raise GivenUpError(told) from None
            least = asked or 0.0
        except (OSError, HTTPException) as error:
            told, least = f"GitHub could not be reached: {error}", 0.0
        if wait is None or least > LONGEST_WAIT:
            break
        _say(f"{told}. Trying again.")
        sleep(max(wait, least))
    raise GivenUpError(f"{told}. Run this job again later.")


def _asked(error: HTTPError, told: str) -> float | None:
    """Seconds that GitHub wants to be left alone, None where it says nothing of it.

    https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
    """
    if (after := error.headers.get("Retry-After", "")).isdigit():
        return float(after)
    reset = error.headers.get("X-RateLimit-Reset", "")
    if error.headers.get("X-RateLimit-Remaining") == "0" and reset.isdigit():
        return max(0.0, float(reset) - time.time())
    return 60.0 if error.code in (403, 429) and "rate limit" in told else None


def _message(error: HTTPError) -> str:
    """What GitHub says of it, on one line."""
    try:
        with error:
            return " ".join(str(json.load(error)["message"]).split())
    except (ValueError, KeyError, TypeError):  # a proxy's page
        return error.reason


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
