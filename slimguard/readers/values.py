"""How JSON values are written in an answer: compact, bounded while they are written, long parts cut and counted."""

from __future__ import annotations

import json
from collections.abc import Iterator

from slimguard.canonical import dump
from slimguard.model import Json, is_array, is_object

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)
_CUTS = ((400, 20), (160, 8), (60, 3), (24, 1))
"""Characters of a text and elements of an array that stay, tried in turn."""
_DEPTH = 12


def bounded_dump(value: Json, limit: int) -> str | None:
    """Compact JSON of `value`, or None when it has more than `limit` characters; stops writing there.

    A value may be small in memory and huge when written (an expression can repeat a part many times).
    """
    if isinstance(value, str) and len(value) > limit:
        return None
    pieces: list[str] = []
    size = 0
    for piece in _encoder.iterencode(value):
        size += len(piece)
        if size > limit:
            return None
        pieces.append(piece)
    return "".join(pieces)


def fitting_dump(value: Json, limit: int) -> tuple[str, bool]:
    """Compact JSON of `value` in at most about `limit` characters, and whether long parts of it were cut."""
    whole = bounded_dump(value, limit)
    if whole is not None:
        return whole, False
    text = ""
    for chars, elements in _CUTS:
        text = "".join(_pieces(value, chars, elements, limit))
        if len(text) <= limit:
            return text, True
    return text[:limit] + "…", True


def _pieces(value: Json, chars: int, elements: int, limit: int) -> Iterator[str]:
    """Pieces of cut JSON, at most a little over `limit` characters of them."""
    left = [limit]

    def write(item: Json, depth: int) -> Iterator[str]:
        if left[0] < 0:
            return
        if isinstance(item, str):
            cut = item if len(item) <= chars + 12 else f"{item[:chars]}…(+{len(item) - chars})"
            text = dump(cut)
            left[0] -= len(text)
            yield text
        elif is_array(item) and depth < _DEPTH:
            yield "["
            for place, child in enumerate(item):
                if place == elements or left[0] < 0:
                    yield f',"…(+{len(item) - place})"' if place else f'"…({len(item)})"'
                    break
                yield "," if place else ""
                yield from write(child, depth + 1)
            yield "]"
        elif is_object(item) and depth < _DEPTH:
            yield "{"
            for place, (key, child) in enumerate(item.items()):
                if left[0] < 0:
                    yield f',"…":"+{len(item) - place} keys"'
                    break
                left[0] -= len(key) + 4
                yield f"{',' if place else ''}{dump(key)}:"
                yield from write(child, depth + 1)
            yield "}"
        else:
            text = '"…"' if isinstance(item, dict | list) else dump(item)
            left[0] -= len(text)
            yield text

    yield from write(value, 0)
