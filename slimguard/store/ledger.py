"""The rows of calls: what was intended, how it ended, what is remembered of it; never bytes, never a send."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from slimguard.errors import StoreUnavailable
from slimguard.model import AnswerKind, Execution, RefState, StoredCall

COLUMNS = (
    "ref, owner, scope, server, tool, tool_digest, state, created_at, expires_at, finished_at, kind, size, digest, "
    "is_error, note, guard, blob"
)

LOST = "the guard that sent this call stopped before the answer was stored"

Alive = Callable[[str], bool]
Row = Mapping[str, Any]


def row_of(execution: Execution, guard: str) -> dict[str, Any]:
    """The row of an intended call. DISPATCHED is part of it: the bytes go out right after the commit."""
    return {
        "ref": execution.ref,
        "owner": execution.owner,
        "scope": execution.scope,
        "server": execution.tool.server,
        "tool": execution.tool.name,
        "tool_digest": execution.tool.digest,
        "arguments_digest": execution.arguments_digest,
        "state": "running",
        "guard": guard,
        "created_at": execution.created_at,
        "expires_at": execution.expires_at,
    }


def running_call(row: Row) -> StoredCall:
    """The call of a row that `row_of` made, while it runs."""
    names = ("ref", "owner", "scope", "server", "tool", "tool_digest", "created_at", "expires_at")
    return StoredCall(state="still running", **{name: row[name] for name in names})


def insert(connection: sqlite3.Connection, row: Row) -> None:
    """Record an intent."""
    names = ", ".join(row)
    marks = ", ".join(f":{name}" for name in row)
    connection.execute(f"INSERT INTO calls ({names}) VALUES ({marks})", dict(row))  # noqa: S608  names are ours


def finish(
    connection: sqlite3.Connection,
    ref: str,
    remembered: Row | None,
    *,
    blob: int,
    digest: str,
    size: int,
    kind: AnswerKind,
    is_error: bool,
    note: str,
    finished_at: float,
) -> None:
    """Make `ref` a stored call. A row that is missing is made from what is `remembered`; a stored one stays.

    Raises `StoreUnavailable` when there is nothing to go by.
    """
    state = _state_or_insert(connection, ref, remembered)
    if state == "stored":
        _check_same(connection, ref, digest)
        return
    connection.execute(
        "UPDATE calls SET state = 'stored', blob = ?, digest = ?, size = ?, kind = ?, is_error = ?, note = ?,"
        " finished_at = ? WHERE ref = ?",
        (blob, digest, size, kind, int(is_error), note, finished_at, ref),
    )


def end(
    connection: sqlite3.Connection, ref: str, remembered: Row | None, *, state: RefState, note: str, finished_at: float
) -> None:
    """Record an end without an answer; a stored call stays what it is."""
    if _state_or_insert(connection, ref, remembered) != "running":
        return
    connection.execute(
        "UPDATE calls SET state = ?, note = ?, finished_at = ? WHERE ref = ?", (state, note, finished_at, ref)
    )


def end_of_guard(connection: sqlite3.Connection, guard: str, now: float) -> int:
    """Everything that a dead guard left running is unknown from now on; how many calls that were."""
    cursor = connection.execute(
        "UPDATE calls SET state = 'unknown', note = ?, finished_at = ? WHERE state = 'running' AND guard = ?",
        (LOST, now, guard),
    )
    return cursor.rowcount


def find(connection: sqlite3.Connection, ref: str, owner: str | None, now: float, alive: Alive) -> StoredCall | None:
    """The row of `ref`, if it is the owner's (None: whoever's)."""
    row = connection.execute(f"SELECT {COLUMNS} FROM calls WHERE ref = ?", (ref,)).fetchone()  # noqa: S608
    if row is None or (owner is not None and row[1] != owner):
        return None
    return call_of(row, now, alive)


def newest(
    connection: sqlite3.Connection, owner: str | None, scope: str | None, limit: int, *, now: float, alive: Alive
) -> Sequence[StoredCall]:
    """The newest rows, newest first; None for `owner` or `scope` means all."""
    wanted = [(name, value) for name, value in (("owner", owner), ("scope", scope)) if value is not None]
    condition = " AND ".join(f"{name} = ?" for name, _ in wanted) or "1"
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM calls WHERE {condition} ORDER BY created_at DESC, rowid DESC LIMIT ?",  # noqa: S608
        (*(value for _, value in wanted), limit),
    )
    return [call_of(row, now, alive) for row in rows]


def blob_of(connection: sqlite3.Connection, ref: str) -> int | None:
    """Where the bytes of a stored call are; None when they are not."""
    row = connection.execute("SELECT blob FROM calls WHERE ref = ? AND state = 'stored'", (ref,)).fetchone()
    return None if row is None else row[0]


def call_of(row: Sequence[Any], now: float, alive: Alive) -> StoredCall:
    """A row as a value, its state as it is at `now`."""
    state, guard = row[6], row[15]
    lost = state == "running" and not alive(guard)
    return StoredCall(
        ref=row[0],
        owner=row[1],
        scope=row[2],
        server=row[3],
        tool=row[4],
        tool_digest=row[5],
        state=_state_now(state, row[8], now, lost=lost),
        created_at=row[7],
        expires_at=row[8],
        finished_at=row[9],
        kind=row[10],
        size=row[11],
        digest=row[12],
        is_error=bool(row[13]),
        note=LOST if lost else row[14],
    )


def _state_now(state: str, expires_at: float, now: float, *, lost: bool) -> RefState:
    if state == "running":
        return "unknown" if lost else "still running"
    if state == "stored" and now >= expires_at:
        return "expired"
    return state  # type: ignore[return-value]


def _state_or_insert(connection: sqlite3.Connection, ref: str, remembered: Row | None) -> str:
    row = connection.execute("SELECT state FROM calls WHERE ref = ?", (ref,)).fetchone()
    if row is not None:
        return row[0]
    if remembered is None:
        raise StoreUnavailable("the result store has no record of this call", code="store")
    insert(connection, remembered)
    return "running"


def _check_same(connection: sqlite3.Connection, ref: str, digest: str) -> None:
    kept = connection.execute("SELECT digest FROM calls WHERE ref = ?", (ref,)).fetchone()[0]
    if kept != digest:
        raise StoreUnavailable("the result store already holds another answer to this call", code="store")
