"""What is asked of a retriever that is not DocMind's own, and what it answers, whatever way it is reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from docmind.types import Turn


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is put to a foreign retriever; `id` is its name in the answer key, None where it is from no key.
    `documents` limits the search to these, None means all."""

    text: str
    k: int
    id: str | None = None
    history: tuple[Turn, ...] = ()
    documents: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a reply. There is a text, or a `source`, or both.

    `source` names the document as the system does. `start` and `end` are both there or neither: characters of the
    document's text, half-open. `score` is finite; its order means nothing here, since that of the list is the ranking.
    """

    text: str = ""
    source: str | None = None
    start: int | None = None
    end: int | None = None
    score: float | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One of several searches that a system made for a question: what it searched for, and what it found, best first."""

    query: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """`passages`, best first. With `steps` and no list of its own, `passages` is empty, and the union of the steps is the
    ranking. `version` is what the system says of itself, "" where it says nothing; `seconds` is how long it took, None
    where that is not known."""

    passages: tuple[Passage, ...]
    steps: tuple[Step, ...] = ()
    version: str = ""
    seconds: float | None = None


class ReplyError(Exception):
    """A question that got no reply, or one that cannot be read: an error of that question, and no miss."""


class Source(Protocol):
    """One way to reach a foreign retriever. Thread-safe."""

    @property
    def live(self) -> bool:
        """Whether it is asked now, so that its times mean something and a second answer may differ."""

    @property
    def treatment(self) -> Mapping[str, str]:
        """What of it may change what it finds and can be known: the hash of its file or code. Part of the fingerprint."""

    def ask(self, asked: Asked) -> Reply:
        """What it answers. Raises ReplyError where it does not, within its time; UsageError for what every question would
        meet, such as a module that is not there."""

    def close(self) -> None:
        """Let go of processes, connections and files. It answers no more."""
