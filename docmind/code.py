"""What code something was made by: hashes of the package's own sources and versions of libraries. It runs none of it."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGE = Path(__file__).parent


@cache
def sources(*parts: str) -> dict[str, str]:
    """The first 16 hex digits of the SHA-256 of each source file of `parts`, which are folders and files of the package,
    by its path below the package, rising by part. Line ends do not count: a checkout on Windows has others."""
    found = {}
    for part in parts:
        place = PACKAGE / part
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            text = path.read_text(encoding="utf-8")
            found[path.relative_to(PACKAGE).as_posix()] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return found


@cache
def versions(*libraries: str) -> dict[str, str]:
    """The installed version of each library."""
    return {name: metadata.version(name) for name in libraries}


def is_own(thing: object) -> bool:
    """Whether the class of `thing` is of this package, so that its code can be told."""
    return type(thing).__module__.startswith("docmind.")


def digest(parts: tuple[str, ...], libraries: tuple[str, ...]) -> str:
    """One hash of both, and of Python, whose tables of Unicode change: what they make is another thing where it differs."""
    said = f"{platform.python_version()}\x1f{sources(*parts)}\x1f{versions(*libraries)}"
    return hashlib.sha256(said.encode()).hexdigest()
