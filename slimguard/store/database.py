"""The connections to one database file: how it is opened, locked, written and replaced; no table is known here."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from slimguard import policy
from slimguard.errors import StoreUnavailable
from slimguard.ports import Clock
from slimguard.store import files, migrations
from slimguard.store.connections import WriteAheadLog, close, connect
from slimguard.store.failures import as_unavailable, leaves_readable, unavailable
from slimguard.store.guards import Presence

SAME_WAIT = 1.002
"""A wait for a lock that is longer by so little is not set anew: most writes begin as soon as they are handed over."""

KEPT_IDLE = 8
"""Reading connections that are kept open for the next reader."""


class Replaced(StoreUnavailable):
    """The file was deleted or replaced in the middle of an operation, which may be done again on the new one."""


class Database:
    """One writing connection, used by the writer thread only, and reading connections for whoever takes one.

    `ensure` opens whatever is needed, and notices that the file was deleted or replaced: then the old connections
    are retired and a new database is made, which is how a deleted store never swallows a write.
    """

    def __init__(
        self, path: str, clock: Clock, presence: Presence, *, busy_seconds: float, page_limit: int | None = None
    ) -> None:
        self.path = Path(path)
        self._log = WriteAheadLog(self.path)
        self.presence = presence
        self.generation = 0
        self._clock = clock
        self._busy_seconds = busy_seconds
        self._page_limit = page_limit
        self._lock = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._readable: str | None = None
        self._identity: files.Identity | None = None
        self._synchronous = ""
        self._waits = 0.0
        self._registered = False
        self._logged = 0
        self._idle: list[sqlite3.Connection] = []

    @property
    def opened(self) -> bool:
        """Whether reading can begin without `ensure`: open, and still the same file."""
        return self._readable is not None and files.identity(self.path) == self._identity

    @property
    def registered(self) -> bool:
        """Whether this guard has a row in the database."""
        return self._registered

    def ensure(self, *, writable: bool = False) -> None:
        """Open the database, or open it anew when its file was replaced; only from the writer thread.

        Raises `StoreUnavailable`. With `writable` false a database that can only be read is good enough.
        """
        if self._is_whole():
            return
        with as_unavailable(str(self.path)):
            if self.opened and (self._writer is not None or not writable):
                self._rescue_log()
            if self.opened and (self._writer is not None or not writable):
                return
            if not self.opened:
                self.retire()
            try:
                self._open()
            except (OSError, sqlite3.Error) as error:
                if not self._open_for_reading(error) or writable:
                    raise

    def _is_whole(self) -> bool:
        """Whether all is as the last write left it: what each write asks, so it is asked at the least cost."""
        try:
            return self._writer is not None and self.opened and self._log.is_ours()
        except OSError:
            return False

    @contextmanager
    def transaction(self, *, full: bool, until: float, weight: int = 0) -> Generator[sqlite3.Connection]:
        """One write, committed when the block ends and rolled back when it raises; only from the writer thread.

        `full` asks that the commit is on the disk before this returns. `until` (monotonic seconds) bounds the wait
        for another process's lock, `weight` says how many bytes are written, roughly. SQLite's errors pass;
        `Replaced` says that the file went away meanwhile.
        """
        self.ensure(writable=True)
        connection = self._writer
        if connection is None:
            raise unavailable(str(self.path), sqlite3.OperationalError("not open"))
        self._set_waits(connection, full=full, until=until)
        connection.execute("BEGIN IMMEDIATE")
        try:
            self._register(connection)
            yield connection
            connection.execute("COMMIT")
            self._logged += weight + policy.STORE_COMMIT_BYTES
        except BaseException:
            self._registered = False
            if connection.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
            raise
        if files.identity(self.path) != self._identity:
            raise Replaced(f"the result store {self.path} was deleted or replaced while it was written", code="store")

    def take(self) -> sqlite3.Connection:
        """A reading connection, for one thread at a time; give it back. Raises `StoreUnavailable`."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
            suffix = self._readable
        with as_unavailable(str(self.path)):
            if suffix is None:
                raise sqlite3.OperationalError("not open")
            return self._connect(suffix, reading=True)

    def give(self, connection: sqlite3.Connection, generation: int) -> None:
        """Give a reading connection back; one of a replaced file is closed."""
        with contextlib.suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        with self._lock:
            if generation == self.generation and self._readable is not None and len(self._idle) < KEPT_IDLE:
                self._idle.append(connection)
                return
        close(connection)

    def log_is_long(self) -> bool:
        """Whether the write-ahead log is worth copying back, and is the one that our connections use.

        What counts is what was written since it was last copied: its file keeps its size when it begins anew.
        """
        return self._logged > policy.STORE_WAL_BYTES and self.opened and not self._log.is_lost()

    def checkpoint(self) -> None:
        """Copy the write-ahead log back into the database, as far as readers allow; not in the writer thread.

        It has a connection of its own, so that writing goes on meanwhile.
        """
        self._logged = 0
        connection = self._connect("?mode=rw", reading=False)
        try:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        finally:
            close(connection)

    def finish_checkpoint(self) -> None:
        """Copy back what was written during a checkpoint, so that the log can begin anew; in the writer thread.

        A log over its limit waits a little for other processes to leave it, or it would grow as long as they write.
        """
        if self._writer is None or self._log.is_lost():
            return
        kind = "RESTART" if self.log_size() > policy.STORE_JOURNAL_LIMIT_BYTES else "PASSIVE"
        self._waits = 0.0
        self._writer.execute(f"PRAGMA busy_timeout = {policy.STORE_RESTART_MILLISECONDS}").fetchall()
        self._writer.execute(f"PRAGMA wal_checkpoint({kind})").fetchall()

    def free_pages(self, count: int) -> bool:
        """Give up to `count` unused pages back to the file system; whether more are left. Writer thread only."""
        if self._writer is None:
            return False
        before = int(self._writer.execute("PRAGMA freelist_count").fetchone()[0])
        if before == 0:
            return False
        self._writer.executescript(f"PRAGMA incremental_vacuum({count})")
        return 0 < int(self._writer.execute("PRAGMA freelist_count").fetchone()[0]) < before

    def log_size(self) -> int:
        """Bytes of the write-ahead log."""
        return self._log.size()

    def retire(self) -> None:
        """Close all connections that nobody uses; the next `ensure` opens anew."""
        connections = self._take_idle()
        with self._lock:
            self.generation += 1
            writer, self._writer = self._writer, None
            self._readable = self._identity = None
            self._registered = False
        for connection in connections:
            close(connection)
        if writer is not None:
            close(writer)

    def _open(self) -> None:
        files.prepare_directory(self.path.parent)
        with files.opening_lock(self.path, self._busy_seconds, self._clock.monotonic):
            files.prepare_files(self.path)
            connection = self._connect("?mode=rw", reading=False)
            try:
                migrations.set_up(connection, str(self.path), self._clock.random_bytes)
                found = files.identity(self.path)
            except BaseException:
                close(connection)
                raise
            self.presence.hold()
        self.retire()
        with self._lock:
            self._writer, self._readable, self._identity = connection, "?mode=rw", found
            self._log.forget()
            self._logged = self.log_size()
            self._synchronous, self._waits = "", 0.0

    def _rescue_log(self) -> None:
        """When somebody deleted the write-ahead log, save what is in it through the connection that still has it.

        Raises `StoreUnavailable` while a reader or another guard still needs the deleted one.
        """
        if self._writer is None:
            return
        if not self._log.is_lost():
            self._log.remember()
            return
        for connection in self._take_idle():
            close(connection)
        busy = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise StoreUnavailable(
                f"the result store {self.path} is unavailable: its write-ahead log was deleted while it was in use; "
                "what was in it is saved, try again in a minute",
                code="store",
            )
        self.retire()

    def _take_idle(self) -> list[sqlite3.Connection]:
        with self._lock:
            connections, self._idle = self._idle, []
        return connections

    def _open_for_reading(self, error: Exception) -> bool:
        """Settle for reading what is there, when `error` only says that nothing can be written."""
        found = files.identity(self.path)
        if not leaves_readable(error) or found is None:
            return False
        files.check_owner(self.path)
        suffixes = ("?mode=ro",) if self.log_size() else ("?mode=ro", "?mode=ro&immutable=1")
        for suffix in suffixes:
            with contextlib.suppress(sqlite3.Error):
                connection = self._connect(suffix, reading=True)
                try:
                    usable = migrations.version_of(connection, str(self.path)) == migrations.VERSION
                finally:
                    close(connection)
                if usable:
                    with self._lock:
                        self._readable, self._identity = suffix, found
                    return True
        return False

    def _connect(self, suffix: str, *, reading: bool) -> sqlite3.Connection:
        limit = None if reading else self._page_limit
        return connect(self.path, suffix, reading=reading, busy_seconds=self._busy_seconds, page_limit=limit)

    def _set_waits(self, connection: sqlite3.Connection, *, full: bool, until: float) -> None:
        wait = max(0.05, min(self._busy_seconds, until - self._clock.monotonic()))
        if not wait <= self._waits <= wait * SAME_WAIT:
            connection.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}").fetchall()
            self._waits = wait
        wanted = "FULL" if full else "NORMAL"
        if wanted != self._synchronous:
            connection.execute(f"PRAGMA synchronous = {wanted}")
            self._synchronous = wanted

    def _register(self, connection: sqlite3.Connection) -> None:
        """The guard's row goes in with its first write, so that reading never needs one."""
        if self._registered:
            return
        connection.execute(
            "INSERT OR IGNORE INTO guards (id, pid, started_at) VALUES (?, ?, ?)",
            (self.presence.guard, os.getpid(), self._clock.now()),
        )
        self._registered = True
