"""How an answer becomes a snapshot: written, committed, read back, compared; the write ordering lives here."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from slimguard import policy
from slimguard.errors import StoreUnavailable
from slimguard.model import Answer, StoredCall
from slimguard.store import ledger, snapshots
from slimguard.store.access import Access
from slimguard.store.database import Replaced
from slimguard.store.threads import FIRST

At = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call ended with an answer. `remembered` is its row, in case the database lost it."""

    ref: str
    answer: Answer
    is_error: bool
    finished_at: float
    durable: bool
    remembered: ledger.Row | None


class Keeper:
    """Writes snapshots. Runs in a keeper's thread, hands each transaction to the writer and waits for it.

    A snapshot of one chunk is all the writer's, since each hand-over between threads costs as much as the work itself.
    A larger one is one transaction with its row; a large one is written in batches, so that other calls'
    intents go in between, and becomes visible with the last one. `staging` holds what is half written now.
    `relieve` is called before each batch: there a long write-ahead log may be shortened.
    """

    def __init__(self, access: Access, at: At, staging: set[int], relieve: Callable[[], None]) -> None:
        self._access = access
        self._relieve = relieve
        self._at = at
        self._staging = staging

    def keep(self, ending: Ending) -> StoredCall:
        """Store the answer and verify it; raises `StoreUnavailable` (the tool ran)."""
        plan = snapshots.plan_of(ending.answer.raw)
        try:
            return self._keep(ending, plan)
        except Replaced:
            return self._keep(ending, plan)

    async def keep_small(self, ending: Ending) -> StoredCall:
        """As `keep`, from the event loop, for an answer of at most one chunk: one transaction, then it is read back."""

        def write(connection: sqlite3.Connection) -> tuple[snapshots.Plan, int, bool]:
            plan = snapshots.plan_of(ending.answer.raw)
            blob = _intact_blob(connection, plan)
            shared = blob is not None
            if blob is None:
                blob = snapshots.insert_blob(connection, plan, self._access.database.presence.guard)
                self._insert(connection, blob, ending.answer.raw, plan, range(len(plan.chunk_digests)))
                snapshots.complete_blob(connection, blob)
            _finish(connection, ending, plan, blob)
            return plan, blob, shared

        def confirm(written: tuple[snapshots.Plan, int, bool]) -> StoredCall:
            plan, blob, shared = written
            self._at("snapshot-committed")
            return self._access.read_committed(
                lambda connection: self._confirmed(connection, ending, plan, blob, shared=shared)
            )

        return await self._access.writing(
            write, full=ending.durable, order=FIRST, ran="yes", weight=len(ending.answer.raw), confirm=confirm
        )

    def _keep(self, ending: Ending, plan: snapshots.Plan) -> StoredCall:
        shared = self._access.read(lambda connection: _intact_blob(connection, plan))
        generation = self._access.database.generation
        if shared is not None and self._link(ending, plan, shared, generation):
            self._at("snapshot-committed")
            return self._access.read(lambda connection: self._confirmed(connection, ending, plan, shared, shared=True))
        blob = self._write(ending, plan, generation)
        return self._read_back(ending, plan, blob)

    def _link(self, ending: Ending, plan: snapshots.Plan, blob: int, generation: int) -> bool:
        """Share bytes that are already stored and were just verified; False when they went meanwhile."""

        def link(connection: sqlite3.Connection) -> bool:
            self._same_database(generation)
            if not snapshots.is_complete(connection, blob):
                return False
            _finish(connection, ending, plan, blob)
            return True

        return self._access.write(link, full=ending.durable, ran="yes")

    def _write(self, ending: Ending, plan: snapshots.Plan, generation: int) -> int:
        count = len(plan.chunk_digests)
        blob = -1
        try:
            for first in range(0, max(count, 1), snapshots.BATCH_CHUNKS):
                numbers = range(first, min(first + snapshots.BATCH_CHUNKS, count))
                self._relieve()
                blob = self._write_batch(ending, plan, blob, generation, numbers)
        finally:
            self._staging.discard(blob)
        return blob

    def _write_batch(self, ending: Ending, plan: snapshots.Plan, blob: int, generation: int, numbers: range) -> int:
        guard = self._access.database.presence.guard
        is_last = numbers.stop == len(plan.chunk_digests)

        def write(connection: sqlite3.Connection) -> int:
            self._same_database(generation)
            target = snapshots.insert_blob(connection, plan, guard) if numbers.start == 0 else blob
            self._insert(connection, target, ending.answer.raw, plan, numbers)
            if is_last:
                snapshots.complete_blob(connection, target)
                _finish(connection, ending, plan, target)
            else:
                self._staging.add(target)
            return target

        # A large snapshot is flushed batch by batch: else the next intent's flush would have to write all of it.
        full = ending.durable or not is_last
        weight = min(len(numbers) * policy.CHUNK_BYTES, len(ending.answer.raw))
        target = self._access.write(write, full=full, ran="yes", weight=weight)
        if is_last:
            self._at("snapshot-committed")
        return target

    def _insert(
        self, connection: sqlite3.Connection, blob: int, raw: bytes, plan: snapshots.Plan, numbers: range
    ) -> None:
        """Write some chunks; the fault point lies before the chunk in the middle of the value."""
        middle = len(plan.chunk_digests) // 2
        if middle not in numbers and plan.chunk_digests:
            snapshots.insert_chunks(connection, blob, raw, plan, numbers)
            return
        snapshots.insert_chunks(connection, blob, raw, plan, range(numbers.start, middle))
        self._at("snapshot-half-written")
        snapshots.insert_chunks(connection, blob, raw, plan, range(middle, numbers.stop))

    def _read_back(self, ending: Ending, plan: snapshots.Plan, blob: int) -> StoredCall:
        return self._access.read(lambda connection: self._confirmed(connection, ending, plan, blob))

    def _confirmed(
        self, connection: sqlite3.Connection, ending: Ending, plan: snapshots.Plan, blob: int, *, shared: bool = False
    ) -> StoredCall:
        """The committed row, read back with its bytes; those of a `shared` snapshot were verified just before."""
        if not shared and not snapshots.same_bytes(connection, blob, ending.answer.raw, plan):
            raise StoreUnavailable(
                f"the result store {self._access.path} is unavailable: what was written could not be read back; "
                "check the disk",
                ran="yes",
                code="store",
            )
        call = ledger.find(connection, ending.ref, None, self._access.clock.now(), _anybody)
        if call is None or call.size != len(ending.answer.raw):
            raise StoreUnavailable("the result store lost the row that it had just committed", ran="yes", code="store")
        return call

    def _same_database(self, generation: int) -> None:
        if self._access.database.generation != generation:
            raise Replaced("the result store was replaced while a result was written", ran="yes", code="store")


def _finish(connection: sqlite3.Connection, ending: Ending, plan: snapshots.Plan, blob: int) -> None:
    ledger.finish(
        connection,
        ending.ref,
        ending.remembered,
        blob=blob,
        digest=plan.digest,
        size=plan.size,
        kind=ending.answer.kind,
        is_error=ending.is_error,
        note=ending.answer.note,
        finished_at=ending.finished_at,
    )


def _intact_blob(connection: sqlite3.Connection, plan: snapshots.Plan) -> int | None:
    """A stored snapshot of the same bytes that verifies; a damaged one is never shared."""
    for blob in snapshots.complete_blobs(connection, plan.digest):
        if not snapshots.fault_in(connection, blob, plan.digest, plan.size):
            return blob
    return None


def _anybody(_guard: str) -> bool:
    return True
