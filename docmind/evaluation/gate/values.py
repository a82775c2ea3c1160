"""Values of JSON in words, and what differs between two mappings of them, whatever their keys.

What is told is cut and stands on one line: the values are a stranger's text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

WIDTH = 80
"""Characters of a value that are told."""

SOME = 5
"""Members of a list that are named."""


def changes(old: Mapping[str, object], new: Mapping[str, object], place: str = "") -> Iterator[str]:
    """Each key whose value differs, whatever the keys: "alpha: none → 0.05"; of lists what was taken out and added."""
    for key in dict.fromkeys([*old, *new]):
        was, is_now, at = old.get(key), new.get(key), f"{place}{_line(key)}"
        if was == is_now:
            continue
        if isinstance(was, Mapping) and isinstance(is_now, Mapping):
            yield from changes(was, is_now, f"{at}.")
        elif _is_list(was) and _is_list(is_now):
            yield f"{cut(at, WIDTH)}: {_members(was, is_now)}"  # type: ignore[arg-type]
        else:
            yield f"{cut(at, WIDTH)}: {brief(was)} → {brief(is_now)}"


def show(value: object) -> str:
    """A value of JSON in words, on one line."""
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return " ".join(f"{_line(key)} {show(inner)}" for key, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(show, value)) or "none"
    return _line(int(value) if isinstance(value, float) and value.is_integer() else value)


def brief(value: object) -> str:
    """`show`, cut."""
    return cut(show(value), WIDTH)


def listed(names: Sequence[object]) -> str:
    """The first few, and how many more there are."""
    found = [brief(name) for name in names]
    return ", ".join(found[:SOME]) + (f" and {len(found) - SOME} more" if len(found) > SOME else "")


def _members(old: Sequence[object], new: Sequence[object]) -> str:
    gone, come = [each for each in old if each not in new], [each for each in new if each not in old]
    parts = [f"{listed(some)} {verb}" for verb, some in (("taken out", gone), ("added", come)) if some]
    return "; ".join(parts) or f"{brief(old)} → {brief(new)}"


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, a visible ellipsis included."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _line(value: object) -> str:
    return " ".join(str(value).split())
