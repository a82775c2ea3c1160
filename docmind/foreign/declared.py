"""What strategies.yaml says of a foreign retriever, typed and checked. It reaches nobody."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from docmind.errors import UsageError
from docmind.registry import did_you_mean

KINDS = ("python", "url", "command", "file", "trec")
"""How it is reached: one of these keys says it."""

NUMBERS = frozenset({"depth", "timeout", "workers", "max_unplaced"})
"""Keys whose values are numbers; all others are text."""

OF_URL = ("method", "fields", "headers", "body")
"""Keys that are of `url` alone."""

Text = Annotated[str, Field(min_length=1)]


class Fields(BaseModel):
    """What an endpoint calls the parts of a request (`question`, `k`, `documents`, `history`) and of a reply, each a name or
    names with dots between them: of what holds the list `passages`, and in a passage `text`, `source`, `start`, `end`, `score`
    and `id`. `passages: ""` is a reply that is the list itself."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    question: Text = "question"
    k: Text = "k"
    documents: Text = "documents"
    history: Text = "history"
    passages: str = "passages"
    text: Text = "text"
    source: Text = "source"
    start: Text = "start"
    end: Text = "end"
    score: Text = "score"
    id: Text = "id"


class Declared(BaseModel):
    """One foreign retriever. Exactly one of KINDS says how it is reached. `version` is what its owner calls this state of it.
    `depth` is how many passages its list holds at most, None for as many as are asked for. A question may take `timeout`
    seconds, and `workers` are asked at once. At most the share `max_unplaced` of its passages may be in no document."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    python: Text | None = None
    url: Annotated[str, Field(pattern=r"^https?://[^\s/]")] | None = None
    command: Annotated[tuple[Text, ...], Field(min_length=1, strict=False)] | None = None
    file: Text | None = None
    trec: Text | None = None
    version: str = ""
    depth: Annotated[int, Field(ge=1, le=10_000)] | None = None
    timeout: Annotated[float, Field(gt=0, le=3600)] = 30.0
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    max_unplaced: Annotated[float, Field(ge=0, le=1)] = 0.1
    method: Literal["POST", "GET"] = "POST"
    fields: Fields = Fields()
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    body: dict[str, str] = Field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Which of KINDS it is."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def place(self) -> str:
        """Where it is, as it is written."""
        found = getattr(self, self.kind)
        return found if isinstance(found, str) else " ".join(found)

    @property
    def said(self) -> dict[str, object]:
        """What is said of it, as plain JSON, without what is usual. A header may hold a secret, and none is told."""
        return self.model_dump(mode="json", exclude_defaults=True, exclude={"headers"})

    def __str__(self) -> str:
        return f"{self.kind}: {self.place}"

    def __hash__(self) -> int:
        return hash(str(self))


def parse(name: str, found: Mapping[str, object]) -> Declared:
    """What is said of the strategy `name`. Raises UsageError, which tells every fault with its key."""
    at = f"strategies.{name}"
    kinds = [kind for kind in KINDS if found.get(kind) is not None]
    if len(kinds) != 1:
        told = ", ".join(kinds) if kinds else f"none of {', '.join(found) or 'no key'}"
        raise UsageError(
            f"{at}: {told} was found; expected: exactly one of {', '.join(KINDS)}, by which it is reached."
        )
    faults = [
        f"{at}.{key}: is of url alone; {at} is reached by {kinds[0]}. Take it out."
        for key in _misplaced(found, kinds[0])
    ]
    try:
        declared = Declared.model_validate(dict(found))
    except ValidationError as error:
        faults += [_tell(at, each["type"], each["loc"], each["input"], each["msg"]) for each in error.errors()]
    if faults:
        raise UsageError("\n".join(faults))
    return declared


def _misplaced(found: Mapping[str, object], kind: str) -> Iterable[str]:
    return () if kind == "url" else [key for key in OF_URL if key in found]


def _tell(at: str, kind: str, place: tuple[int | str, ...], value: object, expected: str) -> str:
    key = ".".join([at, *map(str, place)])
    known = Fields.model_fields if place[:1] == ("fields",) else Declared.model_fields
    if kind == "extra_forbidden":
        last = str(place[-1])
        return f"{key}: unknown key {reprlib.repr(last)}.{did_you_mean(last, known)} There are: {', '.join(known)}."
    wanted = (
        expected.removeprefix("Input should be ")
        .replace("tuple", "list")
        .replace("dictionary", "mapping of names to texts")
    )
    if place == ("url",) and kind == "string_pattern_mismatch":
        wanted = "an address that begins with http:// or https://"
    if place[:1] and place[0] in NUMBERS and isinstance(value, str):
        wanted = "a number in plain digits and without quotes, such as 30"
    shown = "a value" if place[:1] == ("headers",) else reprlib.repr(value)
    return f"{key}: {shown} was found; expected: {wanted}."
