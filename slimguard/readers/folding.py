"""Text as searches compare it: letters folded, and the way back to offsets of the text itself.

Folding makes upper and lower case, composed and decomposed letters, compatible Greek and full-width forms the same.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

_PART = 256 * 1024
_ALIKE = str.maketrans("‘’‚‛“”„‟‐‑‒–—−", "''''\"\"\"\"------")


@dataclass(frozen=True, slots=True)
class Mapped:
    """A text made from another one, with the way back.

    `here` and `there` are ascending offsets of places that correspond; between two places offsets differ by a constant
    from the one on the left, unless `finer` knows more of what is between them.
    """

    text: str = field(repr=False)
    here: array[int] = field(default_factory=lambda: array("Q"), repr=False)
    there: array[int] = field(default_factory=lambda: array("Q"), repr=False)
    finer: Callable[[int], Mapped] | None = field(default=None, repr=False)
    """The way back between the places at an index and the next, from 0 at the place."""

    def origin(self, offset: int) -> int:
        """The offset in the text that this one was made from."""
        place = bisect_right(self.here, offset) - 1
        if place < 0:
            return offset
        rest = offset - self.here[place]
        return self.there[place] + (self.finer(place).origin(rest) if self.finer else rest)

    def arrived(self, offset: int) -> int:
        """The offset in this text for one in the text that it was made from."""
        place = bisect_right(self.there, offset) - 1
        if place < 0:
            return offset
        rest = offset - self.there[place]
        return self.here[place] + (self.finer(place).arrived(rest) if self.finer else rest)


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
        return Mapped(_translated(text))
    return _composed(text)


def _translated(text: str) -> str:
    """The text translated in parts, between which other threads get their turn."""
    if len(text) <= _PART:
        return text.translate(_table)
    return "".join(text[start : start + _PART].translate(_table) for start in range(0, len(text), _PART))


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
    return Mapped(_translated("".join(parts)), here, there)


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
