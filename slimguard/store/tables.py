"""Read-only SQL over the tables of one result, in memory; never a file, never anything but SELECT.

Bounded: an authorizer allows SELECT and the functions of a list, a watch stops a query by time and by the memory that
it makes the process grow, functions on texts are linear, SQLite's own limits cap texts, patterns and depth.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import Any

from slimguard.errors import QueryRejected
from slimguard.policy import SQL_CELL_BYTES, SQL_CHARS, SQL_MEMORY_BYTES
from slimguard.store.dialects import translated
from slimguard.store.functions import add_expected, add_functions, add_patterns
from slimguard.store.tablenames import Names, repaired
from slimguard.store.watching import Watch

_MATCHED_TEXT_BYTES = 1024 * 1024
"""Texts that a SELECT with LIKE or GLOB may make when the tables hold none that is long: one match is a second."""
_PATTERN_WORD = re.compile(r"\b(?:like|glob)\b", re.IGNORECASE)
_LONG_TEXT_BYTES = 256 * 1024
"""With longer texts in the tables LIKE and GLOB run on the linear engine."""
_REPAIRS = 12
_BATCH = 2_000
_FUNCTIONS = frozenset((
    "abs", "avg", "ceil", "ceiling", "changes", "char", "coalesce", "concat", "concat_ws", "count", "cume_dist",
    "date", "datetime", "dense_rank", "exp", "first_value", "floor", "format", "glob", "group_concat", "hex", "iif",
    "ifnull", "instr", "json", "json_array", "json_array_length", "json_each", "json_extract", "json_group_array",
    "json_group_object", "json_object", "json_quote", "json_tree", "json_type", "json_valid", "julianday", "->",
    "->>", "lag", "last_value", "lead", "length", "like", "ln", "log", "log10", "log2", "lower", "ltrim", "max",
    "min", "mod", "nth_value", "ntile", "nullif", "octet_length", "percent_rank", "pow", "power", "printf", "quote",
    "rank", "regexp", "replace", "round", "row_number", "rtrim", "sign", "sqrt", "strftime", "string_agg", "substr",
    "substring", "sum", "time", "timediff", "total", "trim", "trunc", "typeof", "unicode", "unixepoch", "upper",
    "acos", "asin", "atan", "atan2", "cos", "degrees", "pi", "radians", "sin", "tan", "unhex", "unlikely", "likely",
    "if", "left_part", "len", "nvl", "right_part", "date_trunc", "from_unixtime", "year", "month", "day", "hour",
    "minute", "median", "stddev",
))  # fmt: skip
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: SQL_CELL_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 4 * SQL_CHARS,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 60,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 10,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

Source = tuple[Sequence[str], Sequence[Sequence[Any]]]


class SqliteTables:
    """The `TableEngine` on SQLite in memory."""

    def build(self, tables: Mapping[str, Source]) -> SqliteTableSet:
        """Tables by name; rows are read when a query first names their table. The first one is the main table."""
        return SqliteTableSet(tables)


class SqliteTableSet:
    """The tables of one result in one connection; used from one thread at a time."""

    def __init__(self, tables: Mapping[str, Source]) -> None:
        self._tables = dict(tables)
        self._names = Names({name: _distinct(columns) for name, (columns, _) in tables.items()})
        self._loaded: set[str] = set()
        self._longest = 0
        self.note = ""
        """How names were read in the last SELECT, when they were not read as written."""
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._connection.execute("PRAGMA temp_store = MEMORY")
        add_functions(self._connection)
        add_expected(self._connection)
        for function in ("json_each", "json_tree"):  # made now: the authorizer would refuse their own CREATE TABLE
            self._connection.execute(f"SELECT count(*) FROM {function}('[]')").fetchone()  # noqa: S608  # our own names
        for category, limit in _LIMITS.items():
            self._connection.setlimit(category, limit)

    def select(
        self, sql: str, *, max_rows: int, max_bytes: int, seconds: float
    ) -> tuple[Sequence[str], Sequence[Any], bool]:
        """Columns, rows and whether more rows exist; raises `QueryRejected` with the tables and the nearest names.

        Names are forgiving: `rows` is the main table, any name is when there is only one table, and a column may be
        named by the last part of a dotted name when that is unique.
        """
        text = sql.strip().rstrip(";").strip()
        if not text:
            raise QueryRejected(
                "sql: needs a SELECT", detail=self._names.listing(), next_call=self._names.example(), code="sql"
            )
        if len(text) > SQL_CHARS:
            raise QueryRejected(f"the SELECT is longer than {SQL_CHARS:,} characters", code="sql")
        tried: set[str] = set()
        notes: list[str] = []
        until = time.monotonic() + seconds
        for _ in range(_REPAIRS):
            self._load_named(text)
            try:
                # Filling the tables counts, but leaves half of the time: the next SELECT finds them filled.
                found = self._run(text, max_rows, max_bytes, max(seconds / 2, until - time.monotonic()))
                self.note = ", ".join(notes)
                return found
            except sqlite3.Error as error:
                better = repaired(text, str(error), self._names) or translated(text, str(error), self._names)
                if better is None or better.sql in tried:
                    raise self._explained(error) from error
                tried.add(better.sql)
                text = better.sql
                notes.extend([better.note] if better.note else [])
        raise QueryRejected("sql: too many names that do not exist", detail=self._names.listing(), code="sql")

    def close(self) -> None:
        """Free the memory."""
        self._connection.close()

    def _run(
        self, sql: str, max_rows: int, max_bytes: int, seconds: float
    ) -> tuple[Sequence[str], Sequence[Any], bool]:
        connection = self._connection
        if _PATTERN_WORD.search(sql):
            longest = min(SQL_CELL_BYTES, max(_MATCHED_TEXT_BYTES, 4 * self._longest))
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
        connection.set_authorizer(_authorize)
        watch = Watch(connection, seconds, SQL_MEMORY_BYTES)
        try:
            cursor = connection.execute(sql)
            if cursor.description is None:
                raise QueryRejected("sql: only a SELECT is allowed", code="sql")
            columns = [str(column[0]) for column in cursor.description]
            rows, more = _fetched(cursor, max_rows, max_bytes)
            cursor.close()
        except MemoryError as error:
            raise sqlite3.OperationalError("interrupted") from error
        except sqlite3.Warning as error:  # several statements
            raise sqlite3.OperationalError(str(error)) from error
        finally:
            watch.end()
            connection.set_authorizer(None)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, SQL_CELL_BYTES)
        return columns, rows, more

    def _load_named(self, sql: str) -> None:
        for name in self._names.mentioned(sql):
            if name not in self._loaded:
                self._load(name)

    def _load(self, name: str) -> None:
        columns = self._names.columns[name]
        quoted = ", ".join(_quoted(column) for column in columns)
        connection = self._connection
        connection.execute("BEGIN")
        try:
            connection.execute(f"CREATE TABLE {_quoted(name)} ({quoted})")
            insert = f"INSERT INTO {_quoted(name)} VALUES ({', '.join('?' * len(columns))})"  # noqa: S608  # quoted above
            connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, max(10, len(columns)))
            width = len(columns)
            rows = self._tables[name][1]
            connection.executemany(insert, ([_cell(value) for value in _padded(row, width)] for row in rows))
            longest = ", ".join(f"max(length({_quoted(column)}))" for column in columns)
            found = connection.execute(f"SELECT {longest} FROM {_quoted(name)}").fetchone()  # noqa: S608  # quoted above
            connection.execute("COMMIT")
        except sqlite3.Error:
            connection.execute("ROLLBACK")
            raise
        finally:
            connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, _LIMITS[sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER])
        self._loaded.add(name)
        self._longest = max(self._longest, *(size or 0 for size in found))
        if self._longest > _LONG_TEXT_BYTES:
            add_patterns(connection)

    def _explained(self, error: sqlite3.Error) -> QueryRejected:
        message = str(error)
        listing = self._names.listing()
        if "interrupted" in message:
            return QueryRejected(
                "sql: stopped, it took too long or too much memory", next_call="add a WHERE, or join fewer rows",
                code="sql_bound",
            )  # fmt: skip
        if "not authorized" in message or "one statement" in message or "prohibited" in message:
            return QueryRejected(
                "sql: only one SELECT is allowed, with the usual functions", detail=listing, code="sql"
            )
        if "too big" in message or "too complex" in message or "too large" in message:
            return QueryRejected(f"sql: a limit was reached: {message}", code="sql_bound")
        if "user-defined function" in message:
            return QueryRejected(
                "sql: a pattern is no regex of the linear engine, or a pattern or text is too long for its function",
                next_call="use a simpler or shorter pattern", code="sql_bound",
            )  # fmt: skip
        near = self._names.nearest(message)
        return QueryRejected(f"sql: {message}{near}", detail=listing, next_call=self._names.example(), code="sql")


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or first or "").lower() in _FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _fetched(cursor: sqlite3.Cursor, max_rows: int, max_bytes: int) -> tuple[list[Any], bool]:
    rows: list[Any] = []
    size = 0
    for row in cursor:
        size += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
        if rows and (len(rows) >= max_rows or size > max_bytes):
            return rows, True
        rows.append(row)
    return rows, False


def _cell(value: Any) -> Any:
    """A JSON value as SQLite holds it: containers as JSON text, large integers as text, true and false as 1 and 0."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(1 << 63) <= value < 1 << 63 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode("utf-8")


def _padded(row: Sequence[Any], width: int) -> Sequence[Any]:
    if len(row) == width:
        return row
    return [*row[:width], *[None] * (width - len(row))]


def _distinct(columns: Sequence[str]) -> list[str]:
    """Column names that differ for SQLite too, which does not tell case apart."""
    seen: set[str] = set()
    out: list[str] = []
    for column in columns:
        name, number = column.replace("\x00", ""), 2
        while name.lower() in seen:
            name, number = f"{column}_{number}", number + 1
        seen.add(name.lower())
        out.append(name)
    return out


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
