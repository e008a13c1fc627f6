"""Queries that go on from a view, spelled so that they run as printed; never one that the content cannot answer."""

from __future__ import annotations

from slimguard.document import Table
from slimguard.model import Json
from slimguard.query import Query, print_query
from slimguard.views.columns import Ranked


def sql_name(name: str) -> str:
    """A name as SQL takes it, always quoted."""
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
    picked = [column for column in (*ranked.labels, *ranked.columns) if column.name in table.columns]
    names = list(dict.fromkeys(column.name for column in picked))[:4]
    if not names:
        return ["outline"]
    where = ""
    for column in picked:
        if column.counts is None or column.kind not in ("text", "flag") or not 2 <= column.distinct <= 40:
            continue
        value = min(column.counts.items(), key=lambda pair: (pair[1], str(pair[0])))[0]
        if isinstance(value, str) and (len(value) > 40 or not value.isprintable()):
            continue
        where = f" WHERE {sql_name(column.name)}={sql_literal(value)}"
        break
    select = f"SELECT {', '.join(sql_name(name) for name in names)} FROM {sql_name(table.name)}{where} LIMIT 20"
    return [print_query(Query("sql", select))]
