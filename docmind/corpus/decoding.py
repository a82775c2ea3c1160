"""A text file to text, whatever its format. It reads no structure."""

from __future__ import annotations

from pathlib import Path

from docmind.errors import CorpusError

MAX_BYTES = 10_000_000
"""The size of the largest page of text that is read."""


def decoded(path: Path) -> str:
    """The text of the file, line breaks as LF, without a byte order mark. Raises CorpusError where it is too large, no
    UTF-8, or cannot be read."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise CorpusError(f"{path} has {size:,} bytes; a page may have {MAX_BYTES:,}. Split it.")
        data = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}).") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CorpusError(
            f"{path}:{line}: byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8. Save the page as UTF-8."
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
