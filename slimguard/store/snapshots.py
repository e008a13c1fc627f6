"""The bytes of answers: chunked, digested, written once, verified at every read; never changed, never guessed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from blake3 import blake3

from slimguard import canonical, policy
from slimguard.errors import SnapshotUnusable, StoreUnavailable
from slimguard.model import Ran
from slimguard.store.failures import DAMAGED, primary_code
from slimguard.store.migrations import CHUNK_BITS

BATCH_CHUNKS = policy.STORE_BATCH_BYTES // policy.CHUNK_BYTES

NOT_YES: Mapping[str, Ran] = {
    "failed": "no", "still running": "unknown", "unknown": "unknown", "not found": "unknown",
}  # fmt: skip
"""Whether the tool ran, for the states of a ref that do not imply that it did."""

WHAT_TO_DO = (
    "the stored bytes are not usable; call the tool again only if running it twice is safe, and check the disk: "
    "slimguard results verify"
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a value will be as a snapshot, before anything is written."""

    digest: str
    size: int
    chunk_digests: tuple[bytes, ...]


def plan_of(raw: bytes) -> Plan:
    """Digest every chunk of `raw`, and the manifest over them."""
    digests = tuple(blake3(chunk).digest() for chunk in canonical.chunks(raw))
    return Plan(canonical.manifest_digest(len(raw), digests), len(raw), digests)


def insert_blob(connection: sqlite3.Connection, plan: Plan, guard: str) -> int:
    """Begin a snapshot, not complete yet."""
    cursor = connection.execute(
        "INSERT INTO blobs (digest, size, guard) VALUES (?, ?, ?)", (plan.digest, plan.size, guard)
    )
    if cursor.lastrowid is None:
        raise StoreUnavailable("the result store gave no row for the snapshot", code="store")
    return cursor.lastrowid


def insert_chunks(connection: sqlite3.Connection, blob: int, raw: bytes, plan: Plan, numbers: range) -> None:
    """Write the chunks of these numbers."""
    view = memoryview(raw)
    size = policy.CHUNK_BYTES
    connection.executemany(
        "INSERT INTO chunks (id, digest, data) VALUES (?, ?, ?)",
        (
            ((blob << CHUNK_BITS) + number, plan.chunk_digests[number], view[number * size : (number + 1) * size])
            for number in numbers
        ),
    )


def complete_blob(connection: sqlite3.Connection, blob: int) -> None:
    """From here on the snapshot is immutable."""
    connection.execute("UPDATE blobs SET complete = 1 WHERE id = ?", (blob,))


def delete_blob(connection: sqlite3.Connection, blob: int) -> int:
    """Remove a snapshot that no stored call uses; its bytes, 0 when it is used or gone."""
    row = connection.execute("SELECT size FROM blobs WHERE id = ?", (blob,)).fetchone()
    used = connection.execute("SELECT 1 FROM calls WHERE blob = ? AND state = 'stored' LIMIT 1", (blob,)).fetchone()
    if row is None or used is not None:
        return 0
    connection.execute("DELETE FROM chunks WHERE id >= ? AND id < ?", (blob << CHUNK_BITS, (blob + 1) << CHUNK_BITS))
    connection.execute("DELETE FROM blobs WHERE id = ?", (blob,))
    return row[0]


def complete_blobs(connection: sqlite3.Connection, digest: str) -> Sequence[int]:
    """The complete snapshots of these bytes, newest first; more than one only after damage."""
    rows = connection.execute("SELECT id FROM blobs WHERE digest = ? AND complete = 1 ORDER BY id DESC", (digest,))
    return [row[0] for row in rows]


def is_complete(connection: sqlite3.Connection, blob: int) -> bool:
    """Whether the snapshot is still there."""
    return connection.execute("SELECT 1 FROM blobs WHERE id = ? AND complete = 1", (blob,)).fetchone() is not None


def chunk_digests(connection: sqlite3.Connection, blob: int) -> list[bytes]:
    """The kept digests of a snapshot's chunks, in order."""
    rows = connection.execute(
        "SELECT digest FROM chunks WHERE id >= ? AND id < ? ORDER BY id",
        (blob << CHUNK_BITS, (blob + 1) << CHUNK_BITS),
    )
    return [row[0] for row in rows]


def chunk_rows(
    connection: sqlite3.Connection, blob: int, first: int = 0, last: int = (1 << CHUNK_BITS) - 1
) -> Iterator[tuple[int, bytes]]:
    """Number and bytes of the chunks `first` to `last` (inclusive), in order, unverified.

    What is no blob any more reads as empty.
    """
    base = blob << CHUNK_BITS
    rows = connection.execute(
        "SELECT id, data FROM chunks WHERE id >= ? AND id <= ? ORDER BY id", (base + first, base + last)
    )
    for number, data in rows:
        yield number - base, data if isinstance(data, bytes) else b""


def fault_in(
    connection: sqlite3.Connection, blob: int, digest: str, size: int, advance: Callable[[int], None] | None = None
) -> str:
    """What is wrong with a snapshot, in a few words; empty when every byte is as it was stored."""
    try:
        digests = chunk_digests(connection, blob)
        if canonical.manifest_digest(size, digests) != digest:
            return "manifest"
        seen = 0
        for number, data in chunk_rows(connection, blob):
            if number != seen or blake3(data).digest() != digests[number]:
                return f"chunk {seen + 1} of {len(digests)}"
            seen += 1
            if advance is not None:
                advance(len(data))
    except sqlite3.DatabaseError as error:
        if primary_code(error) not in DAMAGED:
            raise
        return "database page"
    return "" if seen == len(digests) else f"chunk {seen + 1} of {len(digests)}"


def same_bytes(connection: sqlite3.Connection, blob: int, raw: bytes, plan: Plan) -> bool:
    """Whether the committed snapshot, read back, is `raw`: its digests and every byte."""
    if tuple(chunk_digests(connection, blob)) != plan.chunk_digests:
        return False
    view = memoryview(raw)
    size = policy.CHUNK_BYTES
    count = 0
    for number, data in chunk_rows(connection, blob):
        if number != count or bytes(view[number * size : (number + 1) * size]) != data:
            return False
        count += 1
    return count == len(plan.chunk_digests)


def mismatch(ref: str, where: str) -> SnapshotUnusable:
    """The loud error of a failed verification."""
    return SnapshotUnusable(
        f"digest mismatch: the stored bytes of {ref} are damaged ({where}); the tool ran, but this result cannot be "
        "read; nothing of it is shown",
        next_call=WHAT_TO_DO,
    )


def not_readable(ref: str, state: str) -> SnapshotUnusable:
    """The error of a ref without bytes to read, by its state."""
    reasons = {
        "still running": "is still running; wait for it with read_result",
        "failed": "failed before the tool was asked; there is no result",
        "unknown": "ended without an answer; whether the tool ran is unknown",
        "expired": "expired: its time to live is over and its bytes are removed",
        "evicted": "was evicted: newer results needed the space of store.quota_bytes",
        "not found": "not found",
    }
    error = SnapshotUnusable(f"the result {ref} {reasons.get(state, state)}", code=state.replace(" ", "_"))
    error.ran = NOT_YES.get(state, "yes")
    return error
