"""Short texts of JSON values for views: on one line, cut with a mark, collapsed to what identifies them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from slimguard.canonical import dump
from slimguard.model import Json, is_array, is_object
from slimguard.views.deeptext import deep_text

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
IDENTITY = (
    "login", "identifier", "key", "full_name", "fullName", "displayName", "display_name", "title", "name", "username",
    "label", "slug", "path", "filePath", "file_path", "filename", "fileName", "file", "ref", "number", "summary",
    "subject", "headline", "Name", "Title", "DisplayName", "FullName", "Key", "Path", "email",
)  # fmt: skip
"""Keys that identify an object to a reader, the most telling first."""
WEAK_IDENTITY = ("code", "id", "uid", "uuid", "value", "type", "url", "href", "date", "time")
"""Keys that do so where nothing better is there."""


def one_line(text: str) -> str:
    """White space and control characters folded to single spaces."""
    if len(text) > 8_000:
        text = text[:8_000]
    text = " ".join(text.split())
    return text if text.isprintable() else " ".join(_CONTROL.sub(" ", text).split())


def short(text: str, limit: int) -> str:
    """One line of at most about `limit` characters; a cut text ends with how many characters are missing."""
    line = one_line(text)
    if len(line) <= limit and len(text) <= 8_000:
        return line
    cut = line[: max(1, limit)].rstrip()
    space = cut.rfind(" ")
    if space > limit * 2 // 3:
        cut = cut[:space]
    return f"{cut}…(+{len(text) - len(cut)})"


def cell(value: Json, limit: int = 80) -> str:
    """The text of any value in one cell: null is empty, containers are collapsed."""
    if value is None:
        return ""
    if isinstance(value, str):
        return short(value, limit)
    if is_array(value):
        return list_cell(value, limit)
    if is_object(value):
        return object_cell(value, limit)
    return dump(value)


def object_cell(value: dict[str, Json], limit: int) -> str:
    """An object as what identifies it, else as its first scalars."""
    if not value:
        return "{}"
    text = identity_of(value, IDENTITY) or deep_text(value) or identity_of(value, WEAK_IDENTITY)
    if text:
        return short(text, limit)
    pairs = [f"{key}={cell(item, 24)}" for key, item in list(value.items())[:4] if not isinstance(item, dict | list)]
    return short(f"{{{' '.join(pairs)}}}", limit) if pairs else f"{{{len(value)} keys}}"


def list_cell(value: Sequence[Json], limit: int) -> str:
    """An array as its elements as far as they fit, with how many follow."""
    if not value:
        return ""
    parts: list[str] = []
    used = 0
    for item in value[:20]:
        text = cell(item, max(12, limit // 2))
        if parts and used + len(text) > limit:
            break
        parts.append(text)
        used += len(text) + 1
    left = len(value) - len(parts)
    return ",".join(parts) + (f",…+{left}" if left else "")


@cache
def _ranks(keys: tuple[str, ...]) -> dict[str, int]:
    """The place of each key among those that identify."""
    return {key: place for place, key in reversed(list(enumerate(keys)))}


def identity_of(value: dict[str, Json], keys: tuple[str, ...] = (*IDENTITY, *WEAK_IDENTITY)) -> str:
    """The most telling scalar of an object, or empty."""
    ranks = _ranks(keys)
    for key in sorted([key for key in value if key in ranks], key=ranks.__getitem__):
        item = value[key]
        if isinstance(item, str | int | float) and not isinstance(item, bool) and item != "":
            return item if isinstance(item, str) else dump(item)
    return ""
