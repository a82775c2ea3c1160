"""A mapping of names to factories that explains itself when a name is wrong. It knows nothing of what it holds."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from docmind.errors import UsageError

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Read-only entries under unique names. `kind` is what an entry is called in messages, such as "chunker"."""

    def __init__(self, kind: str, entries: Iterable[tuple[str, T]]) -> None:
        """Raises ValueError where a name stands twice: the catalogue itself is wrong then."""
        self.kind = kind
        self._entries: dict[str, T] = {}
        for name, entry in entries:
            if name in self._entries:
                raise ValueError(f"two {kind}s are registered as {name!r}; each needs a name of its own")
            self._entries[name] = entry

    def __getitem__(self, name: str) -> T:
        """Raises UsageError, which lists the names there are, where `name` is unknown."""
        try:
            return self._entries[name]
        except KeyError:
            raise UsageError(unknown(self.kind, name, self._entries)) from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class Named(dict[str, T]):
    """A dict by name that explains itself when a name is wrong. `kind` is what an entry is called in messages."""

    def __init__(self, kind: str, entries: Mapping[str, T]) -> None:
        super().__init__(entries)
        self.kind = kind

    def __missing__(self, name: str) -> T:
        raise UsageError(unknown(self.kind, str(name), self))


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The message for a name that is none of `known`, with the nearest one first."""
    names = list(known)
    return f"unknown {kind} {name!r}.{did_you_mean(name, names)} There are: {', '.join(names)}."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence that names the nearest of `known`, led by a blank; "" where nothing is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
