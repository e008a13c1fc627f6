"""The visible text inside a nested value (rich text, documents made of nodes), and long texts that fill a result."""

from __future__ import annotations

import re
from collections.abc import Iterable

from slimguard.document import Path
from slimguard.model import Json, is_array, is_object

TEXT_KEYS = ("plain_text", "text", "content", "title", "name", "value", "caption", "label", "message", "body")
CHARS = 600
STEPS = 200
NODES = 8_000
LONG_SHARE = 0.5
LONG_CHARS = 2_500
_QUOTE = re.compile(r"(?<!\\)\"")
WIDTH = 20
"""Arrays longer than this hold records, not the one text of a result."""


def deep_text(value: Json) -> str:
    """The texts inside `value` in order: of each object the most text-like key only, so that nothing comes twice."""
    parts: list[str] = []
    stack: list[Json] = [value]
    steps = used = 0
    while stack and used < CHARS and steps < STEPS:
        steps += 1
        item = stack.pop()
        if isinstance(item, str):
            if item.strip():
                parts.append(item)
                used += len(item)
        elif is_array(item):
            stack.extend(reversed(item[:50]))
        elif is_object(item):
            own = next((item[key] for key in TEXT_KEYS if isinstance(item.get(key), str) and item[key]), None)
            if own is not None:
                parts.append(own)
                used += len(own)
                continue
            stack.extend([child for child in reversed(item.values()) if is_object(child) or is_array(child)])
    return "".join(parts)


def long_text(value: Json, text: str) -> tuple[Path, str] | None:
    """The path and text of a string that makes up most of a value, or None; nearest first. `text` is its JSON."""
    least = max(LONG_CHARS, int(len(text) * LONG_SHARE))
    middle = len(text) // 2
    if _QUOTE.search(text, middle - LONG_CHARS // 3, middle) and _QUOTE.search(text, middle, middle + LONG_CHARS // 3):
        return None  # a string of half of the text goes through the middle, far to one side of it at least
    level: list[tuple[Path, Json]] = [((), value)]
    nodes = 0
    while level and nodes < NODES:
        below: list[tuple[Path, Json]] = []
        for path, item in level:
            pairs: Iterable[tuple[str | int, Json]] = ()
            if is_object(item):
                pairs = item.items()
            elif is_array(item) and len(item) <= WIDTH:
                pairs = enumerate(item)
            for key, child in pairs:
                nodes += 1
                if child.__class__ is str:
                    if len(child) >= least:
                        return (*path, key), child
                elif child.__class__ is dict or child.__class__ is list:
                    below.append(((*path, key), child))
        level = below
    return None
