"""The store as one object: the ports `Ledger`, `Snapshots` and `CatalogKeeper`; no SQL runs on the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from slimguard import policy
from slimguard.errors import StoreUnavailable
from slimguard.model import Answer, Execution, RefState, StoredCall, Tool
from slimguard.ports import Clock
from slimguard.settings import StoreSettings
from slimguard.store import administration, catalogs, ledger, retention, snapshots
from slimguard.store.access import Access
from slimguard.store.database import Database
from slimguard.store.guards import Presence
from slimguard.store.keeping import Ending, Keeper
from slimguard.store.reading import StoredSnapshot
from slimguard.store.threads import FIRST, LAST, NORMAL, Workers
from slimguard.store.tidying import Housekeeper


def _nowhere(_point: str) -> None:
    """Where fault points lead outside a test."""


class Store:
    """A durable store in one SQLite file, which several processes may share.

    Making one does no I/O; the first use, or `start`, opens the file in the writer thread. Every failure is a
    `StoreUnavailable` or, for one stored result, a `SnapshotUnusable`; no SQLite error gets out. `at` is called at
    fault points: `accepted-dispatched-committed`, `snapshot-half-written`, `snapshot-committed`. `page_limit`
    bounds the file in pages, for tests of a full disk.
    """

    def __init__(
        self,
        settings: StoreSettings,
        clock: Clock,
        *,
        at: Callable[[str], None] = _nowhere,
        busy_seconds: float = policy.STORE_BUSY_SECONDS,
        page_limit: int | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._at = at
        self._presence = Presence(Path(settings.path), clock.random_bytes(8).hex())
        self._database = Database(
            settings.path, clock, self._presence, busy_seconds=busy_seconds, page_limit=page_limit
        )
        self._access = Access(self._database, clock, busy_seconds)
        self._keepers = Workers("store-keeper", policy.STORE_KEEPERS)
        self._lock = threading.Lock()
        self._leases: set[StoredSnapshot] = set()
        self._remembered: OrderedDict[str, ledger.Row] = OrderedDict()
        self._under_way: set[asyncio.Event] = set()
        staging: set[int] = set()
        self._housekeeper = Housekeeper(self._access, settings.quota_bytes, self._leased, staging, self._rest)
        self._keeper = Keeper(self._access, at, staging, self._housekeeper.relieve)

    # --- life ---

    async def start(self) -> None:
        """Begin to open the store in the background; what goes wrong is raised at the first use."""
        self._access.writer.submit(self._database.ensure)
        self._housekeeper.schedule()

    async def close(self) -> None:
        """Finish what was handed over, within `policy.STORE_CLOSE_SECONDS`; running calls become `unknown`."""
        closer = Workers("store-closer", 1)
        await closer.run(self._close)
        closer.close(0)

    # --- Ledger ---

    async def open_call(self, execution: Execution) -> None:
        """Commit ACCEPTED and DISPATCHED in one fully synchronous transaction; raises `StoreUnavailable`."""
        row = ledger.row_of(execution, self._presence.guard)
        self._remember(execution.ref, row)
        await self._access.writing(
            lambda connection: ledger.insert(connection, row),
            full=True,
            order=FIRST,
            confirm=lambda _: self._at("accepted-dispatched-committed"),
        )

    async def keep(self, ref: str, answer: Answer, *, durable: bool, is_error: bool, finished_at: float) -> StoredCall:
        """Commit the answer's bytes, read them back verified, return the row; raises `StoreUnavailable`.

        It is carried through even when the task that waits for it is cancelled.
        """
        ending = Ending(ref, answer, is_error, finished_at, durable, self._remembered.get(ref))
        try:
            if len(answer.raw) <= policy.CHUNK_BYTES:
                call = await self._keep_small(ending)
            else:
                order = FIRST if len(answer.raw) <= policy.STORE_GROUP_BYTES else NORMAL
                call = await self._keepers.run(partial(self._keeper.keep, ending), order)
        except StoreUnavailable:
            self._housekeeper.schedule(thorough=True)
            raise
        self._housekeeper.written(len(answer.raw))
        self._remembered.pop(ref, None)
        return call

    async def close_call(self, ref: str, state: RefState, note: str, finished_at: float) -> None:
        """Record that `ref` ended without an answer: `failed` (not sent) or `unknown`; raises `StoreUnavailable`."""
        row = self._remembered.get(ref)
        await self._access.writing(
            lambda connection: ledger.end(connection, ref, row, state=state, note=note, finished_at=finished_at),
            full=True,
        )
        self._remembered.pop(ref, None)

    async def _keep_small(self, ending: Ending) -> StoredCall:
        """Keep it, and let those who read meanwhile wait for it: the host may have its answer already."""
        kept = asyncio.Event()
        self._under_way.add(kept)
        try:
            return await self._keeper.keep_small(ending)
        finally:
            self._under_way.discard(kept)
            kept.set()

    async def _all_kept(self) -> None:
        """Wait for the small answers that are being kept now, so that a host finds what it was given before."""
        for kept in tuple(self._under_way):
            await kept.wait()

    # --- Snapshots ---

    async def find(self, ref: str, owner: str) -> StoredCall | None:
        """The row of `ref` if it belongs to `owner`, whatever its state, else None.

        A call that this process runs is known even while the database is not; else raises `StoreUnavailable`.
        """
        await self._all_kept()
        row = self._remembered.get(ref)
        known = None if row is None or row["owner"] != owner else ledger.running_call(row)
        try:
            found = await self._access.reading(
                lambda connection: ledger.find(connection, ref, owner, self._clock.now(), self._presence.alive)
            )
        except StoreUnavailable:
            if known is None:
                raise
            return known
        return found or known

    async def recent(self, owner: str, scope: str, limit: int) -> Sequence[StoredCall]:
        """The newest calls of `owner` in `scope`, newest first."""
        return await self.list_calls(owner, scope, limit)

    async def open(self, ref: str, owner: str) -> StoredSnapshot:
        """Lease a stored snapshot for reading; raises `SnapshotUnusable` or `StoreUnavailable`."""
        await self._all_kept()
        return await self._access.readers.run(partial(self._open_snapshot, ref, owner))

    async def secret(self) -> bytes:
        """The 32-byte key that authenticates cursors, made with the database."""
        row = await self._access.reading(
            lambda connection: connection.execute("SELECT value FROM meta WHERE key = 'secret'").fetchone()
        )
        if row is None:
            raise StoreUnavailable(
                f"the result store {self._access.path} has no cursor key; move it away", code="store"
            )
        return bytes(row[0])

    # --- CatalogKeeper ---

    async def load(self, keys: Mapping[str, str]) -> Mapping[str, Sequence[Tool]]:
        """Kept tools by server name; `keys` maps a server's name to the fingerprint of its configuration."""
        return await self._access.reading(lambda connection: catalogs.load(connection, keys))

    async def save(self, server: str, key: str, tools: Sequence[Tool]) -> None:
        """Replace what is kept for one server."""
        await self._access.writing(
            lambda connection: catalogs.save(connection, server, key, tools, self._clock.now()), full=False, order=LAST
        )

    # --- administration ---

    async def list_calls(self, owner: str | None, scope: str | None, limit: int) -> Sequence[StoredCall]:
        """The newest calls, newest first; None for `owner` or `scope` means all."""
        await self._all_kept()
        return await self._access.reading(
            lambda connection: ledger.newest(
                connection, owner, scope, limit, now=self._clock.now(), alive=self._presence.alive
            )
        )

    async def verify(
        self, progress: administration.Progress | None = None, *, owner: str | None = None
    ) -> Sequence[administration.Verified]:
        """Read every stored byte and compare its digests; `progress` is called from another thread."""
        return await self._access.reading(
            lambda connection: administration.verify(connection, owner, self._clock.now(), progress)
        )

    async def gc(self, now: float | None = None) -> retention.Collected:
        """Remove all that may go at `now` (seconds since the epoch); what was done."""
        moment = self._clock.now() if now is None else now
        await self._access.writer.run(self._housekeeper.bury)
        total, more = retention.Collected(), True
        while more:
            done, more = await self._access.writer.run(partial(self._housekeeper.collect, moment))
            total = total + done
        while await self._access.writer.run(self._housekeeper.trim):
            pass
        if self._database.log_is_long():
            await self._housekeeper.checkpointer.run(self._housekeeper.checkpoint)
        return total

    async def remove(self, ref: str, owner: str | None = None) -> bool:
        """Remove one call and its bytes for good; False when there is none. Raises `RequestRejected` when it is
        running or being read."""
        leased = self._leased()
        removed = await self._access.writing(
            lambda connection: retention.remove(connection, ref, owner, leased, self._presence.alive), full=True
        )
        self._housekeeper.schedule()
        return removed

    async def export(self, ref: str, owner: str, write: Callable[[bytes], object]) -> StoredCall:
        """Hand the exact stored bytes to `write`, from another thread, after all of them were verified."""
        reader = await self.open(ref, owner)
        try:
            return await self._access.readers.run(partial(administration.export, reader, write))
        finally:
            reader.close()

    async def statistics(self) -> administration.Statistics:
        """Figures and SQLite's quick check, for `doctor`."""
        database = self._database
        return await self._access.reading(
            lambda connection: administration.statistics(
                connection, database.path, database.log_size(), self._settings.quota_bytes, self._presence.alive
            )
        )

    # --- in the threads ---

    def _open_snapshot(self, ref: str, owner: str) -> StoredSnapshot:
        now = self._clock.now()
        call = self._access.read(lambda connection: ledger.find(connection, ref, owner, now, self._presence.alive))
        if call is None or call.state != "stored":
            raise snapshots.not_readable(ref, "not found" if call is None else call.state)
        reader = StoredSnapshot(self._database, call, self._release, self._clock.monotonic)
        with self._lock:
            self._leases.add(reader)
        try:
            reader.begin()
        except BaseException:
            self._release(reader)
            raise
        return reader

    def _release(self, reader: StoredSnapshot) -> None:
        with self._lock:
            self._leases.discard(reader)

    def _leased(self) -> frozenset[int]:
        with self._lock:
            return frozenset(reader.blob for reader in self._leases)

    def _rest(self) -> None:
        with self._lock:
            readers = list(self._leases)
        for reader in readers:
            reader.rest(policy.STORE_LEASE_SECONDS)

    def _remember(self, ref: str, row: ledger.Row) -> None:
        self._remembered[ref] = row
        while len(self._remembered) > policy.STORE_REMEMBERED_CALLS:
            self._remembered.popitem(last=False)

    def _close(self) -> None:
        until = self._clock.monotonic() + policy.STORE_CLOSE_SECONDS
        self._keepers.close(policy.STORE_CLOSE_SECONDS)
        self._access.readers.close(max(0.0, until - self._clock.monotonic()))
        self._housekeeper.checkpointer.close(max(0.0, until - self._clock.monotonic()))
        with contextlib.suppress(StoreUnavailable):
            self._access.writer.submit(partial(self._leave, until), LAST)
        self._access.writer.close(max(0.0, until - self._clock.monotonic()))

    def _leave(self, until: float) -> None:
        if self._database.registered:
            with contextlib.suppress(Exception):
                retention.leave(self._database, until, self._clock.now())
        with self._lock:
            readers = list(self._leases)
        for reader in readers:
            reader.close()
        self._database.retire()
        self._presence.release()
