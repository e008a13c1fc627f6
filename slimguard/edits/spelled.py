"""Numbers as a result spells them, through Python values and back to JSON; never a changed value."""

from __future__ import annotations

import json
from typing import Any

from slimguard.model import Json, is_array, is_object


class Spelled(float):
    """A number that remembers its digits, which `1.50` and `1e2` would lose."""

    text: str


def loads(text: str) -> Json:
    """The value of `text`, whose numbers remember how they were written."""
    return json.loads(text, parse_float=_number)


def dumps(value: Json, *, ensure_ascii: bool) -> str:
    """Compact JSON, with the digits that numbers remember; raises what `json.dumps` raises."""
    text = json.dumps(value, ensure_ascii=ensure_ascii, separators=(",", ":"), allow_nan=False)
    mark = "spelled "
    while mark in text:
        mark += "_"
    digits: list[str] = []
    marked = _marked(value, mark, digits)
    if not digits:
        return text
    text = json.dumps(marked, ensure_ascii=ensure_ascii, separators=(",", ":"), allow_nan=False)
    for number, spelled in enumerate(digits):
        text = text.replace(f'"{mark}{number}"', spelled, 1)
    return text


def _number(text: str) -> float:
    value = Spelled(text)
    value.text = text
    return value


def _marked(value: Any, mark: str, digits: list[str]) -> Any:
    if isinstance(value, Spelled):
        digits.append(value.text)
        return f"{mark}{len(digits) - 1}"
    if is_object(value):
        return {key: _marked(item, mark, digits) for key, item in value.items()}
    if is_array(value):
        return [_marked(item, mark, digits) for item in value]
    return value
