"""The tables of a result: arrays of records at any depth, keyed maps, parallel arrays, JSON lines, tables in text.

Rows are made on demand; names are what `sql:` takes, and the first table is the main one. Nothing is edited: cells are
the result's own values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from slimguard.document.blocks import Block, Document
from slimguard.document.found import Found, Rows, TableKind
from slimguard.document.jsontables import json_tables
from slimguard.document.paths import Path, value_at
from slimguard.document.texttables import TextTable, text_tables, typed_rows
from slimguard.document.united import UNITED, united_values
from slimguard.document.xmltables import xml_tables
from slimguard.model import Json, is_array

TABLES_AT_MOST = 24
"""Tables of one result; further ones are the smallest."""


@dataclass(frozen=True)
class Table:
    """One table. `columns` are the records' own keys (`_key` first for a map by key, `_parent` first for rows of
    arrays inside records: the 0-based row of the table they stand in), then dotted names of scalars nested in them.
    """

    name: str
    path: Path
    """Where in the block's JSON the rows stand; for `nested` and `tree` the array that holds the records above them."""
    block: int
    kind: TableKind
    columns: tuple[str, ...]
    count: int
    expression: str
    """The JMESPath of the rows, such as `items[].comments[]`; empty for tables in text."""
    make: Callable[[], Rows] = field(repr=False, compare=False)
    own: int = 0
    """How many of `columns` are the rows' own keys; dotted ones follow."""
    weight: float = field(default=0.0, compare=False)
    make_columns: Callable[[], Sequence[Sequence[Json]]] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def rows(self) -> Rows:
        """The rows, cells in the order of `columns`; made once."""
        return self.make()

    @property
    def cells(self) -> Sequence[Sequence[Json]]:
        """The cells column by column, those of tables in text as they are written; made at each call, never kept."""
        if self.make_columns is not None:
            return self.make_columns()
        return [[row[place] for row in self.rows] for place in range(len(self.columns))]


def tables_of(document: Document) -> tuple[Table, ...]:
    """The tables of `document`, the main one first; found once a document."""
    kept: tuple[Table, ...] | None = vars(document).get("_tables")
    if kept is None:
        united = united_values(document)
        blocks = sorted(document.blocks, key=lambda block: (block.type != "structured", block.index))
        apart = [(block.index, found) for block in blocks for found in _tables_of_block(block)] if not united else []
        kept = _named(_distinct([(UNITED, found) for found in json_tables(united)] if united else apart))
        vars(document)["_tables"] = kept  # as cached_property does; the document itself is frozen
    return kept


def tables_in(value: Json) -> tuple[Table, ...]:
    """The tables of a value that stands in no block, such as JSON in a JSON string; `sql:` does not take them."""
    return _named([(-1, found) for found in json_tables(value)])


def main_array(document: Document) -> tuple[Path, list[Json]] | None:
    """The array that `items:` addresses: the rows of the main table when it is an array, else the longest array."""
    for table in tables_of(document):
        if table.kind not in ("records", "lines", "matrix", "values"):
            continue
        if table.block == UNITED:
            return table.path, united_values(document)
        block = next(block for block in document.blocks if block.index == table.block)
        value = value_at(block.json.value, table.path) if block.json else None
        if is_array(value):
            return table.path, value
    return None


def _distinct(found: list[tuple[int, Found]]) -> list[tuple[int, Found]]:
    """Without tables that stand in a second block too: structured content is often a part of the text."""
    seen: dict[tuple[str, int, tuple[str, ...]], int] = {}
    kept: list[tuple[int, Found]] = []
    for block, item in found:
        key = (item.names[0], item.count, item.columns)
        if seen.setdefault(key, block) == block:
            kept.append((block, item))
    return kept


def _tables_of_block(block: Block) -> list[Found]:
    if block.json is not None:
        found = json_tables(block.json.value)
        if block.json.form in ("lines", "several") and found and found[0].path == ():
            found[0] = replace(found[0], kind="lines")
        return found
    if block.text is None or block.type == "raw":
        return []
    if block.xml is not None:
        return xml_tables(block.xml)
    return [_text_found(table) for table in text_tables(block.text)]


def _text_found(table: TextTable) -> Found:
    name = table.kind if table.kind in ("csv", "tsv") else "table"
    names = ("csv", name) if name == "tsv" else (name,)
    width = len(table.columns)
    return Found(
        (), table.kind, table.columns, table.count, "", lambda: typed_rows(table), width, names,
        float(table.count * width), lambda: list(table.cells),
    )  # fmt: skip


def _named(found: list[tuple[int, Found]]) -> tuple[Table, ...]:
    """Tables with unique names, heaviest first; the heaviest gets the shortest name."""
    order = sorted(range(len(found)), key=lambda place: (-found[place][1].weight, place))[:TABLES_AT_MOST]
    used: set[str] = set()
    tables: list[Table] = []
    for place in order:
        block, item = found[place]
        name = _free_name(item.names, used)
        used.add(name.lower())
        tables.append(
            Table(name, item.path, block, item.kind, item.columns, item.count, item.expression, item.make, item.own,
                  item.weight, item.make_columns)
        )  # fmt: skip
    return tuple(tables)


def _free_name(candidates: tuple[str, ...], used: set[str]) -> str:
    for name in candidates:
        if name.lower() not in used:
            return name
    number = 2
    while f"{candidates[-1]}_{number}".lower() in used:
        number += 1
    return f"{candidates[-1]}_{number}"
