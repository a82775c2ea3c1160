"""Asks a foreign retriever many questions, several at a time, and keeps every reply and every error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from time import perf_counter

from docmind.errors import DocMindError
from docmind.foreign.reply import Asked, Passage, Reply, ReplyError, Source
from docmind.protocols import Advance

MOST_ERRORS = 5
"""Of questions one after another. A service that is down would else take its time-out at each."""


class Asker:
    """The replies of `source`, by question, as far as it was asked."""

    def __init__(self, source: Source, workers: int) -> None:
        self.replies: dict[Asked, Reply] = {}
        self.errors: dict[Asked, str] = {}
        self._source = source
        self._workers = workers
        self._lock = Lock()
        self._failed = 0

    def ask(self, questions: Sequence[Asked], advance: Advance) -> None:
        """Ask all; `advance` is told of each. After MOST_ERRORS errors one after another the rest is not asked. Raises a
        DocMindError that every question would meet, and ends where the user interrupts."""
        pool = ThreadPoolExecutor(self._workers)
        try:
            for _ in pool.map(self._ask, questions):
                advance(1)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _ask(self, asked: Asked) -> None:
        with self._lock:
            if self._failed >= MOST_ERRORS:
                self.errors[asked] = f"not asked, since {MOST_ERRORS} questions one after another had ended in an error"
                return
        try:
            reply = self._source.ask(asked)
        except DocMindError:
            raise
        except ReplyError as error:
            with self._lock:
                self.errors[asked] = str(error)
                self._failed += 1
            return
        with self._lock:
            self.replies[asked] = reply
            self._failed = 0

    def reply(self, asked: Asked) -> Reply:
        """What it answered. Raises ReplyError where it did not."""
        if asked not in self.replies:
            raise ReplyError(self.errors.get(asked, "it was not asked"))
        return self.replies[asked]

    def again(self, questions: Sequence[Asked], advance: Advance) -> tuple[list[float], list[Asked]]:
        """Seconds of `questions`, asked one at a time a second time, and those of them that now got other passages. An error
        is no reply, so it is another one."""
        seconds, other = [], []
        for asked in questions:
            started = perf_counter()
            try:
                same = _said(self._source.ask(asked)) == _said(self.reply(asked))
            except ReplyError:
                same = False
            seconds.append(perf_counter() - started)
            if not same:
                other.append(asked)
            advance(1)
        return seconds, other


def _said(reply: Reply) -> Mapping[str, object]:
    """What must be the same: passages and their order. A score may differ in its last digit, and an id be made anew."""
    return {
        "passages": [_place(passage) for passage in reply.passages],
        "steps": [(step.query, [_place(passage) for passage in step.passages]) for step in reply.steps],
    }


def _place(passage: Passage) -> tuple[str, str | None, int | None, int | None]:
    return passage.text, passage.source, passage.start, passage.end
