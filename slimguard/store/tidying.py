"""Housekeeping in the writer thread when nothing else waits; it never raises, what fails is done next time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Set

from slimguard import policy
from slimguard.errors import StoreUnavailable
from slimguard.store import retention
from slimguard.store.access import Access
from slimguard.store.failures import as_unavailable
from slimguard.store.threads import FIRST, LAST, Workers

FREE_PAGES = 2_048
"""Pages given back to the file system in one step: 8 MiB."""


class Housekeeper:
    """Expiry, quota, remains of dead guards, free pages, the write-ahead log: one bounded step at a time."""

    def __init__(
        self, access: Access, quota: int, leased: Callable[[], Set[int]], staging: Set[int], rest: Callable[[], None]
    ) -> None:
        self._access = access
        self._quota = quota
        self._leased = leased
        self._staging = staging
        self._rest = rest
        self.checkpointer = Workers("store-checkpoint", 1)
        self._shortening = False
        self._waiting = False
        self._full_at: float | None = None
        self._unseen = 0

    def schedule(self, *, thorough: bool = False) -> None:
        """Ask for a step when nothing else waits.

        `thorough` asks for everything that is otherwise looked at once in a while.
        """
        if thorough:
            self._full_at = None
        if self._waiting:
            return
        self._waiting = True
        with contextlib.suppress(StoreUnavailable):
            self._access.writer.submit(self._step, LAST)

    def written(self, size: int) -> None:
        """Ask for a step when `size` more bytes make the quota or the log worth a look."""
        self._unseen += size + policy.STORE_COMMIT_BYTES
        if self._unseen >= min(policy.STORE_LOOK_BYTES, self._quota // 16) or self._full_at is None:
            self._unseen = 0
            self.schedule()

    def collect(self, now: float) -> tuple[retention.Collected, bool]:
        """One step of retention and whether there is more, in the writer thread; raises `StoreUnavailable`."""
        leased = self._leased()
        return self._access.write_now(
            lambda connection: retention.collect(connection, now, self._quota, leased),
            full=False,
        )

    def bury(self) -> int:
        """Settle what dead guards left, in the writer thread; raises `StoreUnavailable`."""
        with as_unavailable(self._access.path):
            self._access.database.ensure(writable=True)
            return retention.bury_dead_guards(
                self._access.database, self._access.until(), self._access.clock.now(), self._staging
            )

    def trim(self) -> bool:
        """Give free pages back, in the writer thread; whether more are left."""
        with as_unavailable(self._access.path):
            return self._access.database.free_pages(FREE_PAGES)

    def shorten_log(self) -> None:
        """Copy a long write-ahead log back in the background; what fails is done next time."""
        if self._shortening or not self._access.database.log_is_long():
            return
        self._shortening = True
        with contextlib.suppress(StoreUnavailable):
            self.checkpointer.submit(self._shorten)

    def relieve(self) -> None:
        """Let whoever writes much wait for the log to be copied back, when it has grown far beyond its size."""
        if self._access.database.log_size() > policy.STORE_LOG_PRESSURE_BYTES:
            with contextlib.suppress(StoreUnavailable):
                self.checkpoint()

    def checkpoint(self) -> None:
        """Copy the log back in this thread while writing goes on, and the rest in the writer's; raises
        `StoreUnavailable`."""
        with as_unavailable(self._access.path):
            self._access.database.checkpoint()
            self._access.writer.call(self._access.database.finish_checkpoint, FIRST)

    def _shorten(self) -> None:
        with contextlib.suppress(StoreUnavailable):
            self.checkpoint()
        self._shortening = False

    def _step(self) -> None:
        self._waiting = False
        self._rest()
        more = False
        with contextlib.suppress(StoreUnavailable):
            more = self._collect_if_due()
        with contextlib.suppress(StoreUnavailable):
            more = self.trim() or more
        self.shorten_log()
        if more:
            self.schedule()

    def _collect_if_due(self) -> bool:
        moment = self._access.clock.monotonic()
        if self._full_at is None or moment - self._full_at >= policy.STORE_GC_SECONDS:
            self._full_at = moment
            self.bury()
        elif not self._over_quota():
            return False
        _, more = self.collect(self._access.clock.now())
        if more:
            self._full_at = None
        return more

    def _over_quota(self) -> bool:
        database = self._access.database
        if not database.opened:
            return False
        generation = database.generation
        connection = database.take()
        try:
            with as_unavailable(self._access.path):
                return retention.used_bytes(connection) > self._quota
        finally:
            database.give(connection, generation)
