"""A retriever that is a program: `command: [program, argument]`. A question is a line of JSON in, its reply a line out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from queue import Empty, SimpleQueue
from threading import Lock
from time import perf_counter
from typing import IO

from docmind.errors import UsageError
from docmind.foreign.declared import Declared
from docmind.foreign.reading import loads, reply
from docmind.foreign.reply import Asked, Reply, ReplyError
from docmind.foreign.within import within

MOST_BYTES = 20_000_000
"""Of a line."""

SHOWN = 300
"""Characters of what a program said on stderr before it died."""


class _Process:
    """One run of the program, in a process group of its own, so that what it starts ends with it."""

    def __init__(self, command: tuple[str, ...]) -> None:
        """Raises UsageError where it cannot be started."""
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe that nobody reads would stop it
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True
            )
        except OSError as error:
            self._errors.close()
            told = f"command: {command[0]!r} cannot be started: {error.strerror}"
            raise UsageError(f"{told}. Write a program and its arguments.") from error

    def ask(self, line: bytes) -> bytes:
        """The next line that it writes. Raises ReplyError where it ends, or writes more than MOST_BYTES."""
        if self._process.stdin is None or self._process.stdout is None:
            raise ValueError("a process without pipes")
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
            found = self._process.stdout.readline(MOST_BYTES)
        except OSError:
            found = b""
        if not found:
            raise ReplyError(f"the program ended with {self._process.wait()}{self._said()}")
        if not found.endswith(b"\n") and len(found) >= MOST_BYTES:
            raise ReplyError(f"the program wrote a line of more than {MOST_BYTES:,} bytes")
        return found

    def _said(self) -> str:
        """The end of what it said on stderr."""
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 4 * SHOWN))
        words = " ".join(self._errors.read().decode("utf-8", "replace").split())
        return f": {words[-SHOWN:]}" if words else ""

    def end(self) -> None:
        """Kill it and what it started."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (OSError, AttributeError):  # it has ended; or the system knows no groups
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was still to be written, nobody reads
                    continue


class CommandSource:
    """As many runs of the program as questions are asked at once, each kept for the next question."""

    live = True

    def __init__(self, declared: Declared) -> None:
        self._command = declared.command or ()
        self._timeout = declared.timeout
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._all: set[_Process] = set()
        self._lock = Lock()
        self._closed = False

    @property
    def treatment(self) -> Mapping[str, str]:
        """The command as it is written: what the program is, only its owner knows."""
        return {"command": " ".join(self._command)}

    def ask(self, asked: Asked) -> Reply:
        """Raises ReplyError where it ends, takes too long or writes something else; UsageError where it cannot be started."""
        fields: dict[str, object] = {"question": asked.text, "k": asked.k}
        if asked.id is not None:
            fields["id"] = asked.id
        if asked.documents is not None:
            fields["documents"] = list(asked.documents)
        if asked.history:
            fields["history"] = [{"role": turn.role, "text": turn.text} for turn in asked.history]
        line = json.dumps(fields).encode() + b"\n"
        process = self._process()
        started = perf_counter()
        try:
            found = reply(loads(within(self._timeout, lambda: process.ask(line))), seconds=perf_counter() - started)
        except BaseException:
            self._end(process)  # what it writes from now on may answer another question
            raise
        self._idle.put(process)
        return found

    def _process(self) -> _Process:
        try:
            return self._idle.get_nowait()
        except Empty:
            with self._lock:
                if self._closed:
                    raise ReplyError("the run has ended") from None
                process = _Process(self._command)
                self._all.add(process)
            return process

    def _end(self, process: _Process) -> None:
        with self._lock:
            self._all.discard(process)
        process.end()

    def close(self) -> None:
        """Kill every run of it."""
        with self._lock:
            self._closed = True
            ending = list(self._all)
            self._all.clear()
        for process in ending:
            process.end()
