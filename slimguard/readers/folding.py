"""Text as searches see it: JSON escapes decoded, letters folded, and the way back to offsets of the text itself.

Folding makes upper and lower case, composed and decomposed letters, compatible Greek and full-width forms the same.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache

_ESCAPE = re.compile(r'\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|["\\/bfnrt])')
_SIMPLE = {'\\"': '"', "\\\\": "\\", "\\/": "/", "\\b": "\b", "\\f": "\f", "\\n": "\n", "\\r": "\r", "\\t": "\t"}
_ALIKE = str.maketrans("‘’‚‛“”„‟‐‑‒–—−", "''''\"\"\"\"------")


@dataclass(frozen=True, slots=True)
class Mapped:
    """A text made from another one, with the way back.

    `here` and `there` are ascending offsets of places that correspond; between two places offsets differ by a constant
    from the one on the left.
    """

    text: str = field(repr=False)
    here: array[int] = field(default_factory=lambda: array("Q"), repr=False)
    there: array[int] = field(default_factory=lambda: array("Q"), repr=False)

    def origin(self, offset: int) -> int:
        """The offset in the text that this one was made from."""
        place = bisect_right(self.here, offset) - 1
        return offset if place < 0 else self.there[place] + offset - self.here[place]

    def arrived(self, offset: int) -> int:
        """The offset in this text for one in the text that it was made from."""
        place = bisect_right(self.there, offset) - 1
        return offset if place < 0 else self.here[place] + offset - self.there[place]


def unescaped(text: str) -> Mapped:
    """`text` of JSON with the escapes in its strings decoded."""
    if "\\" not in text:
        return Mapped(text)
    here, there = array("Q"), array("Q")
    parts: list[str] = []
    position = size = 0
    for match in _ESCAPE.finditer(text):
        start, end = match.span()
        escape = match.group()
        char = _SIMPLE.get(escape) or _decoded(escape)
        parts.append(text[position:start])
        parts.append(char)
        size += start - position + len(char)
        position = end
        here.append(size)
        there.append(end)
    parts.append(text[position:])
    return Mapped("".join(parts), here, there)


def _decoded(escape: str) -> str:
    if len(escape) == 6:
        return chr(int(escape[2:6], 16))
    high, low = int(escape[2:6], 16), int(escape[8:], 16)
    return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)


class _Table(dict[int, int]):
    """Folded code point by code point, filled as characters are met; only foldings of one to one."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        single = unicodedata.normalize("NFKC", char)
        folded = single if len(single) == 1 else char
        for change in (str.casefold, str.lower):
            if len(changed := change(folded)) == 1:
                folded = changed
                break
        folded = folded.translate(_ALIKE)
        self[code] = ord(folded)
        return self[code]


_table = _Table()


def fold(text: str) -> str:
    """`text` for comparison, as long as its NFC form."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text).translate(_table)


def folded(text: str) -> Mapped:
    """`text` folded; identical offsets unless it has decomposed characters."""
    if text.isascii():
        return Mapped(text.lower())
    if unicodedata.is_normalized("NFC", text):
        return Mapped(text.translate(_table))
    return _composed(text)


def _composed(text: str) -> Mapped:
    """Compose each cluster of a letter and its marks; only clusters that change their length need a way back."""
    here, there = array("Q"), array("Q")
    parts: list[str] = []
    position = size = 0
    known: dict[str, str] = {}
    for match in _clusters().finditer(text):
        start, end = match.span()
        cluster = match.group()
        composed = known.get(cluster)
        if composed is None:
            composed = known[cluster] = unicodedata.normalize("NFC", cluster)
        parts.append(text[position:start])
        parts.append(composed)
        size += start - position + len(composed)
        position = end
        if len(composed) != len(cluster):
            here.append(size)
            there.append(end)
    parts.append(text[position:])
    return Mapped("".join(parts).translate(_table), here, there)


@cache
def _clusters() -> re.Pattern[str]:
    """A character that composition may change, with what stands before it, or a run of such characters."""
    changing: list[str] = []
    for code in range(0x80, 0x10000):
        char = chr(code)
        if (
            unicodedata.category(char)[0] == "M"
            or 0x1160 <= code <= 0x11FF
            or (not (0xD800 <= code <= 0xDFFF) and not unicodedata.is_normalized("NFC", char))
        ):
            changing.append(char)
    marks = "".join(map(re.escape, changing))
    return re.compile(f"[^{marks}]?[{marks}]+")
