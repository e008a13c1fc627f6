"""Rows whose cells are boxes (`{"f": [{"v": "3"}]}`), as query services send them, named by a list beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slimguard.document.found import Found, Rows, names_of, spelled
from slimguard.document.paths import Path
from slimguard.document.shapes import is_scalar, sample
from slimguard.model import Json, is_array, is_object

KEYS_AT_MOST = 3
LEAST = 2
NAME_KEYS = ("name", "label", "column", "field", "columnLabel", "id", "key")


def boxed_table(parent: dict[str, Json], path: Path, item: Json) -> Found | None:
    """The table of an array whose rows hold nothing but lists of boxes, or None; `path` is the array's."""
    if not is_array(item) or len(item) < LEAST:
        return None
    keys = _box_keys(item)
    if not keys:
        return None
    first = _cells(item[0], keys)
    names = _names(parent, keys, item[0], len(first))
    if names is None:
        return None
    count = len(item)

    def columns() -> list[Sequence[Json]]:
        return list(zip(*rows(), strict=True))

    def rows() -> Rows:
        return [_padded(_cells(row, keys), len(names)) for row in item]

    return Found(
        path, "records", tuple(names), count, spelled(path, "[]"), rows, len(names), names_of(path),
        float(count * len(names)), columns,
    )  # fmt: skip


def _box_keys(rows: Sequence[Json]) -> list[str]:
    """The keys under which all rows hold lists of boxes; empty when rows hold anything else."""
    first = rows[0]
    if not is_object(first) or not 0 < len(first) <= KEYS_AT_MOST:
        return []
    for row in sample(rows):
        if not is_object(row) or row.keys() != first.keys():
            return []
        if not all(is_array(cells) and cells and all(_is_box(cell) for cell in cells) for cells in row.values()):
            return []
    return list(first)


def _is_box(cell: Json) -> bool:
    return is_object(cell) and len(cell) == 1 and all(is_scalar(value) for value in cell.values())


def _cells(row: Json, keys: Sequence[str]) -> list[Json]:
    """What stands in the boxes of a row; a box of more is kept as it is."""
    if not is_object(row):
        return []
    found: list[Json] = []
    for key in keys:
        cells = row.get(key)
        if is_array(cells):
            found.extend(_unboxed(cell) for cell in cells)
    return found


def _unboxed(cell: Json) -> Json:
    return next(iter(cell.values())) if is_object(cell) and len(cell) == 1 else cell


def _padded(cells: list[Json], width: int) -> list[Json]:
    return [*cells[:width], *[None] * (width - len(cells))]


def _names(parent: dict[str, Json], keys: Sequence[str], row: Json, width: int) -> list[str] | None:
    """Names of all columns from lists beside the rows: one for all of them, or one for each key in their order."""
    lists = [names for names in _lists(parent) if names]
    whole = next((names for names in lists if len(names) == width and len(set(names)) == width), None)
    if whole is not None:
        return whole
    joined: list[str] = []
    for key in keys:
        cells = row.get(key) if is_object(row) else None
        size = len(cells) if is_array(cells) else 0
        found = next((names for names in lists if len(names) == size and names[0] not in joined), None)
        if found is None:
            return None
        joined += found
    return joined if len(set(joined)) == len(joined) else None


def _lists(parent: dict[str, Json]) -> Iterator[list[str]]:
    """The names in arrays of the parent, and of the objects in it."""
    for value in parent.values():
        for other in (value, *(value.values() if is_object(value) else ())):
            if is_array(other) and 0 < len(other) <= 400:
                names = [_name(entry) for entry in other]
                if all(names):
                    yield names


def _name(entry: Json) -> str:
    if isinstance(entry, str):
        return entry
    if is_object(entry):
        return next((value for key in NAME_KEYS if isinstance(value := entry.get(key), str) and value), "")
    return ""
