"""JSON as a reader wants it: the leaves outside of tables, then its tables, then the text that fills it; one view for
records, keyed maps, parallel arrays, JSON lines and trees, since results are mixtures of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from slimguard.document import Path, Table
from slimguard.model import Json
from slimguard.views.columns import ranked
from slimguard.views.grid import table_parts
from slimguard.views.hints import table_hints
from slimguard.views.leaves import Leaf, leaf_lines
from slimguard.views.model import Content, Part, Sketch

LEAF_TOKENS = 260
TREE_TOKENS = 700
TABLES_SHOWN = 2
LARGE_ROWS = 5
SECOND_SHARE = 0.1
"""A second table is shown with rows when it holds so much of what the first one holds."""


def json_view(content: Content) -> Sketch:
    """The view of one JSON value."""
    tables = [table for table in content.tables if table.kind != "nested"]
    main = _shown(tables)
    skip = [table.path for table in main]
    leaves = leaf_lines(content.value, skip)
    parts = _leaf_parts(leaves, content, alone=not main)
    hints: list[str] = []
    kind = "tree"
    for place, table in enumerate(main):
        columns = ranked(table)
        rank = 2 + place * 4
        parts.append(Part((_title(table),), rank=rank))
        parts.extend(table_parts(table, columns, content, rank=rank))
        if place == 0:
            kind = _KINDS.get(table.kind, "records")
            hints = table_hints(table, columns)
    if not main:
        return Sketch(kind, parts, _of(content), "outline", ("outline",))
    total = sum(table.count for table in main)
    return Sketch(kind, parts, f"{total:,} items", hints=tuple(hints))


_KINDS = {
    "records": "records",
    "lines": "JSON lines",
    "matrix": "rows",
    "values": "values",
    "keyed": "keyed map",
    "map": "keyed map",
    "parallel": "parallel arrays",
    "tree": "tree",
    "nested": "records",
}


def _of(content: Content) -> str:
    return f"{len(content.text):,} characters"


def _shown(tables: Sequence[Table]) -> list[Table]:
    """The main table and a second one that is not much smaller; lists of plain values are leaves."""
    rows = [table for table in tables if table.kind not in ("values", "map")]
    if not rows:
        return []
    first = rows[0]
    if first.count < 2:
        return []
    return [first] + [table for table in rows[1:TABLES_SHOWN] if table.weight >= first.weight * SECOND_SHARE]


def _title(table: Table) -> str:
    where = table.expression or table.name
    return f"{where}: {table.count:,} {_NOUNS.get(table.kind, 'rows')}"


_NOUNS = {"records": "records", "lines": "JSON lines", "keyed": "entries by key", "tree": "nodes", "parallel": "rows"}


def _leaf_parts(leaves: Sequence[Leaf], content: Content, *, alone: bool) -> list[Part]:
    if not leaves:
        return []
    room = content.share(TREE_TOKENS if alone else LEAF_TOKENS)
    near = [leaf.line for leaf in leaves if leaf.depth <= 2]
    deep = [leaf.line for leaf in leaves if leaf.depth > 2]
    parts = [Part(near, rank=1, tokens=room, more="… {n} more paths: outline")]
    if deep:
        parts.append(Part(deep, rank=3, tokens=room // 2, more="… {n} deeper paths: outline"))
    return parts
