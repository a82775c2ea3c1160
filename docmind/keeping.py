"""Keeps what was made from something that has not changed, so that it need not be made again. It is never relied on."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from docmind.blobs import BlobStore
from docmind.errors import StorageError

log = logging.getLogger(__name__)

T = TypeVar("T")

TABLE = "made"


class Keeper:
    """Values by the hash of all that they come from, in one SQLite file.

    Where the file cannot be used, that is told once, and everything is made anew. What cannot be read back is made anew.
    """

    def __init__(self, path: Path | None) -> None:
        """With None nothing is kept."""
        self._store = BlobStore(path, TABLE) if path else None

    def kept(self, key: bytes, make: Callable[[], T], dumps: Callable[[T], bytes], loads: Callable[[bytes], T]) -> T:
        """What is kept under `key`, else what `make` gives, which is kept then unless `make` logs something: a warning
        shall be told each time. `loads` raises ValueError, KeyError, TypeError or IndexError for what is no value."""
        found = self._get(key)
        if found is not None:
            try:
                return loads(found)
            except (ValueError, KeyError, TypeError, IndexError) as error:
                log.warning("a kept value cannot be read (%s); it is made anew", error)
        with _Listener() as listener:
            made = make()
        if not listener.heard:
            self._put(key, dumps(made))
        return made

    def close(self) -> None:
        """Let go of the file."""
        if self._store:
            self._store.close()

    def _get(self, key: bytes) -> bytes | None:
        if self._store is None:
            return None
        try:
            return self._store.get([key]).get(key)
        except StorageError as error:
            self._give_up(error)
            return None

    def _put(self, key: bytes, value: bytes) -> None:
        if self._store is None:
            return
        try:
            self._store.put({key: value})
        except StorageError as error:
            self._give_up(error)

    def _give_up(self, error: StorageError) -> None:
        log.warning("nothing is kept for the next time: %s", error)
        self._store = None


def key(*parts: str | bytes) -> bytes:
    """The hash of `parts`, whatever stands in them."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


class _Listener(logging.Handler):
    """Hears whether the package logs anything."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard = False

    def emit(self, record: logging.LogRecord) -> None:
        self.heard = True

    def __enter__(self) -> _Listener:
        logging.getLogger("docmind").addHandler(self)
        return self

    def __exit__(self, *raised: object) -> None:
        logging.getLogger("docmind").removeHandler(self)
