"""Queries that go on from a view, spelled so that they run as printed; never one that the content cannot answer."""

from __future__ import annotations

import re

from slimguard.document import Table
from slimguard.model import Json
from slimguard.query import Query, print_query
from slimguard.views.columns import Ranked

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_RESERVED = frozenset(
    (
        "ABORT", "ACTION", "ADD", "AFTER", "ALL", "ALTER", "ALWAYS", "ANALYZE", "AND", "AS", "ASC", "ATTACH",
        "AUTOINCREMENT", "BEFORE", "BEGIN", "BETWEEN", "BY", "CASCADE", "CASE", "CAST", "CHECK", "COLLATE",
        "COLUMN", "COMMIT", "CONFLICT", "CONSTRAINT", "CREATE", "CROSS", "CURRENT", "DATABASE", "DEFAULT",
        "DEFERRED", "DELETE", "DESC", "DETACH", "DISTINCT", "DO", "DROP", "EACH", "ELSE", "END", "ESCAPE", "EXCEPT",
        "EXCLUDE", "EXISTS", "EXPLAIN", "FAIL", "FILTER", "FIRST", "FOLLOWING", "FOR", "FOREIGN", "FROM", "FULL",
        "GENERATED", "GLOB", "GROUP", "GROUPS", "HAVING", "IF", "IGNORE", "IN", "INDEX", "INNER", "INSERT",
        "INTERSECT", "INTO", "IS", "ISNULL", "JOIN", "KEY", "LAST", "LEFT", "LIKE", "LIMIT", "MATCH", "NATURAL",
        "NO", "NOT", "NOTHING", "NOTNULL", "NULL", "NULLS", "OF", "OFFSET", "ON", "OR", "ORDER", "OTHERS", "OUTER",
        "OVER", "PARTITION", "PLAN", "PRAGMA", "PRECEDING", "PRIMARY", "QUERY", "RAISE", "RANGE", "RECURSIVE",
        "REFERENCES", "REGEXP", "REINDEX", "RELEASE", "RENAME", "REPLACE", "RESTRICT", "RETURNING", "RIGHT",
        "ROLLBACK", "ROW", "ROWS", "SAVEPOINT", "SELECT", "SET", "TABLE", "TEMP", "TEMPORARY", "THEN", "TIES", "TO",
        "TRANSACTION", "TRIGGER", "UNBOUNDED", "UNION", "UNIQUE", "UPDATE", "USING", "VACUUM", "VALUES", "VIEW",
        "VIRTUAL", "WHEN", "WHERE", "WINDOW", "WITH", "WITHOUT",
    )
)  # fmt: skip


def sql_name(name: str) -> str:
    """A name as SQL takes it; quoted unless it is plain and no word of SQL's own."""
    if _PLAIN.match(name) and name.upper() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def sql_literal(value: Json) -> str:
    """A text or number as SQL takes it."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int | float):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


def table_hints(table: Table, ranked: Ranked) -> list[str]:
    """A SELECT on the table with its label columns and one condition, then the last rows."""
    picked = [
        column
        for column in (*ranked.labels, *ranked.columns)
        if column.name in table.columns and column.counts is not None
    ]
    names = list(dict.fromkeys(column.name for column in picked))[:4]
    if not names:
        return ["outline"]
    where = ""
    for column in picked:
        if (
            column in ranked.labels
            or column.counts is None
            or column.kind not in ("text", "flag")
            or not 2 <= column.distinct <= 40
        ):
            continue
        value = min(column.counts.items(), key=lambda pair: (pair[1], str(pair[0])))[0]
        if isinstance(value, str) and (len(value) > 40 or not value.isprintable()):
            continue
        where = f" WHERE {sql_name(column.name)}={sql_literal(value)}"
        break
    listed = ", ".join(sql_name(name) for name in names)
    select = " ".join(("SELECT", listed, "FROM", sql_name(table.name) + where, "LIMIT 20"))
    return [print_query(Query("sql", select))]
