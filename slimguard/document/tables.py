"""The tables of a result: arrays of records at any depth, keyed maps, parallel arrays, JSON lines, tables in text.

Rows are made on demand; names are what `sql:` takes, and the first table is the main one. Nothing is edited: cells are
the result's own values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from slimguard.document.blocks import Block, Document
from slimguard.document.paths import Path, format_path, value_at
from slimguard.document.shapes import is_scalar, parallel_columns, sample, shape_of_array, shape_of_object
from slimguard.document.texttables import text_tables, typed_rows
from slimguard.model import Json, is_array, is_object

TableKind = Literal[
    "records",
    "lines",
    "matrix",
    "values",
    "keyed",
    "map",
    "parallel",
    "nested",
    "tree",
    "csv",
    "tsv",
    "markdown",
    "fixed",
]
Rows = list[list[Json]]

TABLES_AT_MOST = 24
"""Tables of one result; further ones are the smallest."""
COLUMNS_AT_MOST = 400
DOTTED_AT_MOST = 200
VALUES_LEAST = 4
DEPTH = 8
NODES_AT_MOST = 4_000
SMALL = 0.15
"""A table nested in records ranks below a table of the top level unless that one is this much smaller."""


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

    @cached_property
    def rows(self) -> Rows:
        """The rows, cells in the order of `columns`; made once."""
        return self.make()


@dataclass(frozen=True, slots=True)
class _Found:
    path: Path
    kind: TableKind
    columns: tuple[str, ...]
    count: int
    expression: str
    make: Callable[[], Rows]
    own: int
    names: tuple[str, ...]
    """Candidates for the name, shortest first."""
    weight: float


def tables_of(document: Document) -> tuple[Table, ...]:
    """The tables of `document`, the main one first; found once a document."""
    kept: tuple[Table, ...] | None = vars(document).get("_tables")
    if kept is None:
        blocks = sorted(document.blocks, key=lambda block: (block.type != "structured", block.index))
        kept = _named(_distinct([(block.index, found) for block in blocks for found in _tables_of_block(block)]))
        vars(document)["_tables"] = kept  # as cached_property does; the document itself is frozen
    return kept


def main_array(document: Document) -> tuple[Path, list[Json]] | None:
    """The array that `items:` addresses: the rows of the main table when it is an array, else the longest array."""
    for table in tables_of(document):
        if table.kind not in ("records", "lines", "matrix", "values"):
            continue
        block = next(block for block in document.blocks if block.index == table.block)
        value = value_at(block.json.value, table.path) if block.json else None
        if is_array(value):
            return table.path, value
    return None


def _distinct(found: list[tuple[int, _Found]]) -> list[tuple[int, _Found]]:
    """Without tables that stand in a second block too: structured content is often a part of the text."""
    seen: dict[tuple[str, int, tuple[str, ...]], int] = {}
    kept: list[tuple[int, _Found]] = []
    for block, item in found:
        key = (item.names[0], item.count, item.columns)
        if seen.setdefault(key, block) == block:
            kept.append((block, item))
    return kept


def json_tables(value: Json) -> list[_Found]:
    """The tables in one JSON value, unnamed and in document order."""
    found: list[_Found] = []
    budget = [NODES_AT_MOST]
    _search(value, (), found, budget)
    return found


def _tables_of_block(block: Block) -> list[_Found]:
    if block.json is not None:
        found = json_tables(block.json.value)
        if block.json.form in ("lines", "several") and found and found[0].path == ():
            found[0] = _as_lines(found[0])
        return found
    if block.text is None or block.type == "raw":
        return []
    return [_text_found(table) for table in text_tables(block.text)]


def _as_lines(found: _Found) -> _Found:
    return _Found(
        found.path,
        "lines",
        found.columns,
        found.count,
        found.expression,
        found.make,
        found.own,
        found.names,
        found.weight,
    )


def _text_found(table: Json) -> _Found:
    name = table.kind if table.kind in ("csv", "tsv") else "table"
    names = ("csv", name) if name == "tsv" else (name,)
    width = len(table.columns)
    return _Found(
        (), table.kind, table.columns, len(table.cells), "", lambda: typed_rows(table), width, names,
        float(len(table.cells) * width),
    )  # fmt: skip


def _search(value: Json, path: Path, found: list[_Found], budget: list[int]) -> None:
    """Depth first in document order; arrays of records are entered through their nested arrays only."""
    if len(path) > DEPTH or budget[0] <= 0:
        return
    budget[0] -= 1
    if is_array(value):
        _search_array(value, path, found, budget)
        return
    if not is_object(value):
        return
    shape = shape_of_object(value)
    if shape == "parallel":
        found.append(_parallel(value, path))
    elif shape == "keyed":
        found.append(_keyed(value, path))
        rows = list(value.values())
        _search_nested(rows, path, f"{_spelled(path, '*')}", (), found, 2, keys=list(value))
        return
    elif shape == "map":
        found.append(_map(value, path))
        return
    else:
        grouped = _grouped(value, path)
        if grouped is not None:
            found.append(grouped)
            return
    taken = set(parallel_columns(value)) if shape == "parallel" else set[str]()
    for key, item in value.items():
        if key not in taken and not is_scalar(item):
            header = _header_of(value, key, item)
            if header is not None:
                found.append(_matrix(item, (*path, key), header))
                continue
            _search(item, (*path, key), found, budget)


def _search_array(value: list[Json], path: Path, found: list[_Found], budget: list[int]) -> None:
    shape = shape_of_array(value)
    if shape == "records":
        records = [item for item in value if is_object(item)]
        tree = _tree(value, path)
        found.append(tree if tree is not None else _records(value, path))
        if tree is None:
            _search_nested(records, path, _spelled(path, "[]"), (), found, 2)
        return
    if shape == "matrix":
        found.append(_matrix(value, path, None))
        return
    if len(value) >= VALUES_LEAST and all(is_scalar(item) for item in sample(value)):
        found.append(
            _Found(path, "values", ("value",), len(value), _spelled(path, "[]"), lambda: [[item] for item in value], 1,
                   _names(path), float(len(value)) / 2)
        )  # fmt: skip
        return
    for place, item in enumerate(value[:8]):
        if not is_scalar(item):
            _search(item, (*path, place), found, budget)


def _records(value: list[Json], path: Path) -> _Found:
    columns, dotted = record_columns(value)

    def make() -> Rows:
        return [record_row(item, columns, dotted) for item in value]

    width = len(columns)
    return _Found(
        path, "records", (*columns, *(".".join(name) for name in dotted)), len(value), _spelled(path, "[]"), make, width,
        _names(path), float(len(value) * (width + len(dotted))),
    )  # fmt: skip


def record_columns(records: Sequence[Json]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The keys of all records in the order seen, and the paths of scalars nested in their objects."""
    own: dict[str, None] = {}
    for item in records:
        if is_object(item) and not (item.keys() <= own.keys()):
            own.update(dict.fromkeys(item))
    if not own:
        own["value"] = None
    dotted: dict[tuple[str, ...], None] = {}
    for item in sample(records):
        if is_object(item):
            _dotted(item, (), dotted)
    taken = set(own)
    return (
        tuple(own)[:COLUMNS_AT_MOST],
        tuple(name for name in dotted if ".".join(name) not in taken)[:DOTTED_AT_MOST],
    )


def _dotted(item: dict[str, Json], above: tuple[str, ...], into: dict[tuple[str, ...], None]) -> None:
    for key, value in item.items():
        if is_object(value):
            if len(above) < 3 and len(value) <= 60:
                _dotted(value, (*above, key), into)
        elif above and not is_array(value):
            into[(*above, key)] = None


def record_row(item: Json, columns: Sequence[str], dotted: Sequence[tuple[str, ...]]) -> list[Json]:
    """One row; what is missing is None. An element that is no object stands in the first column."""
    if not is_object(item):
        return [item, *[None] * (len(columns) + len(dotted) - 1)]
    row: list[Json] = [item.get(key) for key in columns]
    for name in dotted:
        value: Json = item
        for key in name:
            value = value.get(key) if is_object(value) else None
        row.append(None if isinstance(value, dict | list) else value)
    return row


def _keyed(value: dict[str, Json], path: Path) -> _Found:
    items = list(value.values())
    columns, dotted = record_columns(items)

    def make() -> Rows:
        return [[key, *record_row(item, columns, dotted)] for key, item in value.items()]

    names = ("_key", *columns, *(".".join(name) for name in dotted))
    return _Found(
        path, "keyed", names, len(value), _spelled(path, "*"), make, 1 + len(columns), _names(path),
        float(len(value) * len(names)),
    )  # fmt: skip


def _map(value: dict[str, Json], path: Path) -> _Found:
    return _Found(
        path, "map", ("_key", "_value"), len(value), _spelled(path, "*"),
        lambda: [[key, item] for key, item in value.items()], 2, _names(path), float(len(value)),
    )  # fmt: skip


def _grouped(value: dict[str, Json], path: Path) -> _Found | None:
    """Arrays of like records under many keys (results by file, events by day): one table with `_key`."""
    if len(value) < 2 or not all(is_array(item) for item in value.values()):
        return None
    records = [item for group in value.values() for item in group]
    if len(records) <= len(value) or shape_of_array(records) != "records":
        return None
    keys: list[set[str]] = [set(group[0]) for group in value.values() if group and is_object(group[0])]
    shared = set.intersection(*keys) if keys else set[str]()
    if len(keys) < 2 or len(shared) * 2 < len(set.union(*keys)):
        return None
    columns, dotted = record_columns(records)

    def make() -> Rows:
        return [[key, *record_row(item, columns, dotted)] for key, group in value.items() for item in group]

    names = ("_key", *columns, *(".".join(name) for name in dotted))
    return _Found(
        path, "keyed", names, len(records), _spelled(path, "*[]"), make, 1 + len(columns), _names(path),
        float(len(records) * len(names)),
    )  # fmt: skip


def _parallel(value: dict[str, Json], path: Path) -> _Found:
    columns = parallel_columns(value)
    arrays = [value[key] for key in columns]

    def make() -> Rows:
        return [list(row) for row in zip(*arrays, strict=True)]

    count = len(arrays[0])
    return _Found(
        path, "parallel", tuple(columns), count, format_path(path), make, len(columns), _names(path),
        float(count * len(columns)),
    )  # fmt: skip


def _header_of(parent: dict[str, Json], key: str, item: Json) -> list[str] | None:
    """Column names for a matrix from a sibling array (`columns`, `fields`, …) of the right length."""
    if not is_array(item) or shape_of_array(item) != "matrix":
        return None
    width = max(len(row) for row in sample(item))
    for name, other in parent.items():
        if name == key or not is_array(other) or len(other) != width or width < 1:
            continue
        names = [_column_name(entry) for entry in other]
        if all(names) and len(set(names)) == width:
            return names
    return None


def _column_name(entry: Json) -> str:
    if isinstance(entry, str):
        return entry
    if is_object(entry):
        for key in ("name", "column", "field", "id", "label", "key"):
            value = entry.get(key)
            if isinstance(value, str):
                return value
    return ""


def _matrix(value: list[list[Json]], path: Path, header: list[str] | None) -> _Found:
    width = max((len(row) for row in value), default=0)
    rows = value
    first = value[0] if value else []
    if header is None and len(value) > 2 and _is_heading(first) and not _is_heading(value[1]):
        header, rows = [str(cell) for cell in first], value[1:]
    columns = list(header or [])
    columns += [f"c{place}" for place in range(len(columns), width)]

    def make() -> Rows:
        return [[*row, *[None] * (width - len(row))] for row in rows]

    return _Found(
        path, "matrix", tuple(columns), len(rows), _spelled(path, ""), make, len(columns), _names(path),
        float(len(rows) * width),
    )  # fmt: skip


def _is_heading(row: list[Json]) -> bool:
    return all(isinstance(cell, str) and 0 < len(cell) <= 60 for cell in row) and len(set(row)) == len(row)


def _search_nested(
    records: list[dict[str, Json]],
    path: Path,
    expression: str,
    above: tuple[str, ...],
    found: list[_Found],
    levels: int,
    *,
    keys: list[str] | None = None,
) -> None:
    """Arrays of records (or of rows) inside records, united over all records, with `_parent` (or `_key`)."""
    ceiling = found[-1].weight * 0.9  # the table above is listed first
    for inner in _inner_arrays(records):
        lists = [(place, _at(item, inner)) for place, item in enumerate(records)]
        pairs = [(place, child) for place, children in lists if is_array(children) for child in children]
        children = [child for _, child in pairs]
        shape = shape_of_array(children)
        if shape not in ("records", "matrix") or len(pairs) < 2:
            continue
        spelled = f"{expression}.{format_path(inner)}[]"
        names = _names((*path, *above, *inner))
        first = "_key" if keys is not None else "_parent"
        labels = keys
        if shape == "records":
            objects = [child for child in children if is_object(child)]
            if _recursive(objects, inner[-1]):
                found.append(_tree_of(pairs, path, spelled, names, inner[-1], first, labels, ceiling))
                continue
            found.append(_united(pairs, children, path, spelled, names, first, labels, ceiling))
            if levels > 1:
                _search_nested(objects, path, spelled, (*above, *inner), found, levels - 1)
            continue
        found.append(_united_rows(pairs, path, spelled, names, first, labels, ceiling))


def _united(
    pairs: list[tuple[int, Json]], children: list[Json], path: Path, spelled: str, names: tuple[str, ...], first: str,
    labels: list[str] | None, ceiling: float,
) -> _Found:  # fmt: skip
    columns, dotted = record_columns(children)

    def make() -> Rows:
        return [[labels[place] if labels else place, *record_row(child, columns, dotted)] for place, child in pairs]

    all_names = (first, *columns, *(".".join(name) for name in dotted))
    return _Found(
        path, "nested", all_names, len(pairs), spelled, make, 1 + len(columns), names,
        min(float(len(pairs) * len(all_names)) * SMALL, ceiling),
    )  # fmt: skip


def _united_rows(
    pairs: list[tuple[int, Json]], path: Path, spelled: str, names: tuple[str, ...], first: str,
    labels: list[str] | None, ceiling: float,
) -> _Found:  # fmt: skip
    width = max(len(child) for _, child in pairs if is_array(child))

    def make() -> Rows:
        return [
            [labels[place] if labels else place, *(child if is_array(child) else [child])]
            + [None] * (width - len(child))
            for place, child in pairs
        ]

    columns = (first, *(f"c{place}" for place in range(width)))
    return _Found(
        path, "nested", columns, len(pairs), spelled.removesuffix("[]"), make, len(columns), names,
        min(float(len(pairs) * len(columns)) * SMALL / 4, ceiling),
    )  # fmt: skip


def _inner_arrays(records: Sequence[dict[str, Json]]) -> list[tuple[str, ...]]:
    """Key paths, through at most three objects, at which sampled records hold arrays of objects or of rows."""
    paths: dict[tuple[str, ...], None] = {}
    for item in sample(records):
        stack: list[tuple[tuple[str, ...], dict[str, Json]]] = [((), item)]
        while stack and len(paths) < TABLES_AT_MOST:
            above, value = stack.pop()
            for key, child in value.items():
                if is_object(child) and len(above) < 3:
                    stack.append(((*above, key), child))
                elif is_array(child) and child and not is_scalar(child[0]):
                    paths[(*above, key)] = None
    return list(paths)


def _at(item: Json, keys: Sequence[str]) -> Json:
    for key in keys:
        item = item.get(key) if is_object(item) else None
    return item


def _recursive(records: Sequence[dict[str, Json]], key: str) -> bool:
    return any(_is_nodes(item.get(key)) for item in sample(records))


def _is_nodes(value: Json) -> bool:
    return is_array(value) and any(is_object(item) for item in value[:4])


def _tree(value: list[Json], path: Path) -> _Found | None:
    """A recursive array (`children` within `children`): all nodes of all levels, with `_parent` and `_depth`."""
    if not path or not isinstance(path[-1], str):
        return None
    key = path[-1]
    if not _recursive([item for item in value if is_object(item)], key):
        return None
    pairs: list[tuple[int, Json]] = [(-1, item) for item in value]
    return _tree_of(pairs, path, _spelled(path, "[]"), _names(path), key, "_parent", None, math.inf)


def _tree_of(
    pairs: list[tuple[int, Json]], path: Path, spelled: str, names: tuple[str, ...], key: str, first: str,
    labels: list[str] | None, ceiling: float,
) -> _Found:  # fmt: skip
    nodes = list(_descend(pairs, key))
    columns, dotted = record_columns([node for _, _, node in nodes])
    columns = tuple(column for column in columns if column != key)

    def make() -> Rows:
        return [
            [labels[parent] if labels and depth == 0 else parent, depth, *record_row(node, columns, dotted)]
            for parent, depth, node in nodes
        ]

    all_names = (first, "_depth", *columns, *(".".join(name) for name in dotted))
    return _Found(
        path, "tree", all_names, len(nodes), spelled, make, 2 + len(columns), names,
        min(float(len(nodes) * len(all_names)), ceiling),
    )  # fmt: skip


def _descend(pairs: list[tuple[int, Json]], key: str) -> Iterator[tuple[int, int, Json]]:
    """Nodes in document order as (row of the parent, depth, node); without recursion."""
    stack: list[tuple[int, int, Json]] = [(parent, 0, node) for parent, node in reversed(pairs)]
    row = 0
    while stack:
        parent, depth, node = stack.pop()
        yield parent, depth, node
        below = node.get(key) if is_object(node) else None
        if is_array(below):
            stack.extend((row, depth + 1, child) for child in reversed(below))
        row += 1


def _spelled(path: Path, tail: str) -> str:
    base = format_path(path)
    if not path:
        return tail or "@"
    return base + (tail if tail.startswith("[") or not tail else f".{tail}")


def _names(path: Path) -> tuple[str, ...]:
    """Candidates for a table's name: the last key of its path, then with the key above, and so on."""
    keys = [step for step in path if isinstance(step, str)]
    if not keys:
        return ("result",)
    return tuple("_".join(keys[-count:]) for count in range(1, len(keys) + 1))


def _named(found: list[tuple[int, _Found]]) -> tuple[Table, ...]:
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
                  item.weight)
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
