"""One line of what a column or a list of values holds: types, counts, ranges, common values; every count is exact."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from slimguard.canonical import dump
from slimguard.model import Json, is_array, is_object

FEW_VALUES = 8
"""A column with so many distinct values is listed by value and count."""
_SHORT = 40
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\Z")


def summary(values: Sequence[Json]) -> str:
    """What `values` hold, in a line; empty for none."""
    present = [value for value in values if value is not None]
    nulls = len(values) - len(present)
    tail = f", null {nulls}" if nulls else ""
    if not present:
        return "null" if nulls else ""
    if all(isinstance(value, bool) for value in present):
        counts = Counter(present)
        return ", ".join(f"{dump(value)} {count}" for value, count in counts.most_common()) + tail
    numbers = [value for value in present if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) == len(present):
        return _numbers(numbers) + tail
    texts = [value for value in present if isinstance(value, str)]
    if len(texts) == len(present):
        return _texts(texts) + tail
    if all(is_array(value) for value in present):
        lengths = [len(value) for value in present]
        return f"arrays of {span(min(lengths), max(lengths))}{_elements(present)}{tail}"
    if all(is_object(value) for value in present):
        return f"objects, keys {_keys(present)}{tail}"
    kinds = Counter(kind_of(value) for value in present)
    return "mixed: " + ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()) + tail


def kind_of(value: Json) -> str:
    """The JSON type of a value, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true/false"
    if isinstance(value, str):
        return "text"
    return "array" if is_array(value) else "object" if is_object(value) else "number"


def span(low: Json, high: Json) -> str:
    """`3–7`, or `3`."""
    return f"{low}" if low == high else f"{low}–{high}"


def clip(text: str, size: int = 60) -> str:
    """`text` in at most about `size` characters, on one line."""
    line = text if "\n" not in text else " ".join(text.split())
    return line if len(line) <= size else f"{line[: size - 1]}…"


def _numbers(numbers: Sequence[int | float]) -> str:
    counts = Counter(numbers)
    if 1 < len(counts) <= 4 and len(numbers) > len(counts) * 2:
        return ", ".join(f"{value} ×{count}" for value, count in counts.most_common())
    if any(number != number for number in numbers):  # noqa: PLR0124  # NaN, which Python's parser lets through
        return "numbers, some are no number"
    return f"numbers {span(min(numbers), max(numbers))}"


def _texts(texts: Sequence[str]) -> str:
    counts = Counter(texts)
    if all(_DATE.match(text) for text in texts[:50]) and all(_DATE.match(text) for text in counts):
        return f"dates {span(min(texts), max(texts))}"
    if len(counts) <= FEW_VALUES and all(len(text) <= _SHORT for text in counts) and len(counts) * 2 <= len(texts):
        return ", ".join(f"{text or dump(text)} {count}" for text, count in counts.most_common())
    lengths = (
        f", {span(min(map(len, texts)), max(map(len, texts)))} characters" if max(map(len, texts)) > _SHORT else ""
    )
    distinct = "all distinct" if len(counts) == len(texts) else f"{len(counts)} distinct"
    if len(texts) == 1:
        return dump(clip(texts[0]))
    top, count = counts.most_common(1)[0]
    most = f", most {dump(clip(top, 30))} {count}" if count > 1 and len(counts) <= len(texts) // 2 else ""
    return f"texts, {distinct}{most or f', e.g. {dump(clip(texts[0], 40))}'}{lengths}"


def _elements(arrays: Sequence[list[Json]]) -> str:
    first = next((array[0] for array in arrays if array), None)
    return "" if first is None else f" {kind_of(first)}s"


def _keys(objects: Sequence[dict[str, Json]]) -> str:
    keys: dict[str, None] = {}
    for item in objects[:200]:
        keys.update(dict.fromkeys(item))
        if len(keys) > 40:
            break
    names = list(keys)
    return ", ".join(names[:8]) + (f", … {len(names)}" if len(names) > 8 else "")
