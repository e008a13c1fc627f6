"""Paths into a JSON value, spelled as JMESPath does (`items[0].user.login`), so that a view's paths can be queried."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from slimguard.model import Json, is_array, is_object

Path = tuple[str | int, ...]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_STEP = re.compile(r'\[(-?\d+)\]|\.?([A-Za-z_][A-Za-z0-9_-]*)|\.?("(?:[^"\\]|\\.)*")|\.?([^.\[\]"]+)')


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""What `value_at` returns where a path leads nowhere; None is a JSON value."""


def format_path(path: Path) -> str:
    """The JMESPath spelling of `path`; `@` for the root. Keys that are no identifiers are quoted."""
    if not path:
        return "@"
    out: list[str] = []
    for step in path:
        if isinstance(step, int):
            out.append(f"[{step}]")
            continue
        key = step if _PLAIN.match(step) else json.dumps(step, ensure_ascii=False)
        out.append(f".{key}" if out else key)
    return "".join(out)


def parse_path(text: str) -> Path | None:
    """The path that `text` spells, forgiving about a leading `$`, `@` or dot; None when it is no plain path."""
    rest = text.strip().removeprefix("$").removeprefix("@")
    steps: list[str | int] = []
    position = 0
    while position < len(rest):
        match = _STEP.match(rest, position)
        if match is None:
            return None
        index, name, quoted, other = match.groups()
        if index is not None:
            steps.append(int(index))
        elif quoted is not None:
            try:
                steps.append(str(json.loads(quoted)))
            except ValueError:
                return None
        else:
            steps.append(name or other.strip())
        position = match.end()
    return tuple(steps)


def value_at(value: Json, path: Path) -> Json:
    """The value at `path`, or `MISSING`."""
    for step in path:
        if isinstance(step, str) and is_object(value) and step in value:
            value = value[step]
            continue
        if isinstance(step, int) and is_array(value) and -len(value) <= step < len(value):
            value = value[step]
            continue
        return MISSING
    return value


def walk(value: Json, *, depth: int, limit: int) -> Iterator[tuple[Path, Json]]:
    """Containers and leaves in document order, breadth first, at most `limit` values and `depth` levels."""
    level: list[tuple[Path, Json]] = [((), value)]
    seen = 0
    for _ in range(depth + 1):
        below: list[tuple[Path, Json]] = []
        for path, item in level:
            yield path, item
            seen += 1
            if seen >= limit:
                return
            if is_object(item):
                below.extend(((*path, str(key)), child) for key, child in item.items())
            elif is_array(item):
                below.extend(((*path, place), child) for place, child in enumerate(item))
        level = below
        if not level:
            return
