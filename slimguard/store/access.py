"""Every read and write goes through here to its thread and back; what is read or written is the caller's."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from slimguard import policy
from slimguard.errors import StoreUnavailable
from slimguard.model import Ran
from slimguard.ports import Clock
from slimguard.store.database import Database
from slimguard.store.failures import as_unavailable
from slimguard.store.threads import FIRST, NORMAL, Workers, wait_for
from slimguard.store.writing import GroupWriter, Write

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class Access:
    """One writer thread and a few readers on one database. `busy_seconds` bounds the wait for another's lock,
    counted from when the work was handed over, so that a queue behind a lock fails together."""

    def __init__(self, database: Database, clock: Clock, busy_seconds: float) -> None:
        self.database = database
        self.clock = clock
        self.writer = Workers("store-writer", 1)
        self.readers = Workers("store-reader", policy.STORE_READERS)
        self._groups = GroupWriter(database, clock, self.writer)
        self._busy_seconds = busy_seconds

    @property
    def path(self) -> str:
        """The database file, for messages."""
        return str(self.database.path)

    def until(self) -> float:
        """When work that is handed over now stops waiting for another process's lock, in monotonic seconds."""
        return self.clock.monotonic() + self._busy_seconds

    def read(self, work: Work[T]) -> T:
        """Run `work` on a reading connection, in this thread, which must not be the writer's."""
        if not self.database.opened:
            self.writer.call(self.database.ensure, FIRST)
        generation = self.database.generation
        connection = self._take()
        try:
            with as_unavailable(self.path):
                return work(connection)
        finally:
            self.database.give(connection, generation)

    async def reading(self, work: Work[T]) -> T:
        """As `read`, from the event loop."""
        return await self.readers.run(partial(self.read, work))

    def write(self, work: Work[T], *, full: bool, ran: Ran = "no", weight: int = 0) -> T:
        """Run `work` in a transaction of the writer thread and wait for its commit, in another thread.

        Writes that wait together share a commit; `weight` says how many bytes this one writes.
        """
        return self._groups.submit(Write(work, full, self.until(), ran, weight), NORMAL).result()

    async def writing(
        self,
        work: Work[Any],
        *,
        full: bool,
        order: int = NORMAL,
        ran: Ran = "no",
        weight: int = 0,
        confirm: Callable[[Any], Any] | None = None,
    ) -> Any:
        """As `write`, from the event loop. `confirm` is called in the writer thread, after the commit, with what
        `work` returned; what it returns or raises is the outcome."""
        write = Write(work, full, self.until(), ran, weight, confirm)
        return await wait_for(self._groups.submit(write, order))

    def read_committed(self, work: Work[T]) -> T:
        """As `read`, in the writer thread right after a commit: the database is open, and is not opened anew."""
        generation = self.database.generation
        with as_unavailable(self.path):
            connection = self.database.take()
            try:
                return work(connection)
            finally:
                self.database.give(connection, generation)

    def write_now(self, work: Work[T], *, full: bool) -> T:
        """Run `work` in one transaction, in the writer thread."""
        with as_unavailable(self.path):
            return self._groups.write_alone(Write(work, full, self.until()))

    def _take(self) -> sqlite3.Connection:
        try:
            return self.database.take()
        except StoreUnavailable:
            self.writer.call(self.database.ensure, FIRST)
            return self.database.take()
