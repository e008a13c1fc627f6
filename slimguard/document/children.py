"""The children of a container in valid JSON text, as spans; values are decoded to find their ends, never kept."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

_SPACE = re.compile(r"[ \t\r\n,:\ufeff]*")
_decode = json.JSONDecoder().raw_decode


class Child(NamedTuple):
    """One value in a container: from `start` (of its key, when it has one) to `end`; its own text starts at `value`."""

    start: int
    value: int
    end: int
    step: str | int


def children_at(text: str, start: int) -> list[Child]:
    """The children of the array or object that begins at `start`, in their order."""
    keyed = text[start] == "{"
    found: list[Child] = []
    position = after_marks(text, start + 1)
    while text[position] not in "]}":
        begin = position
        step: str | int = len(found)
        if keyed:
            key, position = _decode(text, position)
            step = str(key)
            position = after_marks(text, position)
        value = position
        position = _decode(text, value)[1]
        found.append(Child(begin, value, position, step))
        position = after_marks(text, position)
    return found


def roots_in(text: str, start: int, end: int) -> list[Child]:
    """The values that stand one after the other between `start` and `end`, as if they were an array's."""
    found: list[Child] = []
    position = start
    while position < end:
        _, stop = _decode(text, position)
        found.append(Child(position, position, stop, len(found)))
        position = after_marks(text, stop)
    return found


def after_marks(text: str, position: int) -> int:
    """The first place from `position` on that is neither blank nor a comma or colon between values."""
    match = _SPACE.match(text, position)
    return match.end() if match else position
