"""Replies in a file: `file: passages.jsonl`, a JSON object a line with the question, or its id, and what was found for it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from docmind.errors import UsageError
from docmind.foreign.declared import Declared, Fields
from docmind.foreign.linewise import lines, read
from docmind.foreign.reading import loads, reply
from docmind.foreign.reply import Asked, Reply, ReplyError


class FileSource:
    """Answers a question of the key by its id, else by its words."""

    live = False

    def __init__(self, declared: Declared) -> None:
        """Raises StorageError where the file cannot be read, UsageError where a line is no reply or stands twice."""
        path = Path(declared.file or "")
        data = read(path, "file")
        self._sha256 = hashlib.sha256(data).hexdigest()
        self._by_id: dict[str, Reply] = {}
        self._by_text: dict[str, Reply] = {}
        for number, line in lines(path, data):
            try:
                self._take(line)
            except ReplyError as fault:
                raise UsageError(
                    f"{path}: line {number}: {fault}. A line is an object with question or id, and passages or steps."
                ) from None

    def _take(self, line: bytes) -> None:
        found = loads(line)
        if not isinstance(found, Mapping):
            raise ReplyError("no object was found")
        name, text = found.get("id"), found.get("question")
        if not isinstance(name, str) and not isinstance(text, str):
            raise ReplyError("neither question nor id is a text")
        answer = reply(found, Fields())
        for known, key in ((self._by_id, name), (self._by_text, text)):
            if isinstance(key, str):
                if key in known:
                    raise ReplyError(f"{key!r} stands twice")
                known[key] = answer

    @property
    def treatment(self) -> Mapping[str, str]:
        """The hash of the file."""
        return {"sha256": self._sha256}

    def ask(self, asked: Asked) -> Reply:
        """Raises ReplyError for a question that is not in the file."""
        found = self._by_id.get(asked.id) if asked.id is not None else None
        found = found or self._by_text.get(asked.text)
        if found is None:
            raise ReplyError("the file has no line for this question")
        return found

    def close(self) -> None:
        """There is nothing to let go of."""
