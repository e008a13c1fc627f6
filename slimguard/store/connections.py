"""How one SQLite connection is made and ended, and the write-ahead log beside the file; no table is known here."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from slimguard.store import files


def connect(
    path: Path, suffix: str, *, reading: bool, busy_seconds: float, page_limit: int | None
) -> sqlite3.Connection:
    """A connection for one thread at a time, in autocommit; `suffix` is the query part of its URI."""
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(path))}{suffix}",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA recursive_triggers = ON")
        connection.execute("PRAGMA cell_size_check = ON")
        if reading:
            connection.execute("PRAGMA query_only = ON")
        if page_limit is not None:
            connection.execute(f"PRAGMA max_page_count = {page_limit}").fetchall()
    except BaseException:
        close(connection)
        raise
    return connection


def close(connection: sqlite3.Connection) -> None:
    """End a connection; one that cannot be closed properly is of no use anyway."""
    with contextlib.suppress(sqlite3.Error):
        connection.close()


class WriteAheadLog:
    """The log's file: how long it is, and whether it is still the one that our connections write to."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + "-wal")
        self._identity: files.Identity | None = None

    def size(self) -> int:
        """Its bytes, 0 when there is none."""
        with contextlib.suppress(OSError):
            return self._path.stat().st_size
        return 0

    def remember(self) -> None:
        """Take what is there now for the log that our connections use, if none is known yet."""
        self._identity = self._identity or files.identity(self._path)

    def forget(self) -> None:
        """The connections were ended."""
        self._identity = None

    def is_ours(self) -> bool:
        """Whether it is the one that our connections are known to write to."""
        return self._identity is not None and files.identity(self._path) == self._identity

    def is_lost(self) -> bool:
        """Whether somebody deleted or replaced it."""
        return self._identity is not None and files.identity(self._path) != self._identity
