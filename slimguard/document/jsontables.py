"""The tables in one JSON value, in document order and without names; every container is judged by its shape."""

from __future__ import annotations

from collections.abc import Sequence

from slimguard.document.boxed import boxed_table
from slimguard.document.found import (
    Found,
    Rows,
    column_names,
    names_of,
    record_cells,
    record_columns,
    record_row,
    spelled,
)
from slimguard.document.nested import Above, nested_tables, tree_table
from slimguard.document.paths import Path, format_path
from slimguard.document.shapes import (
    are_alike,
    column_maps,
    is_scalar,
    parallel_columns,
    sample,
    shape_of_array,
    shape_of_object,
)
from slimguard.model import Json, is_array, is_object

VALUES_LEAST = 4
DEPTH = 8
NODES_AT_MOST = 4_000


def json_tables(value: Json) -> list[Found]:
    """The tables in one JSON value, unnamed and in document order."""
    found: list[Found] = []
    budget = [NODES_AT_MOST]
    _search(value, (), found, budget)
    return found


def _search(value: Json, path: Path, found: list[Found], budget: list[int]) -> None:
    """Depth first in document order; arrays of records are entered through their nested arrays only."""
    if len(path) > DEPTH or budget[0] <= 0:
        return
    budget[0] -= 1
    if is_array(value):
        _search_array(value, path, found, budget)
        return
    if not is_object(value):
        return
    if column_maps(value):
        found.append(_columns(value, path))
        return
    shape = shape_of_object(value)
    if shape == "parallel":
        found.append(_parallel(value, path))
    elif shape == "keyed":
        found.append(_keyed(value, path))
        rows = [item if is_object(item) else {} for item in value.values()]
        found.extend(nested_tables(rows, Above(path, spelled(path, "*"), found[-1].weight, labels=list(value))))
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
            boxed = boxed_table(value, (*path, key), item)
            if boxed is not None:
                found.append(boxed)
                continue
            _search(item, (*path, key), found, budget)


def _search_array(value: list[Json], path: Path, found: list[Found], budget: list[int]) -> None:
    shape = shape_of_array(value)
    if shape == "records":
        tree = tree_table(value, path)
        found.append(tree if tree is not None else _records(value, path))
        if tree is None:
            records = [item if is_object(item) else {} for item in value]
            found.extend(nested_tables(records, Above(path, spelled(path, "[]"), found[-1].weight)))
        return
    if shape == "matrix":
        found.append(_matrix(value, path, None))
        return
    if len(value) >= VALUES_LEAST and all(is_scalar(item) for item in sample(value)):
        found.append(
            Found(path, "values", ("value",), len(value), spelled(path, "[]"), lambda: [[item] for item in value], 1,
                   names_of(path), float(len(value)) / 2)
        )  # fmt: skip
        return
    for place, item in enumerate(value[:8]):
        if not is_scalar(item):
            _search(item, (*path, place), found, budget)


def _records(value: list[Json], path: Path) -> Found:
    columns, dotted = record_columns(value)

    def make() -> Rows:
        return [record_row(item, columns, dotted) for item in value]

    width = len(columns)
    return Found(
        path, "records", (*columns, *column_names((), dotted)), len(value), spelled(path, "[]"), make, width,
        names_of(path), float(len(value) * (width + len(dotted))), lambda: record_cells(value, columns, dotted),
    )  # fmt: skip


def _keyed(value: dict[str, Json], path: Path) -> Found:
    items = list(value.values())
    columns, dotted = record_columns(items)

    def make() -> Rows:
        return [[key, *record_row(item, columns, dotted)] for key, item in value.items()]

    names = ("_key", *columns, *column_names((), dotted))
    return Found(
        path, "keyed", names, len(value), spelled(path, "*"), make, 1 + len(columns), names_of(path),
        float(len(value) * len(names)), lambda: [list(value), *record_cells(items, columns, dotted)],
    )  # fmt: skip


def _columns(value: dict[str, Json], path: Path) -> Found:
    """Columns that are each a map by the same keys, as data frames are written: one table with `_key`."""
    columns = [column for column in value.values() if is_object(column)]
    keys = list(columns[0])

    def make_columns() -> list[Sequence[Json]]:
        return [keys, *([column.get(key) for key in keys] for column in columns)]

    return Found(
        path, "keyed", ("_key", *value), len(keys), format_path(path),
        lambda: [list(row) for row in zip(*make_columns(), strict=True)], 1 + len(columns), names_of(path),
        float(len(keys) * (1 + len(columns))), make_columns,
    )  # fmt: skip


def _map(value: dict[str, Json], path: Path) -> Found:
    return Found(
        path, "map", ("_key", "_value"), len(value), spelled(path, "*"),
        lambda: [[key, item] for key, item in value.items()], 2, names_of(path), float(len(value)),
    )  # fmt: skip


def _grouped(value: dict[str, Json], path: Path) -> Found | None:
    """Arrays of like records under many keys (results by file, events by day): one table with `_key`."""
    if len(value) < 2 or not all(is_array(item) for item in value.values()):
        return None
    records = [item for group in value.values() for item in group]
    if len(records) <= len(value) or shape_of_array(records) != "records":
        return None
    heads = [group[0] for group in value.values() if group and is_object(group[0])]
    if len(heads) < 2 or not are_alike(heads):
        return None
    columns, dotted = record_columns(records)

    def make() -> Rows:
        return [[key, *record_row(item, columns, dotted)] for key, group in value.items() for item in group]

    names = ("_key", *columns, *column_names((), dotted))
    return Found(
        path, "keyed", names, len(records), spelled(path, "*[]"), make, 1 + len(columns), names_of(path),
        float(len(records) * len(names)),
    )  # fmt: skip


def _parallel(value: dict[str, Json], path: Path) -> Found:
    columns = parallel_columns(value)
    arrays = [value[key] for key in columns]

    def make() -> Rows:
        return [list(row) for row in zip(*arrays, strict=True)]

    count = len(arrays[0])
    return Found(
        path, "parallel", tuple(columns), count, format_path(path), make, len(columns), names_of(path),
        float(count * len(columns)), lambda: list(arrays),
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


def _matrix(value: list[list[Json]], path: Path, header: list[str] | None) -> Found:
    width = max((len(row) for row in value), default=0)
    rows = value
    first = value[0] if value else []
    if header is None and len(value) > 2 and _is_heading(first) and not _is_heading(value[1]):
        header, rows = [str(cell) for cell in first], value[1:]
    columns = list(header or [])
    columns += [f"c{place}" for place in range(len(columns), width)]

    def make() -> Rows:
        return [[*row, *[None] * (width - len(row))] for row in rows]

    def make_columns() -> list[Sequence[Json]]:
        if all(len(row) == width for row in rows):
            return list(zip(*rows, strict=True))
        return list(zip(*make(), strict=True))

    return Found(
        path, "matrix", tuple(columns), len(rows), spelled(path, ""), make, len(columns), names_of(path),
        float(len(rows) * width), make_columns if rows else None,
    )  # fmt: skip


def _is_heading(row: list[Json]) -> bool:
    return all(isinstance(cell, str) and 0 < len(cell) <= 60 for cell in row) and len(set(row)) == len(row)
