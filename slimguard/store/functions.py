"""SQL functions beside SQLite's own: linear ones in place of those that are not, and a few that people expect.

One call of SQLite's `instr` or `replace` with a needle of a megabyte takes minutes, and nothing can interrupt it.
"""

from __future__ import annotations

import re
import sqlite3
import statistics
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

import re2  # pyright: ignore[reportMissingTypeStubs]

from slimguard.policy import SQL_CELL_BYTES

_engine: Any = re2
_CHARACTERS = 200
"""Characters that `trim` may take away; more are compared one by one with each character of the text."""
_PATTERN = 1_000
_WORK = 1 << 31
"""Instructions of a pattern times characters of a text; above it one match could take seconds."""
_MOMENT = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d))?)?")
_GLOB_CLASS = re.compile(r"\[(\^?)(\]?[^\]]*)\]")


def add_functions(connection: sqlite3.Connection) -> None:
    """`regexp`, and the linear `instr`, `replace` and `trim` with two arguments."""
    connection.create_function("regexp", 2, _regexp, deterministic=True)
    connection.create_function("instr", 2, _instr, deterministic=True)
    connection.create_function("replace", 3, _replace, deterministic=True)
    connection.create_function("trim", 2, partial(_trimmed, str.strip))
    connection.create_function("ltrim", 2, partial(_trimmed, str.lstrip))
    connection.create_function("rtrim", 2, partial(_trimmed, str.rstrip))


def add_expected(connection: sqlite3.Connection) -> None:
    """What other dialects have and people write: parts of dates, joined texts, the median."""
    connection.create_function("concat", -1, _concat, deterministic=True)
    connection.create_function("len", 1, _length, deterministic=True)
    connection.create_function("nvl", 2, _either, deterministic=True)
    connection.create_function("date_trunc", 2, _date_trunc, deterministic=True)
    connection.create_function("from_unixtime", 1, _from_unixtime, deterministic=True)
    connection.create_function("if", 3, _if, deterministic=True)
    connection.create_function("left_part", 2, _left, deterministic=True)
    connection.create_function("right_part", 2, _right, deterministic=True)
    for place, name in enumerate(("year", "month", "day", "hour", "minute")):
        connection.create_function(name, 1, partial(_date_part, place), deterministic=True)
    connection.create_aggregate("string_agg", 2, _StringAggregate)  # pyright: ignore[reportArgumentType]
    connection.create_aggregate("median", 1, _Median)  # pyright: ignore[reportArgumentType]  # any value will do
    connection.create_aggregate("stddev", 1, _Deviation)  # pyright: ignore[reportArgumentType]


class _StringAggregate:
    """`string_agg(value, separator)`."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._separator = ","

    def step(self, value: Any, separator: Any) -> None:
        """Take one value in; null is left out."""
        if value is not None:
            self._parts.append(_text(value))
            self._separator = _text(separator) if separator is not None else ""

    def finalize(self) -> str | None:
        """The joined text."""
        return self._separator.join(self._parts) if self._parts else None


class _Numbers:
    """The numbers of a group; texts that are no numbers and null are left out."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def step(self, value: Any) -> None:
        """Take one value in."""
        with suppress(TypeError, ValueError):
            self.values.append(float(value))


class _Median(_Numbers):
    """`median(value)`."""

    def finalize(self) -> float | None:
        """The middle one, or the mean of the two in the middle."""
        return statistics.median(self.values) if self.values else None


class _Deviation(_Numbers):
    """`stddev(value)`, of a sample."""

    def finalize(self) -> float | None:
        """The root of the mean square distance from the mean."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None


def add_patterns(connection: sqlite3.Connection) -> None:
    """LIKE and GLOB on the linear engine, for tables with texts so long that SQLite's own take seconds for one."""
    connection.create_function("like", 2, _like, deterministic=True)
    connection.create_function("like", 3, _like, deterministic=True)
    connection.create_function("glob", 2, _glob, deterministic=True)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return f"{value:.15g}" if isinstance(value, float) and not value.is_integer() else str(value)


def _length(value: Any) -> int | None:
    return None if value is None else len(_text(value))


def _either(value: Any, other: Any) -> Any:
    return other if value is None else value


def _if(condition: Any, value: Any, other: Any) -> Any:
    return value if isinstance(condition, int | float) and condition else other


def _left(value: Any, count: Any) -> str | None:
    return None if value is None or not isinstance(count, int) else _text(value)[: max(0, count)]


def _right(value: Any, count: Any) -> str | None:
    return None if value is None or not isinstance(count, int) else _text(value)[-count:] if count > 0 else ""


def _concat(*values: Any) -> str:
    return "".join(_text(value) for value in values if value is not None)


def _moment(value: Any) -> re.Match[str] | None:
    return None if value is None else _MOMENT.match(_text(value))


def _date_part(place: int, value: Any) -> int | None:
    found = _moment(value)
    part = None if found is None else found.groups()[place]
    return None if part is None else int(part)


def _date_trunc(unit: Any, value: Any) -> str | None:
    found = _moment(value)
    if found is None or unit is None:
        return None
    year, month, day, hour, minute = (part or "01" for part in found.groups())
    starts = {
        "year": f"{year}-01-01",
        "month": f"{year}-{month}-01",
        "day": f"{year}-{month}-{day}",
        "hour": f"{year}-{month}-{day} {hour}:00:00",
        "minute": f"{year}-{month}-{day} {hour}:{minute}:00",
    }
    if _text(unit).lower() not in starts:
        raise ValueError("date_trunc takes year, month, day, hour or minute")
    return starts[_text(unit).lower()]


def _from_unixtime(value: Any) -> str | None:
    try:
        return datetime.fromtimestamp(float(value), UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _instr(value: Any, part: Any) -> int | None:
    if value is None or part is None:
        return None
    return _text(value).find(_text(part)) + 1


def _replace(value: Any, old: Any, new: Any) -> Any:
    if value is None or old is None:
        return None
    text, before = _text(value), _text(old)
    if not before:
        return value
    if new is None:
        return None
    after = _text(new)
    if len(after) > len(before) and len(text) + text.count(before) * (len(after) - len(before)) > SQL_CELL_BYTES:
        raise ValueError("the text that replace makes is too long")
    return text.replace(before, after)


def _trimmed(strip: Callable[[str, str], str], value: Any, characters: Any) -> str | None:
    if value is None or characters is None:
        return None
    chars = _text(characters)
    if len(chars) > _CHARACTERS:
        raise ValueError("trim takes at most 200 characters")
    return strip(_text(value), chars) if chars else _text(value)


def _regexp(pattern: Any, value: Any) -> int | None:
    """`value REGEXP pattern`."""
    if pattern is None or value is None:
        return None
    return _found(_compiled(_text(pattern)), _text(value))


def _like(pattern: Any, value: Any, escape: Any = None) -> int | None:
    if pattern is None or value is None:
        return None
    return _found(_compiled(_of_like(_text(pattern), _text(escape) if escape is not None else "")), _text(value))


def _glob(pattern: Any, value: Any) -> int | None:
    if pattern is None or value is None:
        return None
    return _found(_compiled(_of_glob(_text(pattern))), _text(value))


def _found(regex: Any, text: str) -> int:
    if regex.programsize * len(text) > _WORK:
        raise ValueError("the pattern is too complex for so long a text")
    return int(regex.search(text) is not None)


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> Any:
    if len(pattern) > 2 * _PATTERN:
        raise ValueError("the pattern is too long")
    options = _engine.Options()
    options.log_errors = False
    try:
        return _engine.compile(pattern, options)
    except _engine.error as error:
        raise ValueError("not a regex") from error


@lru_cache(maxsize=64)
def _of_like(pattern: str, escape: str) -> str:
    out: list[str] = []
    position = 0
    while position < len(pattern):
        char = pattern[position]
        position += 1
        if char == escape and position < len(pattern):
            char, position = pattern[position], position + 1
            out.append(_either_case(char))
        else:
            out.append(".*" if char == "%" else "." if char == "_" else _either_case(char))
    return f"(?s)\\A{''.join(out)}\\z"


def _either_case(char: str) -> str:
    return f"[{char.lower()}{char.upper()}]" if char.isascii() and char.isalpha() else str(_engine.escape(char))


@lru_cache(maxsize=64)
def _of_glob(pattern: str) -> str:
    out: list[str] = []
    position = 0
    while position < len(pattern):
        char = pattern[position]
        found = _GLOB_CLASS.match(pattern, position) if char == "[" else None
        if found is not None:
            inner = found[2].replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
            out.append(f"[{found[1]}{inner}]")
            position = found.end()
            continue
        out.append(".*" if char == "*" else "." if char == "?" else _engine.escape(char))
        position += 1
    return f"(?s)\\A{''.join(out)}\\z"
