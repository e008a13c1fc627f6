"""Where values begin and end in JSON bytes that may be huge, deep or damaged; never decodes, copies or recurses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

Bytes = bytes | bytearray
Skip = Callable[[str, int], int]
"""Given a member's key and the position of its value, the position just after the value; raises `ValueError`."""

_SPACE = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(rb'"((?:[^"\\\x00-\x1f]|\\.)*+)"')
_PRIMITIVE = re.compile(rb"[^\s,:\[\]{}\"]++")
# Each match is bounded to about a megabyte, so that a thread that scans 100 MB lets the others run in between.
_STRING_PART = re.compile(rb"(?:[^\"\\]{1,4096}+|\\.){0,256}+", re.DOTALL)
_SHORT_STRING = rb'"[^"\\]{0,4096}+(?:\\.[^"\\]{0,4096}+){0,64}+"'
_PLAIN = rb'[^"{}\[\]]{1,4096}+'
_LEAF = rb"(?:" + _PLAIN + rb"|" + _SHORT_STRING + rb"){0,64}+"
_LEAVES = rb"(?:" + _PLAIN + rb"|" + _SHORT_STRING + rb"|\{" + _LEAF + rb"\}|\[" + _LEAF + rb"\]){0,64}+"
# What needs no stack: text without brackets, and objects and arrays of at most two levels.
_FLAT_PART = re.compile(
    rb"(?:" + _PLAIN + rb"|" + _SHORT_STRING + rb"|\{" + _LEAVES + rb"\}|\[" + _LEAVES + rb"\]){0,64}+", re.DOTALL
)
_CLOSER = {0x7B: 0x7D, 0x5B: 0x5D}
_QUOTE = 0x22


def after_space(data: Bytes, position: int) -> int:
    """The position of the first byte at or after `position` that is not JSON whitespace."""
    match = _SPACE.match(data, position)
    return match.end() if match else position


def object_end(data: Bytes, start: int, skip: Skip) -> int:
    """Walk the members of the object at `start`, calling `skip` for each value; returns the position after it."""
    position = after_space(data, _expect(data, start, b"{"))
    if data[position : position + 1] == b"}":
        return position + 1
    while True:
        key = _KEY.match(data, position)
        if key is None:
            raise ValueError(f"a key was expected at byte {position}")
        position = _expect(data, after_space(data, key.end()), b":")
        position = after_space(data, skip(_key_text(key[1]), after_space(data, position)))
        if data[position : position + 1] == b"}":
            return position + 1
        position = after_space(data, _expect(data, position, b","))


def element_spans(data: Bytes, start: int) -> list[tuple[int, int]]:
    """The spans of the elements of the array at `start`; tolerates anything inside them that is balanced."""
    spans: list[tuple[int, int]] = []
    position = after_space(data, _expect(data, start, b"["))
    if data[position : position + 1] == b"]":
        return spans
    while True:
        end = value_end(data, position)
        spans.append((position, end))
        position = after_space(data, end)
        if data[position : position + 1] == b"]":
            return spans
        position = after_space(data, _expect(data, position, b","))


def value_end(data: Bytes, start: int) -> int:
    """The position after the value at `start`, by its brackets and quotes alone: any depth, any size, O(n)."""
    first = data[start : start + 1]
    if first == b'"':
        return _string_end(data, start)
    if first in (b"{", b"["):
        return _bracket_end(data, start)
    match = _PRIMITIVE.match(data, start)
    if match is None:
        raise ValueError(f"a value was expected at byte {start}")
    return match.end()


def checked_value_end(data: Bytes) -> Callable[[int], int]:
    """Like `value_end` at the speed of the C scanner, for values that are legal JSON (NaN and Infinity included).

    Its values are dropped while they are read. Raises `RecursionError` on values nested about a thousand deep.
    The bytes are read as Latin-1, so that positions in the text are positions in the bytes.
    """
    text = data.decode("latin-1")

    def end(start: int) -> int:
        try:
            return _scan(text, start)[1]
        except StopIteration as stop:
            raise ValueError(f"a value was expected at byte {stop.value}") from None

    return end


def _drop_pairs(pairs: list[tuple[str, Any]]) -> int:
    """Forget an object's members; a Python function, so that other threads get their turn between objects."""
    return len(pairs)


def _scanner() -> Callable[[str, int], tuple[Any, int]]:
    drop: Any = len
    decoder: Any = json.JSONDecoder(
        object_pairs_hook=_drop_pairs, parse_int=drop, parse_float=drop, parse_constant=drop
    )
    return decoder.scan_once


_scan = _scanner()


def _key_text(raw: bytes) -> str:
    if b"\\" not in raw:
        return raw.decode("latin-1")
    return str(json.loads(b'"' + raw + b'"'))


def _expect(data: Bytes, position: int, token: bytes) -> int:
    if data[position : position + 1] != token:
        raise ValueError(f"'{token.decode()}' was expected at byte {position}")
    return position + 1


def _string_end(data: Bytes, start: int) -> int:
    position = start + 1
    while True:
        match = _STRING_PART.match(data, position)
        end = match.end() if match else position
        if end < len(data) and data[end] == _QUOTE:
            return end + 1
        if end == position:
            raise ValueError(f"the string at byte {start} never ends")
        position = end


def _bracket_end(data: Bytes, start: int) -> int:
    closers = bytearray()
    position, size = start, len(data)
    while position < size:
        byte = data[position]
        if byte in _CLOSER:
            closers.append(_CLOSER[byte])
            position += 1
        elif byte in (0x7D, 0x5D):
            if closers.pop() != byte:
                raise ValueError(f"the bracket at byte {position} closes another one")
            position += 1
            if not closers:
                return position
        elif byte == _QUOTE:
            position = _string_end(data, position)
        match = _FLAT_PART.match(data, position)
        position = match.end() if match else position
    raise ValueError(f"the value at byte {start} never ends")
