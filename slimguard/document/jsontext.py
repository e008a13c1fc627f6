"""Find the JSON in a text: the whole of it, after a heading, as JSON lines, or as several values; never a guess."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from slimguard.model import Json, JsonObject

JsonForm = Literal["whole", "after heading", "fenced", "lines", "several"]

_SPACE = re.compile(r"[ \t\r\n]*")
_FENCE = re.compile(r"```(?:json|jsonc|json5)?[ \t]*\r?\n(?=[ \t\r\n]*[\[{])")
_STARTS = frozenset("[{")
_CONTAINERS = frozenset((dict, list))
HEADING_LINES = 6
"""JSON may start this many lines below the top of a text and still be its content."""
DEPTH_LIMIT = 400
"""Containers nested deeper are treated as text: walkers of ours recurse."""


@dataclass(frozen=True, slots=True)
class JsonText:
    """JSON found in a text. `value` is the one value, or for `lines` and `several` the list of all values."""

    form: JsonForm
    value: Json = field(repr=False)
    start: int
    """Character offset of the JSON in the text."""
    end: int
    heading: str = ""
    """What stands before it."""
    trailer: str = ""
    """What stands behind it."""


def json_in(text: str) -> JsonText | None:
    """The JSON content of `text`, or None. Only objects and arrays count: a text that is `5` is prose.

    Large text costs one C-speed parse; a text that is not JSON costs a look at its first lines.
    """
    start = _skip(text, 0)
    if text[start : start + 1] in _STARTS:
        return _from(text, start, "")
    fence = _FENCE.search(text, 0, 2_000)
    if fence is not None:
        found = _decode(text, _skip(text, fence.end()))
        if found is not None and text[_skip(text, found[1]) :].startswith("```"):
            return JsonText(
                "fenced", found[0], _skip(text, fence.end()), found[1], text[: fence.start()], text[found[1] :]
            )
    return _after_heading(text)


def _after_heading(text: str) -> JsonText | None:
    position = 0
    for _ in range(HEADING_LINES):
        position = text.find("\n", position) + 1
        if position == 0:
            return None
        start = _skip(text, position)
        if text[start : start + 1] in _STARTS:
            found = _from(text, start, text[:position])
            if found is not None:
                return found
    return None


def _from(text: str, start: int, heading: str) -> JsonText | None:
    found = _decode(text, start)
    if found is None:
        return None
    value, end = found
    rest = _skip(text, end)
    if rest == len(text):
        return JsonText("after heading" if heading else "whole", value, start, end, heading)
    values, stop = _several(text, value, end)
    if stop == len(text) and len(values) > 1:
        return JsonText("lines" if _one_a_line(text, start, len(values)) else "several", values, start, stop, heading)
    trailer = text[end:]
    if len(trailer) > max(400, (end - start) // 4):
        return None
    if text[start] == "[" and end - start < 40 and not heading:
        return None  # `[INFO] …` is a log, `[1] …` a footnote
    return JsonText("after heading", value, start, end, heading, trailer)


def _several(text: str, first: Json, end: int) -> tuple[list[Json], int]:
    values = [first]
    position = _skip(text, end)
    while position < len(text) and text[position] in _STARTS:
        found = _decode(text, position)
        if found is None:
            break
        values.append(found[0])
        position = _skip(text, found[1])
    return values, position


def _one_a_line(text: str, start: int, count: int) -> bool:
    return text.count("\n", start, len(text.rstrip())) == count - 1


def let_others_run(value: JsonObject) -> JsonObject:
    """Each object on its way out of the parser, unchanged.

    The C code of `json` keeps all other threads waiting until it ends, a tenth of a second for 10 MB; where it calls
    Python code, they get their turn. It costs a twentieth of the time.
    """
    return value


_decoder = json.JSONDecoder(object_hook=let_others_run)


def _decode(text: str, start: int) -> tuple[Json, int] | None:
    try:
        value, end = _decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    if too_deep(value):
        return None
    return value, end


def too_deep(value: Json, limit: int = DEPTH_LIMIT) -> bool:
    """Whether containers nest deeper than `limit`; without recursion, level by level."""
    level: list[Any] = [value]
    for _ in range(limit):
        level = [
            child
            for item in level
            for child in (item.values() if item.__class__ is dict else item)
            if child.__class__ in _CONTAINERS and child
        ]
        if not level:
            return False
    return True


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    end = match.end() if match else position
    return end + 1 if text[end : end + 1] == "\ufeff" else end
