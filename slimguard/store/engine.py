"""Which SQLite this is; opens nothing."""

from __future__ import annotations

import sqlite3


def version() -> str:
    """The version of the SQLite library that Python brings."""
    return sqlite3.sqlite_version
