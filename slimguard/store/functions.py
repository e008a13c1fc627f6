"""SQL functions whose time is linear in their texts, in place of SQLite's own that are not; no others are added.

One call of SQLite's `instr` or `replace` with a needle of a megabyte takes minutes, and nothing can interrupt it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
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
_GLOB_CLASS = re.compile(r"\[(\^?)(\]?[^\]]*)\]")


def add_functions(connection: sqlite3.Connection) -> None:
    """`regexp`, and the linear `instr`, `replace` and `trim` with two arguments."""
    connection.create_function("regexp", 2, _regexp, deterministic=True)
    connection.create_function("instr", 2, _instr, deterministic=True)
    connection.create_function("replace", 3, _replace, deterministic=True)
    connection.create_function("trim", 2, partial(_trimmed, str.strip))
    connection.create_function("ltrim", 2, partial(_trimmed, str.lstrip))
    connection.create_function("rtrim", 2, partial(_trimmed, str.rstrip))


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
