"""Replies in a file, so that a run needs no running service: written by one run, and what answers in another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from docmind.errors import IncompleteError, StorageError
from docmind.files import read_whole, write_atomic
from docmind.foreign.declared import Declared
from docmind.foreign.reading import loads
from docmind.foreign.reading import reply as read_reply
from docmind.foreign.reply import Asked, Passage, Reply, ReplyError

SCHEMA = "docmind.replies/1"

ANEW = "Record anew: docmind eval --record FOLDER."


def recording(folder: Path, slug: str) -> Path:
    """Where the replies of a strategy are kept."""
    return folder / f"{slug}.replies.jsonl"


def write(path: Path, strategy: str, declared: Declared, replies: Mapping[Asked, Reply], errors: int) -> None:
    """Write `replies` to `path`, whole or not at all. Raises IncompleteError where `errors` questions have none, StorageError
    where it cannot be written."""
    if errors:
        raise IncompleteError(
            f"{strategy}: nothing was recorded, since {errors} questions ended in an error; a recording holds a reply to each. "
            "Mend what the errors name and run again."
        )
    body = "".join(json.dumps(_line(asked, reply)) + "\n" for asked, reply in replies.items())
    head = {
        "schema": SCHEMA,
        "strategy": strategy,
        "version": declared.version,
        "questions": len(replies),
        "sha256": hashlib.sha256(body.encode()).hexdigest(),
    }
    write_atomic({path: json.dumps(head) + "\n" + body})


class Recorded:
    """A Source that answers with what was recorded in `path` of the retriever that is `declared`."""

    live = False

    def __init__(self, path: Path, strategy: str, declared: Declared) -> None:
        """Raises StorageError where the file is cut, edited, of another schema or something else; IncompleteError where it
        is not there, or of another strategy or version."""
        if not path.exists():
            raise IncompleteError(f"{path}: there is no recording of {strategy}. {ANEW}")
        try:
            head, _, body = read_whole(path).partition(b"\n")
            self._head, rest = _head(head), body
        except OSError as error:
            raise StorageError(f"{path}: cannot be read: {error.strerror}. {ANEW}") from error
        except ReplyError as error:
            raise StorageError(f"{path}: is no recording: {error}. {ANEW}") from None
        if hashlib.sha256(rest).hexdigest() != self._head["sha256"]:
            raise StorageError(
                f"{path}: was cut or changed after it was written. Restore it, or {ANEW[0].lower()}{ANEW[1:]}"
            )
        for key, wanted in (("strategy", strategy), ("version", declared.version)):
            if self._head[key] != wanted:
                raise IncompleteError(
                    f"{path}: was recorded of {key} {self._head[key]!r}; this run is of {wanted!r}. {ANEW}"
                )
        self._path = path
        self._replies = dict(map(_reply, rest.splitlines()))

    @property
    def treatment(self) -> Mapping[str, str]:
        """The hash of the recording."""
        return {"recorded": self._head["sha256"]}

    def check(self, questions: Iterable[Asked]) -> None:
        """Raises IncompleteError, before any is asked, where the recording lacks a reply to one of them."""
        missing = [asked for asked in questions if _key(asked) not in self._replies]
        if missing:
            raise IncompleteError(
                f"{self._path}: has no reply to {len(missing)} questions of this run, as they are asked for {missing[0].k} "
                f"passages; the first is {missing[0].id or missing[0].text!r}. {ANEW}"
            )

    def ask(self, asked: Asked) -> Reply:
        """Raises ReplyError where it was not recorded."""
        if _key(asked) not in self._replies:
            raise ReplyError("the recording has no reply to this question")
        return self._replies[_key(asked)]

    def close(self) -> None:
        """There is nothing to let go of."""


def _key(asked: Asked) -> str:
    """All that a question is, but its name: a key may name it anew."""
    history = [[turn.role, turn.text] for turn in asked.history]
    return json.dumps([asked.text, asked.k, history, None if asked.documents is None else list(asked.documents)])


def _head(line: bytes) -> dict[str, str]:
    found = loads(line)
    if not isinstance(found, Mapping) or found.get("schema") != SCHEMA:
        raise ReplyError(f"its first line names no {SCHEMA}")
    return {key: str(found.get(key, "")) for key in ("strategy", "version", "sha256")}


def _line(asked: Asked, reply: Reply) -> dict[str, object]:
    """Scores and ids, which decide nothing, are kept for who reads the file."""
    found: dict[str, object] = {"asked": json.loads(_key(asked)), "question": asked.id}
    if reply.passages or not reply.steps:
        found["passages"] = _passages(reply.passages)
    if reply.steps:
        found["steps"] = [{"query": step.query, "passages": _passages(step.passages)} for step in reply.steps]
    return {**found, "version": reply.version}


def _passages(passages: Sequence[Passage]) -> list[dict[str, object]]:
    keys = ("text", "source", "start", "end", "score", "id")
    return [{key: value for key in keys if (value := getattr(each, key)) not in (None, "")} for each in passages]


def _reply(line: bytes) -> tuple[str, Reply]:
    found = json.loads(line)
    return json.dumps(found["asked"]), read_reply(found)
