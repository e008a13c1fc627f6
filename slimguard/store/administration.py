"""What the commands ask of a store: verify, export, figures; never through it to an upstream."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from slimguard.model import StoredCall
from slimguard.store import migrations, retention, snapshots
from slimguard.store.failures import primary_code
from slimguard.store.reading import StoredSnapshot

Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all."""

EXPORT_BYTES = 1024 * 1024
"""Bytes that an export hands on at a time."""


@dataclass(frozen=True, slots=True)
class Verified:
    """One stored call after its bytes were read whole; `fault` says where they are damaged, empty when intact."""

    ref: str
    digest: str
    size: int
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Statistics:
    """The store as `doctor` shows it."""

    path: str
    directory_mode: int
    file_mode: int
    file_bytes: int
    log_bytes: int
    schema: int
    stored_bytes: int
    quota_bytes: int
    guards_alive: int
    check: str
    """What SQLite's quick check says; `ok` when the database is sound."""
    rows: Mapping[str, int] = field(default_factory=lambda: {})
    """Calls by state."""


def verify(
    connection: sqlite3.Connection, owner: str | None, now: float, progress: Progress | None
) -> tuple[Verified, ...]:
    """Read every stored byte (of one owner, or all) and compare its digests; shared bytes are read once."""
    rows = connection.execute(
        "SELECT ref, digest, size, blob FROM calls WHERE state = 'stored' AND expires_at > ?"
        " AND (? IS NULL OR owner = ?) ORDER BY created_at, rowid",
        (now, owner, owner),
    ).fetchall()
    total = sum({blob: size for _, _, size, blob in rows}.values())
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(done, total)

    faults: dict[tuple[int, str], str] = {}
    for _, digest, size, blob in rows:
        if (blob, digest) not in faults:
            faults[blob, digest] = snapshots.fault_in(connection, blob, digest, size, advance)
    return tuple(Verified(ref, digest, size, faults[blob, digest]) for ref, digest, size, blob in rows)


def export(reader: StoredSnapshot, write: Callable[[bytes], object]) -> StoredCall:
    """Verify everything first, then hand on the exact bytes in order, verified again as they are read."""
    size = reader.call.size or 0
    for start in range(0, size, EXPORT_BYTES):
        reader.read(start, start + EXPORT_BYTES)
    for start in range(0, size, EXPORT_BYTES):
        write(reader.read(start, start + EXPORT_BYTES))
    return reader.call


def statistics(
    connection: sqlite3.Connection, path: Path, log_bytes: int, quota: int, alive: Callable[[str], bool]
) -> Statistics:
    """Figures, and SQLite's own quick check; reads the whole file."""
    found = path.stat()
    rows = dict(connection.execute("SELECT state, count(*) FROM calls GROUP BY state").fetchall())
    return Statistics(
        path=str(path),
        directory_mode=stat.S_IMODE(path.parent.stat().st_mode),
        file_mode=stat.S_IMODE(found.st_mode),
        file_bytes=found.st_size,
        log_bytes=log_bytes,
        schema=migrations.version_of(connection, str(path)),
        stored_bytes=retention.used_bytes(connection),
        quota_bytes=quota,
        guards_alive=sum(alive(row[0]) for row in connection.execute("SELECT id FROM guards").fetchall()),
        check=_quick_check(connection),
        rows=rows,
    )


def _quick_check(connection: sqlite3.Connection) -> str:
    try:
        return str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        return f"damaged (SQLite code {primary_code(error)})"
