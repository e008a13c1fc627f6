"""JSON text with the escapes in its strings decoded, and the way back; never more exact than somebody asks for.

The text is decoded in pieces by the C code of `json`; where each piece begins is kept, and the places of its single
escapes are only looked for when an offset in it is asked for.
"""

from __future__ import annotations

import json.decoder
import re
from array import array
from collections.abc import Callable

from slimguard.readers.folding import Mapped

_ESCAPE = re.compile(r'\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|["\\/bfnrt])')
_SIMPLE = {'\\"': '"', "\\\\": "\\", "\\/": "/", "\\b": "\b", "\\f": "\f", "\\n": "\n", "\\r": "\r", "\\t": "\t"}
_LOW = re.compile(r"\\u[dD][c-fC-F]")
_HIGH = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_scan_string: Callable[[str, int, bool], tuple[str, int]] = vars(json.decoder)["scanstring"]
"""What `json` decodes strings with; it has no stub."""
_LONGEST = 12
_PIECE = 8 * 1024
_KEPT = 2_000
"""Pieces whose single escapes are remembered."""
_BACKSLASH, _QUOTE, _MARK = "\1", "\2", "\3"
"""Stand for an escaped backslash, an escaped quote and a quote of JSON while a piece is decoded."""


def unescaped(text: str) -> Mapped:
    """`text` of JSON with the escapes in its strings decoded; what is no escape stays as it is."""
    if "\\" not in text:
        return Mapped(text)
    here, there = array("Q"), array("Q")
    parts: list[str] = []
    start = size = 0
    while start < len(text):
        here.append(size)
        there.append(start)
        end = piece_end(text, start, _PIECE)
        parts.append(_decoded(text[start:end]))
        size += len(parts[-1])
        start = end
    kept: dict[int, Mapped] = {}

    def finer(place: int) -> Mapped:
        known = kept.get(place)
        if known is None:
            if len(kept) >= _KEPT:
                kept.clear()
            end = there[place + 1] if place + 1 < len(there) else len(text)
            known = kept[place] = _each(text[there[place] : end])
        return known

    return Mapped("".join(parts), here, there, finer)


def piece_end(text: str, start: int, size: int) -> int:
    """Where a piece of about `size` characters from `start`, which is in no escape, ends: in none either."""
    end = start + size
    place = text.find("\\", end, end + _LONGEST)
    if place < 0:
        return min(len(text), end + _LONGEST)
    run = place - _backslashes(text, start, place)
    if run == start:
        return place + (place - start) % 2
    high = run - 6
    if high <= start or _LOW.match(text, run) is None or _HIGH.match(text, high, run) is None:
        return run
    return high if _backslashes(text, start, high + 1) % 2 else run


def _backslashes(text: str, start: int, end: int) -> int:
    """How many backslashes `text[start:end]` ends with."""
    return end - start - len(text[start:end].rstrip("\\"))


def _decoded(piece: str) -> str:
    if "\\" not in piece:
        return piece
    if "\\u000" in piece or _BACKSLASH in piece or _QUOTE in piece or _MARK in piece:
        return _ESCAPE.sub(_character, piece)
    marked = piece.replace("\\\\", _BACKSLASH).replace('\\"', _QUOTE).replace('"', _MARK)
    if "\\" in marked:
        try:
            marked = _scan_string(marked + '"', 0, False)[0]
        except ValueError:
            return _ESCAPE.sub(_character, piece)
    return marked.replace(_BACKSLASH, "\\").replace(_QUOTE, '"').replace(_MARK, '"')


def _character(match: re.Match[str]) -> str:
    escape = match.group()
    simple = _SIMPLE.get(escape)
    if simple is not None:
        return simple
    if len(escape) == 6:
        return chr(int(escape[2:6], 16))
    high, low = int(escape[2:6], 16), int(escape[8:], 16)
    return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)


def _each(piece: str) -> Mapped:
    """The way back for each escape of a piece; the decoded text is not made again."""
    here, there = array("Q"), array("Q")
    gone = 0
    for match in _ESCAPE.finditer(piece):
        start, end = match.span()
        gone += end - start - 1
        here.append(end - gone)
        there.append(end)
    return Mapped("", here, there)
