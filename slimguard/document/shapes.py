"""What shape a JSON container has: records, keyed map, parallel arrays, matrix; judged by samples, never by names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from slimguard.model import Json, is_array, is_object

Shape = Literal["records", "matrix", "values", "keyed", "map", "parallel", "object", "empty"]

SAMPLE = 64
"""Elements that are looked at to judge a container; evenly spread, so that a long array costs no more than a short."""
KEYED_LEAST = 3
"""Like objects under so many keys are a keyed map; fewer are just fields."""
MAP_LEAST = 16
"""An object of so many scalars of one type is a map of values; a shorter one is a record."""
COLUMN_MAPS_AT_MOST = 200
"""So many maps side by side may be the columns of a table."""
PARALLEL_LEAST = 4
"""Arrays of one length, at least this long, side by side are the columns of a table."""


def sample(values: Sequence[Json], size: int = SAMPLE) -> Sequence[Json]:
    """At most `size` of `values`, evenly spread, the first and the last among them."""
    count = len(values)
    if count <= size:
        return values
    step = (count - 1) / (size - 1)
    return [values[round(place * step)] for place in range(size)]


def is_scalar(value: Json) -> bool:
    """Whether a JSON value is no container."""
    return not isinstance(value, dict | list)


def shape_of_array(values: Sequence[Json]) -> Shape:
    """`records` when most elements are objects, `matrix` when all are arrays of scalars, else `values`."""
    if not values:
        return "empty"
    some = sample(values)
    objects = sum(1 for item in some if is_object(item) and item)
    if objects * 5 >= len(some) * 4:
        return "records"
    if all(is_array(item) and 0 < len(item) <= 100 and all(is_scalar(cell) for cell in item) for item in some):
        return "matrix"
    return "values"


def shape_of_object(value: dict[str, Json]) -> Shape:
    """`parallel`, `keyed`, `map`, or plain `object`."""
    if not value:
        return "empty"
    if parallel_columns(value):
        return "parallel"
    if len(value) < KEYED_LEAST:
        return "object"
    some = sample(list(value.values()))
    if all(is_object(item) and item for item in some):
        return "keyed" if are_alike(some) else "object"
    if (
        len(value) >= MAP_LEAST
        and all(is_scalar(item) for item in some)
        and len({type(item).__name__ for item in some}) == 1
    ):
        return "map"
    return "object"


def parallel_columns(value: dict[str, Json]) -> list[str]:
    """Keys of the longest set of at least two arrays of scalars of one length; empty when there is none."""
    lengths: dict[int, list[str]] = {}
    for key, item in value.items():
        if is_array(item) and len(item) >= PARALLEL_LEAST and all(is_scalar(cell) for cell in sample(item, 16)):
            lengths.setdefault(len(item), []).append(key)
    best: list[str] = max(lengths.values(), key=len) if lengths else []
    return best if len(best) >= 2 else []


def column_maps(value: dict[str, Json]) -> bool:
    """Whether the values are maps of scalars by the same keys, and these are rows: counted, or far more than maps."""
    columns = list(value.values())
    first = columns[0] if columns else None
    if not is_object(first) or not 2 <= len(columns) <= COLUMN_MAPS_AT_MOST or len(first) < PARALLEL_LEAST:
        return False
    if not all(is_object(column) and len(column) == len(first) for column in columns):
        return False
    counted = next(iter(first)) == "0" and "1" in first
    if not counted and (len(first) < MAP_LEAST or len(first) < 4 * len(columns)):
        return False
    keys = first.keys()
    return all(
        is_object(column) and column.keys() == keys and all(is_scalar(item) for item in sample(list(column.values())))
        for column in columns
    )


def are_alike(objects: Sequence[dict[str, Json]]) -> bool:
    """Whether objects share most of their keys, so that they read as rows of one table."""
    counts: dict[str, int] = {}
    total = 0
    for item in objects:
        total += len(item)
        for key in item:
            counts[key] = counts.get(key, 0) + 1
    common = sum(count for count in counts.values() if count * 2 >= len(objects) and count > 1)
    return common * 2 >= total
