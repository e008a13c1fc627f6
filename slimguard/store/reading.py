"""A lease on one stored snapshot: verified reads that nothing can vanish under; never unverified bytes."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from itertools import islice
from typing import TypeVar

from blake3 import blake3

from slimguard import canonical, policy
from slimguard.errors import SnapshotUnusable, StoreUnavailable
from slimguard.model import StoredCall
from slimguard.store import ledger, snapshots
from slimguard.store.database import Database
from slimguard.store.failures import DAMAGED, primary_code, unavailable

R = TypeVar("R")


class StoredSnapshot:
    """A lease on the bytes of one stored call: implements `SnapshotReader`, for one thread at a time.

    It holds a read transaction, which is why nothing can vanish under it, not even by another process; when it was
    idle for long, `rest` gives that back and the next read looks whether the bytes are still there.
    """

    def __init__(
        self, database: Database, call: StoredCall, released: Callable[[StoredSnapshot], None], now: Callable[[], float]
    ) -> None:
        self._database = database
        self._call = call
        self._released = released
        self._now = now
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._generation = -1
        self._used_at = now()
        self._digests: list[bytes] = []
        self._closed = False
        self.blob = -1

    @property
    def call(self) -> StoredCall:
        """The ledger's row."""
        return self._call

    def begin(self) -> None:
        """Take the lease and verify the manifest; raises `SnapshotUnusable` or `StoreUnavailable`."""
        with self._lock:
            try:
                self._guarded(self._resume)
            except BaseException:
                self._let_go()
                raise

    def read(self, start: int, end: int) -> bytes:
        """Bytes `start` to `end` (exclusive, cut to the value), every touched chunk verified."""
        size = self._call.size or 0
        start, end = max(0, start), min(end, size)
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the snapshot reader is closed", code="store")
            if start >= end:
                return b""
            self._used_at = self._now()
            return self._guarded(lambda: self._read(start, end))

    def rest(self, idle_seconds: float) -> None:
        """Give the read transaction back if it was not used for `idle_seconds`; never waits for a reader at work."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._now() - self._used_at >= idle_seconds:
                self._let_go()
        finally:
            self._lock.release()

    def close(self) -> None:
        """Give the lease back; more than once is fine."""
        with self._lock:
            self._let_go()
            already, self._closed = self._closed, True
        if not already:
            self._released(self)

    def _read(self, start: int, end: int) -> bytes:
        connection = self._resume()
        size = policy.CHUNK_BYTES
        first, last = start // size, (end - 1) // size
        parts: list[bytes] = []
        for number, data in islice(snapshots.chunk_rows(connection, self.blob, first, last), last - first + 1):
            if number != first + len(parts) or not self._verified(number, data):
                raise self._mismatch(first + len(parts))
            parts.append(data)
        if len(parts) != last - first + 1:
            raise self._mismatch(first + len(parts))
        parts[-1] = parts[-1][: end - last * size]
        parts[0] = parts[0][start - first * size :]
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _verified(self, number: int, data: bytes) -> bool:
        return blake3(data).digest() == self._digests[number]

    def _mismatch(self, number: int) -> SnapshotUnusable:
        return snapshots.mismatch(self._call.ref, f"chunk {number + 1} of {len(self._digests)}")

    def _resume(self) -> sqlite3.Connection:
        """The connection with its read transaction, taken again after a rest."""
        if self._connection is not None:
            return self._connection
        self._generation = self._database.generation
        self._connection = connection = self._database.take()
        connection.execute("BEGIN")
        blob = ledger.blob_of(connection, self._call.ref)
        if blob is None or (self.blob not in (-1, blob)):
            state = connection.execute("SELECT state FROM calls WHERE ref = ?", (self._call.ref,)).fetchone()
            raise snapshots.not_readable(self._call.ref, "not found" if state is None else state[0])
        if self.blob == -1:
            self._load_manifest(connection, blob)
        return connection

    def _load_manifest(self, connection: sqlite3.Connection, blob: int) -> None:
        digests = snapshots.chunk_digests(connection, blob)
        if canonical.manifest_digest(self._call.size or 0, digests) != self._call.digest:
            raise snapshots.mismatch(self._call.ref, "manifest")
        self._digests, self.blob = digests, blob

    def _guarded(self, work: Callable[[], R]) -> R:
        try:
            return work()
        except sqlite3.DatabaseError as error:
            self._let_go()
            if primary_code(error) in DAMAGED:
                raise snapshots.mismatch(self._call.ref, "database page") from error
            raise unavailable(str(self._database.path), error) from error

    def _let_go(self) -> None:
        if self._connection is not None:
            self._database.give(self._connection, self._generation)
            self._connection = None
