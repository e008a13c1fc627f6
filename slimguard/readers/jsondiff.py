"""Which values of two JSON values differ, by path; records are matched by what identifies them, not by their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from slimguard.canonical import dump
from slimguard.document import Path, format_path
from slimguard.document.blocks import same_value
from slimguard.model import Json, is_array, is_object
from slimguard.readers.records import identity
from slimguard.readers.textdiff import changes
from slimguard.readers.values import fitting_dump

_KEYS = (
    "number", "iid", "identifier", "key", "_key", "id", "_id", "name", "path", "sha", "uuid", "url", "title", "email",
)  # fmt: skip
_VALUE_CHARS = 160
_DEPTH = 60
_FIELDS = 12


class Difference(NamedTuple):
    """One difference: `+` only in the new value, `-` only in the old one, `~` changed."""

    sign: str
    line: str


def differences(old: Json, new: Json, path: Path = (), depth: int = 0) -> Iterator[Difference]:
    """The differences in the order of the old value, then what is new."""
    if type(old) is type(new) and same_value(old, new):
        return
    if is_object(old) and is_object(new) and depth < _DEPTH:
        for key, value in old.items():
            if key in new:
                yield from differences(value, new[key], (*path, key), depth + 1)
            else:
                yield Difference("-", f"{format_path((*path, key))}: {_short(value)}")
        for key in new:
            if key not in old:
                yield Difference("+", f"{format_path((*path, key))}: {_short(new[key])}")
        return
    if is_array(old) and is_array(new) and depth < _DEPTH:
        key = _common_key(old, new)
        if key is not None:
            yield from _by_key(old, new, path, key, depth)
        else:
            yield from _by_place(old, new, path, depth)
        return
    yield Difference("~", f"{format_path(path)}: {_short(old)} → {_short(new)}")


def _by_key(old: Sequence[Json], new: Sequence[Json], path: Path, key: str, depth: int) -> Iterator[Difference]:
    known = {_named(item[key]): item for item in new}
    seen: set[str] = set()
    for item in old:
        name = _named(item[key])
        seen.add(name)
        where = f"{format_path(path)}[{key}={item[key]}]"
        if name not in known:
            yield Difference("-", f"{where}: {identity(item) or _short(item)}")
            continue
        fields = [found.line for found in differences(item, known[name], (), depth + 1)]
        if fields:
            yield Difference(
                "~", f"{where}: {'; '.join(fields[:12])}{f'; … {len(fields)}' if len(fields) > 12 else ''}"
            )
    for item in new:
        if _named(item[key]) not in seen:
            yield Difference("+", f"{format_path(path)}[{key}={item[key]}]: {identity(item) or _short(item)}")


def _by_place(old: Sequence[Json], new: Sequence[Json], path: Path, depth: int) -> Iterator[Difference]:
    left, right = [dump(item) for item in old], [dump(item) for item in new]
    for change in changes(left, right):
        count = min(change.old_end - change.old_start, change.new_end - change.new_start)
        for step in range(count):
            place = change.old_start + step
            yield from differences(old[place], new[change.new_start + step], (*path, place), depth + 1)
        for place in range(change.old_start + count, change.old_end):
            yield Difference("-", f"{format_path((*path, place))}: {_short(old[place])}")
        for place in range(change.new_start + count, change.new_end):
            yield Difference("+", f"{format_path((*path, place))}: {_short(new[place])}")


def _common_key(old: Sequence[Json], new: Sequence[Json]) -> str | None:
    """A key that is in all records of both and different in each of either."""
    if not old or not new or not all(is_object(item) for item in (*old, *new)):
        return None
    for key in _KEYS:
        if all(key in item and isinstance(item[key], str | int) for item in (*old, *new)) and all(
            len({_named(item[key]) for item in side}) == len(side) for side in (old, new)
        ):
            return key
    return None


def _named(value: Json) -> str:
    return dump(value)


def _short(value: Json) -> str:
    return fitting_dump(value, _VALUE_CHARS)[0]
