"""Blobs by key in an SQLite file, kept from run to run: what caches stand on. It does not know what it holds.

Several threads and several processes may use one file at once. What it holds can be made again: so a damaged file is
removed with a warning, and a row whose checksum is wrong counts as absent.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from docmind.errors import StorageError

log = logging.getLogger(__name__)

T = TypeVar("T")
Row = tuple[bytes, ...]

DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
"""The last is what SQLite says of a table or column that is not there: our statements are right for a whole file."""

PATIENCE = 60.0
"""Seconds that a process waits for another that writes."""

ASKED_AT_ONCE = 500
"""Keys a SELECT; SQLite bounds the variables of a statement."""


class BlobStore:
    """One blob a key, in the table `table` of the SQLite file `path`, which is made when it is first needed.

    Every call raises StorageError where the file cannot be used, with the remedy.
    """

    def __init__(self, path: Path, table: str) -> None:
        self._table = table
        self._rows = RowStore(path, {table: ("blob",)})

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The blobs there are."""
        return {key: blob for key, (blob,) in self._rows.get(self._table, keys).items()}

    def put(self, blobs: Mapping[bytes, bytes]) -> None:
        """Keep `blobs`, all or none, each in the place of what its key had."""
        self._rows.put({self._table: {key: (blob,) for key, blob in blobs.items()}})

    def close(self) -> None:
        """Let go of the file. It opens again when it is next needed."""
        self._rows.close()


class RowStore:
    """Rows of blobs by key. `tables` names the columns of each table, besides `key` and `crc`.

    `crc` is the CRC-32 of the row's blobs, one after the other.
    """

    def __init__(self, path: Path, tables: Mapping[str, tuple[str, ...]]) -> None:
        self.path = path
        self._tables = dict(tables)
        self._open: sqlite3.Connection | None = None
        # What nobody holds any more lets go of its file too: an engine's searcher, when the documents have changed.
        self._let_go: Callable[[], object] = _nothing
        # SQLite takes one call at a time, but a transaction is several.
        self._lock = RLock()

    def get(self, table: str, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """The rows there are of `table`."""
        select = f"SELECT key, crc, {', '.join(self._tables[table])} FROM {table}"  # noqa: S608 names of our own
        found: dict[bytes, Row] = {}
        for start in range(0, len(keys), ASKED_AT_ONCE):
            some = keys[start : start + ASKED_AT_ONCE]
            for key, crc, *blobs in self._select(f"{select} WHERE key IN ({','.join('?' * len(some))})", some):
                if all(isinstance(blob, bytes) for blob in blobs) and _crc(blobs) == crc:
                    found[key] = tuple(blobs)
                else:
                    log.warning("%s: a row of %s does not match its checksum; it is made again", self.path, table)
        return found

    def put(self, rows: Mapping[str, Mapping[bytes, Row]]) -> None:
        """Keep the rows of each table, all or none, each in the place of what its key had."""

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                for table, some in rows.items():
                    columns = ("key", *self._tables[table], "crc")
                    into = f"INSERT OR REPLACE INTO {table} ({', '.join(columns)})"
                    values = f"VALUES ({','.join('?' * len(columns))})"
                    connection.executemany(
                        f"{into} {values}", [(key, *blobs, _crc(blobs)) for key, blobs in some.items()]
                    )

        self._run(write)

    def clear(self) -> None:
        """Remove every row, all or none. Other processes may go on using the file."""

        def empty(connection: sqlite3.Connection) -> None:
            with connection:
                for table in self._tables:
                    connection.execute(f"DELETE FROM {table}")  # noqa: S608 names of our own

        self._run(empty)

    def close(self) -> None:
        """Let go of the file. It opens again when it is next needed."""
        with self._lock:
            self._let_go()
            self._open = None

    def _select(self, query: str, keys: Sequence[bytes]) -> list[tuple[Any, ...]]:
        return self._run(lambda connection: connection.execute(query, keys).fetchall())

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                return self._attempt(work)
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in DAMAGED:
                    raise
                log.warning("%s: the cache is damaged (%s); it is removed and built anew", self.path, error)
                self.close()
                with self._explained():
                    for suffix in ("", "-wal", "-shm"):
                        self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
                return self._attempt(work)

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._explained():
            if self._open is None:
                self._open = self._connected()
                self._let_go = weakref.finalize(self, self._open.close)
            return work(self._open)

    def _connected(self) -> sqlite3.Connection:
        if self._read_only():
            # As it stands: a lock or a log beside it could not be written. So it can be read, and nothing can be kept.
            return sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=PATIENCE, check_same_thread=False)
        try:
            _let_readers_in(connection)
            for table, columns in self._tables.items():
                blobs = "".join(f"{column} BLOB NOT NULL, " for column in columns)
                connection.execute(
                    f"CREATE TABLE IF NOT EXISTS {table} (key BLOB PRIMARY KEY, {blobs}crc INTEGER NOT NULL)"
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _read_only(self) -> bool:
        """Whether there is a file that can be read but not written, itself or its folder."""
        return self.path.exists() and not all(os.access(place, os.W_OK) for place in (self.path, self.path.parent))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what a user can do about an error that is not damage."""
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGED:
                raise
            raise StorageError(
                f"{self.path}: the cache cannot be used ({error}). It needs a folder that can be written and free disk "
                f"space; name another with --index-dir."
            ) from error


def _nothing() -> None:
    """What is to be done for a file that is not open."""


def _crc(blobs: Sequence[bytes]) -> int:
    crc = 0
    for blob in blobs:
        crc = zlib.crc32(blob, crc)
    return crc


def _let_readers_in(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log. SQLite itself does not wait where another process is just doing the same."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(0.01)
