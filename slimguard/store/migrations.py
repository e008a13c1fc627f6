"""The database's schema, as numbered steps; a step that was released is never edited, only followed by another."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING

from slimguard import policy
from slimguard.errors import StoreUnavailable

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = 0x51169A2D
"""Marks a database as a store of ours (`pragma application_id`)."""

CHUNK_BITS = 20
"""A chunk's row id is its blob's id shifted by this, plus the chunk's number: one blob's chunks lie together."""

SEAT_BELTS = """
CREATE TRIGGER chunks_never_change BEFORE UPDATE ON chunks
BEGIN SELECT RAISE(ABORT, 'stored bytes are immutable'); END;
CREATE TRIGGER chunks_never_replaced BEFORE INSERT ON chunks
WHEN EXISTS (SELECT 1 FROM chunks WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'stored bytes are immutable'); END;
CREATE TRIGGER chunks_kept_while_used BEFORE DELETE ON chunks
WHEN EXISTS (SELECT 1 FROM calls WHERE blob = (OLD.id >> 20) AND state = 'stored')
BEGIN SELECT RAISE(ABORT, 'stored bytes are in use'); END;
CREATE TRIGGER blobs_never_change BEFORE UPDATE ON blobs WHEN OLD.complete = 1
BEGIN SELECT RAISE(ABORT, 'a snapshot is immutable'); END;
CREATE TRIGGER blobs_never_replaced BEFORE INSERT ON blobs
WHEN EXISTS (SELECT 1 FROM blobs WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'a snapshot is immutable'); END;
CREATE TRIGGER blobs_kept_while_used BEFORE DELETE ON blobs
WHEN EXISTS (SELECT 1 FROM calls WHERE blob = OLD.id AND state = 'stored')
BEGIN SELECT RAISE(ABORT, 'a snapshot is in use'); END;
CREATE TRIGGER calls_only_end BEFORE UPDATE ON calls
WHEN OLD.state = 'stored' AND NEW.state NOT IN ('expired', 'evicted')
BEGIN SELECT RAISE(ABORT, 'a stored call is immutable'); END;
CREATE TRIGGER calls_never_replaced BEFORE INSERT ON calls
WHEN EXISTS (SELECT 1 FROM calls WHERE ref = NEW.ref)
BEGIN SELECT RAISE(ABORT, 'a ref is used once'); END;
"""


def _results(database: Database) -> None:
    """Step 1: guards, calls, and the bytes of their answers."""
    execute = database.conn.execute
    database.table("meta").create({"key": str, "value": bytes}, pk="key", not_null=["value"])
    database.table("guards").create({"id": str, "pid": int, "started_at": float}, pk="id")
    execute(
        "CREATE TABLE blobs (id INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL, size INTEGER NOT NULL,"
        " guard TEXT NOT NULL, complete INTEGER NOT NULL DEFAULT 0)"
    )
    database.table("chunks").create({"id": int, "digest": bytes, "data": bytes}, pk="id", not_null=["digest", "data"])
    database.table("calls").create(
        {
            "ref": str, "owner": str, "scope": str, "server": str, "tool": str, "tool_digest": str,
            "arguments_digest": str, "state": str, "guard": str, "created_at": float, "expires_at": float,
            "finished_at": float, "kind": str, "size": int, "digest": str, "blob": int, "is_error": int, "note": str,
        },
        pk="ref",
        not_null=["owner", "scope", "server", "tool", "tool_digest", "state", "guard", "created_at", "expires_at"],
        defaults={"is_error": 0, "note": ""},
    )  # fmt: skip
    database.table("calls").create_index(["owner", "scope", "created_at"])
    database.table("calls").create_index(["state", "expires_at"])
    database.table("calls").create_index(["state", "finished_at"])
    database.table("calls").create_index(["blob"])
    database.table("blobs").create_index(["digest"])
    for statement in SEAT_BELTS.split("END;\n"):
        if statement.strip():
            execute(statement + "END")


def _catalogs(database: Database) -> None:
    """Step 2: the last good catalog of each server, each definition's text once."""
    database.table("definitions").create({"digest": str, "text": str}, pk="digest", not_null=["text"])
    database.table("catalogs").create(
        {
            "server": str, "key": str, "position": int, "name": str, "tool_digest": str, "definition": str,
            "saved_at": float,
        },
        pk=("server", "key", "position"),
        not_null=["name", "tool_digest", "definition", "saved_at"],
    )  # fmt: skip
    database.table("catalogs").create_index(["definition"])


STEPS: tuple[Callable[[Database], None], ...] = (_results, _catalogs)
VERSION = len(STEPS)
"""The schema that this program reads and writes (`pragma user_version`)."""


def version_of(connection: sqlite3.Connection, path: str) -> int:
    """The schema's version, 0 for an empty database.

    Raises `StoreUnavailable` when the database is another program's or a newer slimguard's.
    """
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if application != APPLICATION_ID and not empty:
        raise StoreUnavailable(
            f"the result store {path} is refused: it is another program's database; point store.path elsewhere",
            code="store_refused",
        )
    if version > VERSION:
        raise StoreUnavailable(
            f"the result store {path} is refused: a newer slimguard wrote it (schema {version}, this one knows "
            f"{VERSION}); update slimguard or point store.path elsewhere",
            code="store_refused",
        )
    return 0 if empty else version


def set_up(connection: sqlite3.Connection, path: str, random_bytes: Callable[[int], bytes]) -> None:
    """Make a writing connection's database ours: its journal, and the schema of `VERSION` with a secret of its own."""
    version = version_of(connection, path)
    if version == 0:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
    connection.execute(f"PRAGMA journal_size_limit = {policy.STORE_JOURNAL_LIMIT_BYTES}").fetchall()
    if version == VERSION:
        return
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = version_of(connection, path)
        migrate(connection, version, random_bytes(32))
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def migrate(connection: sqlite3.Connection, version: int, secret: bytes) -> None:
    """Take the schema from `version` to `VERSION`, inside the transaction that the caller has begun."""
    from sqlite_utils import Database  # noqa: PLC0415  costs 220 ms, paid only when there is something to migrate

    database = Database(connection, recursive_triggers=False)
    for step in STEPS[version:]:
        step(database)
    connection.execute("INSERT OR IGNORE INTO meta (key, value) VALUES ('secret', ?)", (secret,))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
