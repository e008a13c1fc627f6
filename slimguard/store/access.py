"""Every read and write goes through here to its thread and back; what is read or written is the caller's."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from slimguard import policy
from slimguard.model import Ran
from slimguard.ports import Clock
from slimguard.store.database import Database, Replaced
from slimguard.store.failures import as_unavailable
from slimguard.store.threads import FIRST, NORMAL, Workers

T = TypeVar("T")


class Access:
    """One writer thread and a few readers on one database. `busy_seconds` bounds the wait for another's lock,
    counted from when the work was handed over, so that a queue behind a lock fails together."""

    def __init__(self, database: Database, clock: Clock, busy_seconds: float) -> None:
        self.database = database
        self.clock = clock
        self.writer = Workers("store-writer", 1)
        self.readers = Workers("store-reader", policy.STORE_READERS)
        self._busy_seconds = busy_seconds

    @property
    def path(self) -> str:
        """The database file, for messages."""
        return str(self.database.path)

    def until(self) -> float:
        """When work that is handed over now stops waiting for another process's lock, in monotonic seconds."""
        return self.clock.monotonic() + self._busy_seconds

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on a reading connection, in this thread, which must not be the writer's."""
        if not self.database.opened:
            self.writer.call(self.database.ensure, FIRST)
        generation = self.database.generation
        connection = self.database.take()
        try:
            with as_unavailable(self.path):
                return work(connection)
        finally:
            self.database.give(connection, generation)

    async def reading(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """As `read`, from the event loop."""
        return await self.readers.run(partial(self.read, work))

    def write(self, work: Callable[[sqlite3.Connection], T], *, full: bool, ran: Ran = "no") -> T:
        """Run `work` in one transaction of the writer thread and wait for its commit, in another thread."""
        return self.writer.call(partial(self.write_now, work, full=full, until=self.until(), ran=ran))

    async def writing(self, work: Callable[[sqlite3.Connection], T], *, full: bool, order: int = NORMAL) -> T:
        """As `write`, from the event loop."""
        return await self.writer.run(partial(self.write_now, work, full=full, until=self.until()), order)

    def write_now(self, work: Callable[[sqlite3.Connection], T], *, full: bool, until: float, ran: Ran = "no") -> T:
        """Run `work` in one transaction, in the writer thread; once more when the file was replaced meanwhile."""
        with as_unavailable(self.path, ran):
            try:
                return self._transact(work, full=full, until=until)
            except Replaced:
                return self._transact(work, full=full, until=until)

    def _transact(self, work: Callable[[sqlite3.Connection], T], *, full: bool, until: float) -> T:
        with self.database.transaction(full=full, until=until) as connection:
            return work(connection)
