"""Files of which a line is a reply, or a part of one. What a line means is not known here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from docmind.errors import StorageError, UsageError
from docmind.files import read_whole


def read(path: Path, option: str) -> bytes:
    """The bytes of `path`. Raises StorageError."""
    try:
        return read_whole(path)
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be read: {error.strerror}. Write the path of a file in {option}."
        ) from error


def lines(path: Path, data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, by their numbers from 1. Raises UsageError where there is none."""
    found = [
        (n, line) for n, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1) if line.strip()
    ]
    if not found:
        raise UsageError(f"{path}: holds no line; one a question was expected.")
    yield from found
