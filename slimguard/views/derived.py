"""Columns that are made of others: the text that a type names, pairs, typed members, series of points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from slimguard.document.shapes import are_alike, is_scalar, sample
from slimguard.model import Json, is_array, is_object
from slimguard.views.cells import cell
from slimguard.views.deeptext import deep_text
from slimguard.views.profile import Column, points_of, profile

UNION = "text*"
"""Name of the column that holds the text under the key that the row's type names."""
PAIRS_AT_MOST = 12
PARTS_AT_MOST = 3
MEMBERS_AT_MOST = 24
MEMBER_CHARS = 120


def union_column(columns: Sequence[Column], count: int) -> Column | None:
    """The text under the key that another column names (`type: heading_1` and an object `heading_1`), as one column."""
    objects = {column.name: column for column in columns if column.kind in ("object", "array", "mixed")}
    for column in columns:
        if column.kind != "text" or column.counts is None or not 2 <= column.distinct <= 60:
            continue
        hits = sum(number for value, number in column.counts.items() if value in objects)
        if hits * 10 < count * 8:
            continue
        texts: list[Json] = []
        for place, name in enumerate(column.values):
            value = objects[name].values[place] if name in objects else None
            texts.append(deep_text(value) if value is not None else None)
        found = profile(UNION, texts)
        return found if found.filled else None
    return None


def pair_columns(columns: Sequence[Column]) -> list[Column]:
    """Columns for lists of `{name, value}` pairs (mail headers, tags): `payload.headers[Subject]`."""
    found: list[Column] = []
    for column in columns:
        if column.kind not in ("object", "array"):
            continue
        for path in _pair_paths(column.values):
            rows = [_pairs(_inside(value, path)) for value in column.values]
            names = Counter(name for row in rows for name in row)
            spelled = ".".join((column.name, *path))
            common = [name for name, count in names.items() if count * 2 >= len(rows)][:PAIRS_AT_MOST]
            found.extend(profile(f"{spelled}[{name}]", [row.get(name) for row in rows]) for name in common)
    return found


def with_parts(columns: Sequence[Column]) -> list[Column]:
    """Columns of short rows of unlike scalars (a time and a value) or of numbers: a column a place, `value[1]`."""
    result: list[Column] = []
    for column in columns:
        width = _parts_in(column)
        if not width:
            result.append(column)
            continue
        rows = [value if is_array(value) else [None] * width for value in column.values]
        result.extend(profile(f"{column.name}[{place}]", [row[place] for row in rows]) for place in range(width))
    return result


def _parts_in(column: Column) -> int:
    """How many scalars each row of an array column holds; 0 when they differ in number, or are a list of likes."""
    filled = [value for value in column.values if value is not None] if column.kind == "array" else []
    first = filled[0] if filled else None
    width = len(first) if is_array(first) else 0
    if not 2 <= width <= PARTS_AT_MOST or any(not is_array(row) or len(row) != width for row in filled):
        return 0
    some = [row for row in sample(filled) if is_array(row)]
    if not all(is_scalar(item) for row in some for item in row):
        return 0
    kinds = [{_is_number(row[place]) for row in some} for place in range(width)]
    like = any(len(kind) > 1 for kind in kinds) or all(kind == {False} for kind in kinds)
    return 0 if like else width


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def member_columns(columns: Sequence[Column]) -> list[Column]:
    """Columns for objects of nothing but objects, alike in all rows (`properties.Status` of a page in a database)."""
    found: list[Column] = []
    for column in columns:
        if column.kind != "object":
            continue
        objects = [value for value in sample(column.values) if is_object(value) and value]
        if len(objects) < 2 or not are_alike(objects):
            continue
        if not all(len(item) > 1 and all(is_object(member) for member in item.values()) for item in objects):
            continue
        for name in list(objects[0])[:MEMBERS_AT_MOST]:
            cells = [_member(value.get(name)) if is_object(value) else None for value in column.values]
            found.append(profile(f"{column.name}.{name}", cells))
    return found


def _member(value: Json) -> Json:
    """What an object says: the value under the key that its `type` names, a scalar as it is, else its text."""
    if is_object(value):
        kind = value.get("type")
        value = value[kind] if isinstance(kind, str) and kind in value else value
    if is_object(value) or is_array(value):
        if is_array(value) and value and all(is_object(item) and "plain_text" in item for item in value):
            return deep_text(value) or None
        return cell(value, MEMBER_CHARS) or None
    return value if value != "" else None


def _pair_paths(values: Sequence[Json]) -> list[tuple[str, ...]]:
    """Key paths inside an object column at which lists of pairs stand; the empty path for a column of such lists."""
    paths: dict[tuple[str, ...], None] = {}
    for value in sample(values, 8):
        if _pairs(value):
            paths[()] = None
        if is_object(value):
            for key, child in value.items():
                if _pairs(child):
                    paths[key,] = None
    return list(paths)


def _inside(value: Json, path: tuple[str, ...]) -> Json:
    for key in path:
        value = value.get(key) if is_object(value) else None
    return value


def _pairs(value: Json) -> dict[str, Json]:
    if not is_array(value) or not 0 < len(value) <= 200:
        return {}
    pairs: dict[str, Json] = {}
    for item in value:
        if not is_object(item) or len(item) > 4:
            return {}
        name = next((item[key] for key in ("name", "Name", "key", "Key") if isinstance(item.get(key), str)), None)
        text = next((item[key] for key in ("value", "Value") if key in item), None)
        if name is None or (text is None and "value" not in item and "Value" not in item):
            return {}
        pairs.setdefault(name, text if not isinstance(text, dict | list) else None)
    return pairs


def with_series(columns: list[Column]) -> list[Column]:
    """Columns of number series become their last, largest and smallest point."""
    result: list[Column] = []
    for column in columns:
        if column.kind != "series":
            result.append(column)
            continue
        ends: list[list[Json]] = [[], [], []]
        for value in column.values:
            raw = _raw_points(value)
            for place, item in enumerate(raw):
                ends[place].append(item)
        for place, word in enumerate(("last", "max", "min")):
            derived = profile(f"{column.name}.{word}", ends[place])
            result.append(derived)
    return result


def _raw_points(value: Json) -> tuple[Json, Json, Json]:
    points = points_of(value) if is_array(value) and value else None
    if not points:
        return None, None, None
    low, high = points.index(min(points)), points.index(max(points))
    return _number(points[-1]), _number(points[high]), _number(points[low])


def _number(value: float) -> Json:
    return int(value) if value.is_integer() and abs(value) < 1e15 else value
