"""Edits of a TOML text that add or remove whole tables and keep every other byte; pure text to text."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from slimguard.install.model import HostFileRefused
from slimguard.jsonc import BYTE_ORDER_MARK, list_of
from slimguard.model import Json

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SPACE = re.compile(r"[ \t]*")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")|\'\'\'.*?\'{3,5}(?!\')|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A table header or a key with its value: the path of keys from the root, and the span of its whole lines."""

    path: tuple[str, ...]
    start: int
    end: int


def read(text: str) -> dict[str, Json]:
    """The value of the text; raises `HostFileRefused` when it is not TOML."""
    try:
        return tomllib.loads(text.removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = re.search(r"\(at (line \d+, column \d+|end of document)\)", str(error))
        raise HostFileRefused(f"it is not valid TOML: {place[1] if place else 'nested too deep'}") from None


def set_table(text: str, path: Sequence[str], value: Mapping[str, Json]) -> str:
    """The text with the table at `path` replaced where it stands, or added at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    table = _table(path, value, newline)
    old = _runs(text, path)
    kept = _cut(text, old)
    if old and text[_blank(text, old[0][0])] == "[":
        start = old[0][0]
        following = kept[start:]
        gap = newline if following and not following.startswith(("\n", "\r\n")) else ""
        return kept[:start] + table + gap + following
    if not kept.strip(BYTE_ORDER_MARK + " \t\r\n"):
        return kept + table
    return kept + ("" if kept.endswith("\n") else newline) + newline + table


def remove_table(text: str, path: Sequence[str]) -> str:
    """The text without the table at `path` and its subtables; comments before and after it stay."""
    return _cut(text, _runs(text, path))


def _runs(text: str, path: Sequence[str]) -> list[tuple[int, int]]:
    """The spans of neighbouring statements at or under `path`, comments between them included."""
    runs: list[tuple[int, int]] = []
    neighbour = False
    for statement in _statements(text):
        inside = statement.path[: len(path)] == tuple(path)
        if inside and neighbour:
            runs[-1] = (runs[-1][0], statement.end)
        elif inside:
            runs.append((statement.start, statement.end))
        neighbour = inside
    return runs


def _cut(text: str, runs: Sequence[tuple[int, int]]) -> str:
    for start, end in reversed(runs):
        before, after = text[:start], text[end:]
        blank = re.match(r"\r?\n", after)
        if blank and (not before or re.search(r"(\A|\n)\r?\n\Z", before)):
            after = after[blank.end() :]
        text = before + after
    return text


def _statements(text: str) -> Iterator[_Statement]:
    """The statements of a text that `tomllib` accepts, in their order; a table's header starts its path."""
    table: tuple[str, ...] = ()
    at = 1 if text.startswith(BYTE_ORDER_MARK) else 0
    while at < len(text):
        start = at
        at = _blank(text, at)
        if at >= len(text) or text[at] in "\r\n#":
            at = _next_line(text, at)
            continue
        if text[at] == "[":
            brackets = 2 if text.startswith("[[", at) else 1
            table, at = _keys(text, at + brackets)
            path = table
        else:
            keys, at = _keys(text, at)
            path = (*table, *keys)
            at = _value_end(text, at + 1)
        at = _next_line(text, at)
        yield _Statement(path, start, at)


def _keys(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """A dotted key and the offset of the `=` or `]` behind it."""
    keys: list[str] = []
    while True:
        at = _blank(text, at)
        match = _QUOTED.match(text, at) or _BARE.match(text, at)
        if match is None:
            raise HostFileRefused("it has a key that cannot be read")
        keys.append(_unquoted(match[0]))
        at = _blank(text, match.end())
        if text[at : at + 1] != ".":
            return tuple(keys), at
        at += 1


def _unquoted(key: str) -> str:
    return next(iter(tomllib.loads(f"{key} = 0")))


def _value_end(text: str, at: int) -> int:
    """The offset behind a value: the end of its line, outside strings and brackets."""
    depth = 0
    while at < len(text):
        char = text[at]
        if char in "\"'":
            match = _STRING.match(text, at)
            at = match.end() if match else at + 1
            continue
        if char == "#":
            at = _line_end(text, at)
            continue
        if char == "\n" and depth == 0:
            return at
        depth += (char in "[{") - (char in "]}")
        at += 1
    return at


def _blank(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _next_line(text: str, at: int) -> int:
    return min(_line_end(text, at) + 1, len(text))


def _table(path: Sequence[str], value: Mapping[str, Json], newline: str) -> str:
    lines = ["[" + ".".join(_key(key) for key in path) + "]"]
    lines += [f"{_key(key)} = {_literal(item)}" for key, item in value.items()]
    return newline.join(lines) + newline


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _literal(value: Json) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_literal(item) for item in list_of(value)) + "]"
    return _string(value) if isinstance(value, str) else json.dumps(value)


def _string(value: str) -> str:
    """A basic string; JSON's escapes are TOML's, but for DEL, which TOML wants escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
