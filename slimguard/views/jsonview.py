"""JSON as a reader wants it: the leaves outside of tables, signs of trouble, its tables; one view for records, keyed
maps, parallel arrays, JSON lines and trees, since results are mixtures of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from slimguard.canonical import dump
from slimguard.document import Path, Table, continuation_fields, format_path, value_at
from slimguard.document.shapes import sample
from slimguard.frame import size_text
from slimguard.model import Json, is_array, is_object
from slimguard.views.cells import short
from slimguard.views.columns import Ranked, ranked
from slimguard.views.derived import UNION
from slimguard.views.facts import fact_lines
from slimguard.views.grid import table_parts
from slimguard.views.hints import table_hints
from slimguard.views.leaves import Leaf, leaf_lines
from slimguard.views.model import Content, Part, Sketch
from slimguard.views.treeview import tree_parts
from slimguard.views.trouble import trouble_lines

LEAF_TOKENS = 260
TREE_TOKENS = 850
TROUBLE_TOKENS = 340
HEADING_TOKENS = 200
TREE_FACT_TOKENS = 240
TABLES_SHOWN = 2
SECOND_SHARE = 0.1
"""A second table is shown with rows when it holds so much of what the first one holds."""
INNER_COLUMNS = 4
LEAST_SHARE = 0.12
"""A table is shown as one when its rows make up so much of the JSON; a smaller one is a leaf."""
LIST_SHARE = 0.35
"""A list of plain values is shown as a table when it makes up so much of the JSON."""
_HEADING = re.compile(r"(?i)^(?:sub)?(?:heading|header|title|h[1-6])")
_KINDS = {
    "lines": "JSON lines",
    "matrix": "rows",
    "values": "values",
    "keyed": "keyed map",
    "map": "keyed map",
    "parallel": "parallel arrays",
    "tree": "tree",
}
_NOUNS = {"records": "records", "lines": "JSON lines", "keyed": "entries by key", "tree": "nodes", "parallel": "rows"}


def json_view(content: Content, encoded: int = 0) -> Sketch:
    """The view of one JSON value; `encoded` characters of it are bytes in a text, which say nothing of its shape."""
    main = _shown(content, encoded)
    told = [path for path, _ in continuation_fields(content.document)]
    leaves = leaf_lines(content.value, [*(table.path for table in main), *told])
    parts = _leaf_parts(leaves, content, alone=not main)
    trouble = trouble_lines(content.value)
    if trouble:
        signs = ["signs of trouble:", *trouble]
        parts.append(Part(signs, rank=1, tokens=content.share(TROUBLE_TOKENS), more="… {n} more"))
    if not main:
        return Sketch("tree", parts, f"{len(content.text):,} characters", "outline", ("outline",))
    hints: list[str] = []
    names: dict[str, list[str]] = {}
    told_kinds: set[str] = set()
    for place, table in enumerate(main):
        columns = ranked(table)
        names[table.name] = [column.name for column in (*columns.labels, *columns.columns)]
        hints = hints or table_hints(table, columns)
        rank = 2 + place * 4
        parts.append(Part((_title(table, columns),), rank=rank))
        parts.extend(_headings(table, columns, content, rank))
        tree = table if table.kind == "tree" else _tree_below(table, content)
        if tree is not None and place == 0:
            parts.extend(_tree(tree, table, columns, content, rank))
            told_kinds.add("tree")
            continue
        parts.extend(table_parts(table, columns, content, rank=rank))
    total = sum(table.count for table in main)
    shown = "outline" if "tree" in told_kinds else ""
    if shown:
        total = max(table.count for table in content.tables)
    kind = "tree" if shown else _KINDS.get(main[0].kind, "records")
    return Sketch(kind, parts, f"{total:,} items", shown, tuple(hints), names)


def _tree_below(table: Table, content: Content) -> Table | None:
    """The recursive table that stands in a table's rows and holds more nodes than it."""
    found = [
        other
        for other in content.tables
        if other.kind == "tree"
        and other.path == table.path
        and other is not table
        and "." not in other.expression[len(table.expression) + 1 :]
    ]
    return found[0] if found and found[0].count > table.count else None


def _tree(tree: Table, main: Table, columns: Ranked, content: Content, rank: int) -> list[Part]:
    """The outline of a tree, then counts and ranges over its nodes."""
    known = columns if tree is main else ranked(tree)
    parts = tree_parts(tree, known, content, None if tree is main else main, rank)
    facts = [line for line in fact_lines(known, rows_shown=False) if not line.startswith(("_parent", "_depth"))]
    parts.append(Part(facts, rank=rank + 1, tokens=content.share(TREE_FACT_TOKENS), more=""))
    return parts


def around_text(content: Content, path: Path, text: str, inner: Sketch) -> Sketch:
    """The view of JSON that is mostly one text: its leaves, then the view of that text."""
    leaves = leaf_lines(content.value, [path])
    parts = _leaf_parts(leaves, content, alone=False)
    size = size_text(len(text.encode("utf-8", "replace")))
    parts.append(Part((f"{format_path(path)}: {inner.kind}, {size}, {text.count(chr(10)) + 1:,} lines",), rank=0))
    parts.extend(replace(part, counted=False) for part in inner.parts)
    hints = (
        *(hint for hint in inner.hints if not hint.startswith(("lines:", "bytes:", "sql:"))),
        f"select:{format_path(path)}",
    )
    return Sketch(f"{inner.kind} in JSON", parts, inner.of, inner.shown or "the telling part", hints)


def _shown(content: Content, encoded: int) -> list[Table]:
    """The main table and a second one that is not much smaller; lists of plain values are leaves."""
    size = len(content.text) - encoded
    rows = [
        table
        for table in content.tables
        if table.kind not in ("values", "map", "nested")
        and table.count > 1
        and _is_large(value_at(content.value, table.path), LEAST_SHARE * size)
    ]
    if not rows:
        lists = [table for table in content.tables if table.kind == "values" and table.count > 20]
        large = [table for table in lists if _is_large(value_at(content.value, table.path), LIST_SHARE * size)]
        return large[:1]
    others = [
        table for table in rows[1:] if table.path != rows[0].path and table.weight >= rows[0].weight * SECOND_SHARE
    ]
    return [_inner(rows[0], content), *others[: TABLES_SHOWN - 1]]


def _inner(table: Table, content: Content) -> Table:
    """The records inside a table's records where those are but their envelopes (`Reservations[].Instances[]`)."""
    nested = [
        other
        for other in content.tables
        if other.kind == "nested" and other.path == table.path and other.count >= table.count
    ]
    nested = [other for other in nested if other.expression.count("[]") == table.expression.count("[]") + 1]
    if not nested or table.kind != "records" or _tells(table) or len(nested[0].columns) < INNER_COLUMNS:
        return table
    return max(nested, key=lambda other: (len(other.columns), other.count))


def _tells(table: Table) -> bool:
    """Whether the records of a table say something themselves, besides identifiers and what holds records."""
    columns = ranked(table)
    return any(
        not column.opaque and column.kind in ("text", "number", "flag", "time", "mixed", "series")
        for column in columns.columns
    )


def _is_large(value: Json, least: float) -> bool:
    """Whether a container takes about `least` characters or more as JSON; reads samples, and no more than it must."""
    if is_object(value):
        items: Sequence[Json] = list(value.values())
    elif is_array(value):
        items = value
    else:
        return least <= 0
    some = sample(items, 12)
    wanted = least * max(1, len(some)) / max(1, len(items))
    size = 0
    for item in some:
        if size + _least_size(item, wanted - size) >= wanted:
            return True
        size += len(dump(item))
    return size >= wanted


def _least_size(value: Json, wanted: float) -> int:
    """How many characters a value takes as JSON at least; it stops to count at `wanted`."""
    size = 0
    stack: list[Json] = [value]
    while stack and size < wanted:
        item = stack.pop()
        if is_object(item):
            size += 2 + sum(map(len, item)) + 4 * len(item) - bool(item)
            stack.extend(item.values())
        elif is_array(item):
            size += 2 + len(item) - bool(item)
            stack.extend(item)
        else:
            size += len(item) + 2 if isinstance(item, str) else 1
    return size


def _title(table: Table, columns: Ranked) -> str:
    where = table.expression or table.name
    union = "; text* is the text under the key that the row's type names" if UNION in columns.scores else ""
    return f"{where}: {table.count:,} {_NOUNS.get(table.kind, 'rows')}{union}"


def _headings(table: Table, columns: Ranked, content: Content, rank: int) -> list[Part]:
    """Rows that are headings of a document made of blocks."""
    texts = next((column for column in columns.columns if column.name == UNION), None)
    if texts is None:
        return []
    for column in columns.columns:
        if column.kind != "text" or column.counts is None or not any(_HEADING.match(str(key)) for key in column.counts):
            continue
        lines = [
            f"[{place}] {name}: {short(str(texts.values[place]), 100)}"
            for place, name in enumerate(column.values)
            if isinstance(name, str) and _HEADING.match(name) and texts.values[place]
        ]
        room = content.share(HEADING_TOKENS)
        return [Part(lines, rank=rank, tokens=room, more="… {n} more headings", ends=True)] if table.count else []
    return []


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
