"""Writes that wait at the same time share one commit; each succeeds or fails for itself, and never half."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from slimguard import policy
from slimguard.errors import StoreUnavailable
from slimguard.model import Ran
from slimguard.ports import Clock
from slimguard.store.database import Database, Replaced
from slimguard.store.failures import primary_code, unavailable
from slimguard.store.threads import FIRST, LAST, NORMAL, Workers

RAISED = (sqlite3.Error, sqlite3.Warning, OSError, MemoryError)


LATE_SECONDS = 0.01
"""A lock's timeout may strike this much before the deadline that it was made from."""


@dataclass(frozen=True, slots=True, eq=False)
class Write:
    """One write that waits for the writer. `work` may be run again when a shared commit failed."""

    work: Callable[[sqlite3.Connection], Any]
    full: bool
    until: float
    ran: Ran = "no"
    weight: int = 0
    """Bytes that it writes, roughly."""
    confirm: Callable[[Any], Any] | None = None
    """Called in the writer thread with the work's value when it is committed; what it returns or raises is the
    outcome of the write."""
    future: Future[Any] = field(default_factory=Future[Any])


class GroupWriter:
    """The queue in front of the writer thread: most urgent first, small writes together.

    A burst of a hundred intents costs one or two flushes of the disk. When a shared transaction fails, each of
    its writes is done alone, so that nobody suffers for another's error.
    """

    def __init__(self, database: Database, clock: Clock, writer: Workers) -> None:
        self._database = database
        self._clock = clock
        self._writer = writer
        self._lock = threading.Lock()
        self._waiting: dict[int, deque[Write]] = {FIRST: deque(), NORMAL: deque(), LAST: deque()}

    def submit(self, write: Write, order: int) -> Future[Any]:
        """Hand a write over; raises `StoreUnavailable` when the store is closed."""
        with self._lock:
            self._waiting[order].append(write)
        try:
            self._writer.post(self._write_next, order)
        except StoreUnavailable:
            with self._lock:
                if write in self._waiting[order]:
                    self._waiting[order].remove(write)
                    raise
        return write.future

    def write_alone(self, write: Write) -> Any:
        """Do one write now, in the writer thread; again when the file was replaced meanwhile."""
        try:
            return self._transact([write])[0]
        except Replaced:
            return self._transact([write])[0]

    def _write_next(self) -> None:
        """Write a group, which later work items of the same writes then find gone."""
        group = self._next_group()
        if not group:
            return
        if len(group) == 1:
            self._finish_alone(group[0])
            return
        try:
            values = self._transact(group)
        except sqlite3.Error as error:
            if primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                self._wait_on(group, error)
                return
            self._each_alone(group)
        except Exception:  # noqa: BLE001  each is done alone and then has its own error
            self._each_alone(group)
        else:
            for write, value in zip(group, values, strict=True):
                self._settle(write, value)

    def _next_group(self) -> list[Write]:
        group: list[Write] = []
        weight = 0
        with self._lock:
            for order in (FIRST, NORMAL, LAST):
                waiting = self._waiting[order]
                while waiting and len(group) < policy.STORE_GROUP_WRITES:
                    weight += waiting[0].weight
                    if group and weight > policy.STORE_GROUP_BYTES:
                        return group
                    group.append(waiting.popleft())
        return group

    def _each_alone(self, group: Sequence[Write]) -> None:
        for write in group:
            self._finish_alone(write)

    def _finish_alone(self, write: Write) -> None:
        try:
            value = self.write_alone(write)
        except Exception as error:  # noqa: BLE001  the waiting side raises it
            self._settle(write, error)
        else:
            self._settle(write, value)

    def _wait_on(self, group: Sequence[Write], error: sqlite3.Error) -> None:
        """Behind another process's lock: those whose time is over fail, the others wait on together."""
        now = self._clock.monotonic() + LATE_SECONDS
        late = [write for write in group if write.until <= now]
        for write in late or group:
            self._settle(write, error)
        if late:
            with self._lock:
                self._waiting[FIRST].extendleft(reversed([write for write in group if write.until > now]))
            self._write_next()

    def _transact(self, group: Sequence[Write]) -> list[Any]:
        """All of a group in one transaction; the values of their works, or for a failed one its error."""
        full = any(write.full for write in group)
        weight = sum(write.weight for write in group)
        with self._database.transaction(
            full=full, until=min(write.until for write in group), weight=weight
        ) as connection:
            if len(group) == 1:
                return [group[0].work(connection)]
            return [_in_savepoint(connection, write) for write in group]

    def _settle(self, write: Write, outcome: object) -> None:
        if write.confirm is not None and not isinstance(outcome, Exception):
            try:
                outcome = write.confirm(outcome)
            except Exception as error:  # noqa: BLE001  the waiting side raises it
                outcome = error
        if isinstance(outcome, (*RAISED, StoreUnavailable)):
            outcome = unavailable(str(self._database.path), outcome, write.ran)
        if isinstance(outcome, Exception):
            write.future.set_exception(outcome)
        else:
            write.future.set_result(outcome)


def _in_savepoint(connection: sqlite3.Connection, write: Write) -> object:
    connection.execute("SAVEPOINT one_of_a_group")
    try:
        value = write.work(connection)
    except Exception as error:
        if not connection.in_transaction:
            raise
        connection.execute("ROLLBACK TO one_of_a_group")
        connection.execute("RELEASE one_of_a_group")
        return error
    connection.execute("RELEASE one_of_a_group")
    return value
