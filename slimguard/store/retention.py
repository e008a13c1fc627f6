"""What may go and when: expiry, the quota, tombstones, remains of dead guards; never what runs or is being read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Set
from dataclasses import dataclass

from slimguard import policy
from slimguard.errors import RequestRejected
from slimguard.store import files, ledger, snapshots
from slimguard.store.database import Database


@dataclass(frozen=True, slots=True)
class Collected:
    """What retention did: rows expired and evicted, tombstones forgotten, bytes of results freed."""

    expired: int = 0
    evicted: int = 0
    forgotten: int = 0
    bytes_freed: int = 0

    def __add__(self, other: Collected) -> Collected:
        return Collected(
            self.expired + other.expired,
            self.evicted + other.evicted,
            self.forgotten + other.forgotten,
            self.bytes_freed + other.bytes_freed,
        )


def used_bytes(connection: sqlite3.Connection) -> int:
    """Bytes of all snapshots, shared ones counted once."""
    return int(connection.execute("SELECT coalesce(sum(size), 0) FROM blobs").fetchone()[0])


def collect(connection: sqlite3.Connection, now: float, quota: int, leased: Set[int]) -> tuple[Collected, bool]:
    """One bounded step, inside the caller's transaction, and whether a further step has something to do."""
    expired, freed, full = _expire(connection, now, leased)
    if full:
        return Collected(expired=expired, bytes_freed=freed), True
    evicted, more_freed, over = _evict(connection, quota, leased)
    forgotten, many = _forget(connection, now)
    return Collected(expired, evicted, forgotten, freed + more_freed), over or many


def _expire(connection: sqlite3.Connection, now: float, leased: Set[int]) -> tuple[int, int, bool]:
    rows = connection.execute(
        "SELECT ref, blob FROM calls WHERE state = 'stored' AND expires_at <= ? ORDER BY expires_at LIMIT ?",
        (now, policy.STORE_GC_STEP_ROWS + len(leased)),
    ).fetchall()
    count = freed = 0
    for ref, blob in rows:
        if count == policy.STORE_GC_STEP_ROWS or freed > policy.STORE_GC_STEP_BYTES:
            return count, freed, True
        if blob not in leased:
            freed += _drop(connection, ref, blob, "expired")
            count += 1
    return count, freed, False


def _evict(connection: sqlite3.Connection, quota: int, leased: Set[int]) -> tuple[int, int, bool]:
    """Oldest stored first, until the quota holds. The newest stays whatever its size: its ref was just given."""
    over = used_bytes(connection) - quota
    if over <= 0:
        return 0, 0, False
    rows = connection.execute(
        "SELECT ref, blob FROM calls WHERE state = 'stored' ORDER BY finished_at, rowid LIMIT ?",
        (policy.STORE_GC_STEP_ROWS + len(leased) + 1,),
    ).fetchall()
    newest = connection.execute(
        "SELECT ref FROM calls WHERE state = 'stored' ORDER BY finished_at DESC, rowid DESC LIMIT 1"
    ).fetchone()
    count = freed = 0
    for ref, blob in rows:
        if freed >= over:
            return count, freed, False
        if count == policy.STORE_GC_STEP_ROWS or freed > policy.STORE_GC_STEP_BYTES:
            return count, freed, True
        if blob not in leased and ref != newest[0]:
            freed += _drop(connection, ref, blob, "evicted")
            count += 1
    return count, freed, False


def _drop(connection: sqlite3.Connection, ref: str, blob: int, state: str) -> int:
    """The row stays as a tombstone with what it was; its bytes go when no other row uses them."""
    connection.execute("UPDATE calls SET state = ?, blob = NULL WHERE ref = ?", (state, ref))
    return snapshots.delete_blob(connection, blob)


def _forget(connection: sqlite3.Connection, now: float) -> tuple[int, bool]:
    step = policy.STORE_GC_STEP_ROWS
    old = connection.execute(
        "DELETE FROM calls WHERE ref IN (SELECT ref FROM calls WHERE state NOT IN ('stored', 'running')"
        " AND expires_at <= ? LIMIT ?)",
        (now - policy.STORE_TOMBSTONE_SECONDS, step),
    ).rowcount
    rows = connection.execute("SELECT count(*) FROM calls WHERE state NOT IN ('stored', 'running')").fetchone()[0]
    surplus = min(step, rows - policy.STORE_TOMBSTONE_ROWS)
    if surplus > 0:
        connection.execute(
            "DELETE FROM calls WHERE ref IN (SELECT ref FROM calls WHERE state NOT IN ('stored', 'running')"
            " ORDER BY expires_at LIMIT ?)",
            (surplus,),
        )
    return old + max(0, surplus), step in (old, surplus)


def bury_dead_guards(database: Database, until: float, now: float, staging: Set[int]) -> int:
    """Settle what guards that ended left: running calls are `unknown`, half-written snapshots go; how many calls.

    Half-written snapshots of this guard that are not in `staging` are remains of a failed write, and go too.
    """
    presence = database.presence
    connection = database.take()
    generation = database.generation
    try:
        guards = presence.seen() | {row[0] for row in connection.execute("SELECT id FROM guards")}
        guards |= {row[0] for row in connection.execute("SELECT guard FROM calls WHERE state = 'running'")}
        halves = connection.execute("SELECT id, guard FROM blobs WHERE complete = 0").fetchall()
    finally:
        database.give(connection, generation)
    buried = 0
    guards |= {guard for _, guard in halves}
    for guard in sorted(guards - {presence.guard}):
        # Shared, so that nobody who looks meanwhile takes the dead one for alive; to bury it twice does no harm.
        descriptor = None if presence.alive(guard) else files.try_lock(presence.file_of(guard), shared=True)
        if descriptor is None:
            continue
        try:
            with database.transaction(full=False, until=until) as writing:
                buried += ledger.end_of_guard(writing, guard, now)
                _drop_half_written(writing, guard, frozenset())
                writing.execute("DELETE FROM guards WHERE id = ?", (guard,))
            presence.file_of(guard).unlink(missing_ok=True)
        finally:
            os.close(descriptor)
    if any(guard == presence.guard and blob not in staging for blob, guard in halves):
        with database.transaction(full=False, until=until) as writing:
            _drop_half_written(writing, presence.guard, staging)
    return buried


def remove(
    connection: sqlite3.Connection, ref: str, owner: str | None, leased: Set[int], alive: Callable[[str], bool]
) -> bool:
    """Remove one call for good, inside the caller's transaction; False when there is none of that owner."""
    row = connection.execute("SELECT owner, state, guard, blob FROM calls WHERE ref = ?", (ref,)).fetchone()
    if row is None or (owner is not None and row[0] != owner):
        return False
    _, state, guard, blob = row
    if state == "running" and alive(guard):
        raise RequestRejected(f"the result {ref} is still running; it can be removed when it has ended")
    if blob is not None and blob in leased:
        raise RequestRejected(f"the result {ref} is being read; remove it when the reader is done")
    connection.execute("DELETE FROM calls WHERE ref = ?", (ref,))
    if blob is not None:
        snapshots.delete_blob(connection, blob)
    return True


def leave(database: Database, until: float, now: float) -> None:
    """What this guard still has running when it ends is `unknown`; its row goes."""
    guard = database.presence.guard
    with database.transaction(full=False, until=until) as connection:
        ledger.end_of_guard(connection, guard, now)
        connection.execute("DELETE FROM guards WHERE id = ?", (guard,))


def _drop_half_written(connection: sqlite3.Connection, guard: str, staging: Set[int]) -> None:
    rows = connection.execute("SELECT id FROM blobs WHERE complete = 0 AND guard = ?", (guard,)).fetchall()
    for (blob,) in rows:
        if blob not in staging:
            snapshots.delete_blob(connection, blob)
