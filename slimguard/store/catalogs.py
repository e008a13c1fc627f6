"""The last good catalog of each server, each definition's text once; never a definition that does not match."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, cast

from slimguard import canonical, policy
from slimguard.model import JsonObject, Tool


def load(connection: sqlite3.Connection, keys: Mapping[str, str]) -> Mapping[str, Sequence[Tool]]:
    """Kept tools of the servers whose configuration still has the same fingerprint; a damaged one is left out."""
    kept: dict[str, Sequence[Tool]] = {}
    for server, key in keys.items():
        rows = connection.execute(
            "SELECT c.name, c.tool_digest, c.definition, d.text FROM catalogs c JOIN definitions d"
            " ON d.digest = c.definition WHERE c.server = ? AND c.key = ? ORDER BY c.position",
            (server, key),
        ).fetchall()
        tools = [tool for row in rows if (tool := _tool(server, *row)) is not None]
        if tools:
            kept[server] = tools
    return kept


def save(connection: sqlite3.Connection, server: str, key: str, tools: Sequence[Tool], now: float) -> None:
    """Replace what is kept for one server and fingerprint; lists that were not saved for long go with it."""
    connection.execute("DELETE FROM catalogs WHERE server = ? AND key = ?", (server, key))
    connection.execute("DELETE FROM catalogs WHERE saved_at < ?", (now - policy.STORE_CATALOG_SECONDS,))
    for position, tool in enumerate(tools):
        text = canonical.dump(tool.definition)
        digest = canonical.digest_of(text.encode())
        connection.execute("INSERT OR IGNORE INTO definitions (digest, text) VALUES (?, ?)", (digest, text))
        connection.execute(
            "INSERT INTO catalogs (server, key, position, name, tool_digest, definition, saved_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (server, key, position, tool.name, tool.digest, digest, now),
        )
    connection.execute("DELETE FROM definitions WHERE digest NOT IN (SELECT definition FROM catalogs)")


def _tool(server: str, name: str, tool_digest: str, digest: str, text: str) -> Tool | None:
    if canonical.digest_of(text.encode()) != digest:
        return None
    try:
        definition: Any = json.loads(text)
        if not isinstance(definition, dict):
            return None
        tool = Tool(server, name, cast("JsonObject", definition), tool_digest)
        return tool if canonical.definition_digest(tool.definition) == tool_digest else None
    except (ValueError, RecursionError):
        return None
