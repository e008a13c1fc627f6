"""Tables inside records: nested arrays united over all records, and recursive arrays as one tree of nodes; data is
walked with stacks, never by recursion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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
from slimguard.document.paths import Path, format_path
from slimguard.document.shapes import is_scalar, sample, shape_of_array
from slimguard.model import Json, is_array, is_object

SMALL = 0.15
"""A table nested in records weighs so much of one that stands by itself."""
PATHS_AT_MOST = 24
"""Nested arrays that are looked at in one array of records."""
LEVELS = 2
"""Arrays of records within arrays of records are followed so deep."""

Pairs = list[tuple[int, Json]]
"""Elements of nested arrays, each with the row of the record it stands in."""


@dataclass(frozen=True, slots=True)
class Above:
    """Where the records stand whose nested arrays are united."""

    path: Path
    expression: str
    weight: float
    keys: tuple[str, ...] = ()
    """Key path from the outer records to these, for names."""
    labels: Sequence[str] | None = None
    """The records' keys when they stand in a keyed map."""

    @property
    def first(self) -> str:
        """Name of the column that says which record a row stands in."""
        return "_parent" if self.labels is None else "_key"

    def label(self, place: int) -> Json:
        """The value of that column for the record at `place`."""
        return place if self.labels is None else self.labels[place]


def nested_tables(records: Sequence[dict[str, Json]], above: Above, levels: int = LEVELS) -> Iterator[Found]:
    """Arrays of records or of rows inside `records`, united over all of them, with `_parent` or `_key` first."""
    for inner in _inner_arrays(records):
        pairs: Pairs = [
            (place, child)
            for place, item in enumerate(records)
            if is_array(children := _at(item, inner))
            for child in children
        ]
        children = [child for _, child in pairs]
        shape = shape_of_array(children)
        if len(pairs) < 2 or shape not in ("records", "matrix"):
            continue
        here = replace(
            above,
            expression=f"{above.expression}.{format_path(inner)}[]",
            keys=(*above.keys, *inner),
            weight=above.weight * 0.9,
        )
        if shape == "matrix":
            yield _united_rows(pairs, here)
            continue
        objects = [child for child in children if is_object(child)]
        if is_recursive(objects, inner[-1]):
            yield _tree_of(pairs, here, inner[-1])
            continue
        yield _united(pairs, children, here)
        if levels > 1:
            yield from nested_tables(objects, replace(here, labels=None), levels - 1)


def tree_table(value: Sequence[Json], path: Path) -> Found | None:
    """A recursive array (`children` within `children`): the nodes of all levels, with `_parent` and `_depth`."""
    if not path or not isinstance(path[-1], str):
        return None
    if not is_recursive([item for item in value if is_object(item)], path[-1]):
        return None
    return _tree_of([(-1, item) for item in value], Above(path, spelled(path, "[]"), math.inf), path[-1])


def is_recursive(records: Sequence[dict[str, Json]], key: str) -> bool:
    """Whether records hold arrays of objects under the key that they stand under themselves."""
    return any(_is_nodes(item.get(key)) for item in sample(records))


def _united(pairs: Pairs, children: Sequence[Json], above: Above) -> Found:
    columns, dotted = record_columns(children)

    def make() -> Rows:
        return [[above.label(place), *record_row(child, columns, dotted)] for place, child in pairs]

    names = (above.first, *column_names(columns, dotted))
    weight = min(len(pairs) * len(names) * SMALL, above.weight)
    return Found(
        above.path, "nested", names, len(pairs), above.expression, make, 1 + len(columns), _names(above), weight
    )


def _united_rows(pairs: Pairs, above: Above) -> Found:
    width = max(len(child) for _, child in pairs if is_array(child))

    def make() -> Rows:
        return [
            [above.label(place), *cells, *[None] * (width - len(cells))]
            for place, cells in ((place, child if is_array(child) else [child]) for place, child in pairs)
        ]

    names = (above.first, *(f"c{place}" for place in range(width)))
    weight = min(len(pairs) * len(names) * SMALL / 4, above.weight)
    return Found(above.path, "nested", names, len(pairs), above.expression, make, len(names), _names(above), weight)


def _tree_of(pairs: Pairs, above: Above, key: str) -> Found:
    nodes = list(_descend(pairs, key))
    found, dotted = record_columns([node for _, _, node in nodes])
    columns = tuple(column for column in found if column != key)

    def make() -> Rows:
        return [
            [parent if depth else above.label(parent), depth, *record_row(node, columns, dotted)]
            for parent, depth, node in nodes
        ]

    def make_columns() -> list[Sequence[Json]]:
        parents = [parent if depth else above.label(parent) for parent, depth, _ in nodes]
        return [
            parents,
            [depth for _, depth, _ in nodes],
            *record_cells([node for _, _, node in nodes], columns, dotted),
        ]

    names = (above.first, "_depth", *column_names(columns, dotted))
    weight = min(float(len(nodes) * len(names)), above.weight)
    own = 2 + len(columns)
    return Found(
        above.path, "tree", names, len(nodes), above.expression, make, own, _names(above), weight, make_columns
    )


def _descend(pairs: Pairs, key: str) -> Iterator[tuple[int, int, Json]]:
    """Nodes in document order as (row of the parent, depth, node)."""
    stack = [(parent, 0, node) for parent, node in reversed(pairs)]
    row = 0
    while stack:
        parent, depth, node = stack.pop()
        yield parent, depth, node
        below: Json = node.get(key) if is_object(node) else None
        if is_array(below):
            depth += 1
            stack.extend([(row, depth, child) for child in reversed(below)])
        row += 1


def _inner_arrays(records: Sequence[dict[str, Json]]) -> list[tuple[str, ...]]:
    """Key paths, through at most three objects, at which sampled records hold arrays of objects or of rows."""
    paths: dict[tuple[str, ...], None] = {}
    for item in sample(records):
        stack: list[tuple[tuple[str, ...], dict[str, Json]]] = [((), item)]
        while stack and len(paths) < PATHS_AT_MOST:
            above, value = stack.pop()
            for key, child in value.items():
                if is_object(child) and len(above) < 3:
                    stack.append(((*above, key), child))
                elif is_array(child) and child and not is_scalar(child[0]):
                    paths[*above, key] = None
    return list(paths)


def _at(item: Json, keys: Sequence[str]) -> Json:
    for key in keys:
        item = item.get(key) if is_object(item) else None
    return item


def _is_nodes(value: Json) -> bool:
    return is_array(value) and any(is_object(item) for item in value[:4])


def _names(above: Above) -> tuple[str, ...]:
    return names_of((*above.path, *above.keys))
