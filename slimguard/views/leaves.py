"""The leaves of a JSON value as lines `path: key=value …`; arrays and texts by their size; paths are JMESPath."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slimguard.document import Path, format_path
from slimguard.document.shapes import KEYED_LEAST, is_scalar, shape_of_object
from slimguard.frame import size_text
from slimguard.model import Json, is_array, is_object
from slimguard.views.cells import cell, one_line, short
from slimguard.views.encoded import encoded_text

VALUE_CHARS = 90
LONG_CHARS = 160
UNBROKEN_CHARS = 110
"""Text without a space that is longer is machine text: a half of this is enough to tell it."""
SCALARS_A_LINE = 20
DEPTH = 7
NODES = 3_000


@dataclass(frozen=True, slots=True)
class Leaf:
    """One line of the outline and how deep its path is."""

    path: Path
    line: str
    depth: int


def leaf_lines(value: Json, skip: Sequence[Path]) -> list[Leaf]:
    """Lines for the containers of `value` in document order; what stands at a path in `skip` is only counted."""
    skipped = set(skip)
    if () in skipped:
        return []
    return list(_lines(value, (), skipped, [NODES]))


def _lines(value: Json, path: Path, skipped: set[Path], nodes: list[int]) -> Iterator[Leaf]:
    nodes[0] -= 1
    if nodes[0] < 0 or len(path) > DEPTH:
        return
    if is_object(value):
        yield from _object(value, path, skipped, nodes)
    elif is_array(value):
        yield from _array(value, path, skipped, nodes)


def _object(value: dict[str, Json], path: Path, skipped: set[Path], nodes: list[int]) -> Iterator[Leaf]:
    shape = shape_of_object(value) if path and len(value) >= KEYED_LEAST else "object"
    if shape == "map":
        yield Leaf(path, f"{format_path(path)}: {map_text(value)}", len(path))
        return
    if shape == "keyed" and len(value) > KEYED_LEAST:
        names = ", ".join(short(key, 40) for key in list(value)[:5])
        keys = ", ".join(list(next(iter(value.values())))[:8])
        yield Leaf(
            path,
            f"{format_path(path)}: {len(value):,} entries by key ({keys}): {names}{' …' if len(value) > 5 else ''}",
            len(path),
        )
        return
    scalars = [
        scalar_text(key, item)
        for key, item in value.items()
        if is_scalar(item) and item is not None and (*path, key) not in skipped
    ]
    empty = [key for key, item in value.items() if item is None or item in ({}, [])]
    if scalars or not value:
        more = f" … {len(scalars) - SCALARS_A_LINE} more" if len(scalars) > SCALARS_A_LINE else ""
        prefix = f"{format_path(path)}: " if path else ""
        yield Leaf(path, prefix + ", ".join(scalars[:SCALARS_A_LINE]) + more, len(path))
    for key, item in value.items():
        here = (*path, key)
        if here in skipped or is_scalar(item) or item in ({}, []):
            continue
        yield from _lines(item, here, skipped, nodes)
    if empty and not path and len(empty) <= 12:
        yield Leaf(path, f"empty: {', '.join(empty)}", len(path) + 1)


def _array(value: list[Json], path: Path, skipped: set[Path], nodes: list[int]) -> Iterator[Leaf]:
    name = format_path(path)
    if all(is_scalar(item) for item in value[:50]):
        yield Leaf(path, f"{name}: {values_text(value)}", len(path))
        return
    some = [cell(item, 40) for item in value[:5]]
    yield Leaf(path, f"{name}: {len(value):,} items: {', '.join(some)}{' …' if len(value) > 5 else ''}", len(path))
    for place, item in enumerate(value[:1]):
        yield from _lines(item, (*path, place), skipped, nodes)


def values_text(value: Sequence[Json]) -> str:
    """An array of scalars: how many, the first and the last."""
    if len(value) <= 8 and sum(len(str(item)) for item in value) < 200:
        return "[" + ", ".join(cell(item, 80) for item in value) + "]"
    first = ", ".join(cell(item, 40) for item in value[:3])
    last = ", ".join(cell(item, 40) for item in value[-2:])
    return (
        f"{len(value):,} values: {first} … {last}"
        if len(value) > 5
        else f"[{', '.join(cell(item, 60) for item in value)}]"
    )


def map_text(value: dict[str, Json]) -> str:
    """A map of scalars: how many entries, the first and the last."""
    pairs = [
        f"{short(key, 40)}={cell(item, 40)}" for key, item in [*list(value.items())[:2], *list(value.items())[-2:]]
    ]
    return f"{len(value):,} entries: {pairs[0]}, {pairs[1]} … {pairs[2]}, {pairs[3]}"


def scalar_text(key: str, value: Json) -> str:
    """`key=value`; encoded bytes and long texts by their size."""
    if not isinstance(value, str):
        return f"{key}={cell(value)}"
    found = encoded_text(value)
    if found:
        return f"{key}=({found})"
    if len(value) > LONG_CHARS:
        return f"{key}=({size_text(len(value.encode('utf-8', 'replace')))} text: {one_line(value[:VALUE_CHARS])}…)"
    if len(value) > UNBROKEN_CHARS and " " not in value:
        return f"{key}={value[: UNBROKEN_CHARS // 2]}…(+{len(value) - UNBROKEN_CHARS // 2})"
    return f"{key}={one_line(value)}"
