"""Where the children of a container stand in JSON text, found only as far as they are asked for; never by a guess.

Decoding is what costs: 100,000 small records take a tenth of a second. So the value that was parsed from the text
guides the search. Where the marks between elements (`},{`) are as many as the elements have gaps, they are the gaps:
each gap is such a mark, and no mark can hide a part of another. Else children are decoded one after the other, no
further than needed, and a large one is jumped over when the key after it stands there once only.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import islice
from typing import cast

from slimguard.document.children import Child, after_marks
from slimguard.model import Json, is_array, is_object

_BLANK = " \t\r\n\ufeff"
_scan: Callable[[str, int], tuple[Json, int]] = vars(json.JSONDecoder())["scan_once"]
"""What `raw_decode` calls; it has no stub, and the call between costs a tenth of the time."""
_PLAIN_TYPES = frozenset((int, float, bool, type(None)))
_GAPS = {
    (dict, False): re.compile(r"\}\s*,\s*\{"),
    (list, False): re.compile(r"\]\s*,\s*\["),
    (dict, True): re.compile(r'\}\s*,\s*"'),
    (list, True): re.compile(r'\]\s*,\s*"'),
}
"""What stands between two elements that are all objects or all arrays, in an array and (True) in an object."""
_SCALAR = r'(?:"[^"\\]*(?:\\.[^"\\]*)*"|[-+.\w]+)'
_CONTAINERS = (dict, list)
_ROOT_GAP = re.compile(r"[}\]][\s\ufeff]*[{\[]")
_KEY_GAP = re.compile(r',\s*"(?=[^"\\]*"\s*:)')
_UNSAFE_KEY = re.compile(r'["\\\x00-\x09\x0b-\x1f]|\n[\s:]|\n\n')
"""In keys that are joined by newlines: what is written with an escape, or begins like what may stand behind a key."""
_SMALL = 4_096
"""Containers up to so many characters are decoded at once."""
_LARGE = 64 * 1024
"""What is left of a container above this is worth looking for the next key before its child is decoded."""
_FEW_KEYS = 16
"""In an object of more keys none is looked for: each costs a look through the text."""
_OCCURRENCES = 64
"""So often a key may occur in the text until it is not looked for any more."""


class Children:
    """The children of the container at `start` to `end` of `text`; `rooted` ones stand one after the other without a
    bracket around them. `value` is what was parsed from there, or None when that is not known.

    Used by one thread at a time.
    """

    def __init__(self, text: str, start: int, end: int, value: Json, *, rooted: bool = False) -> None:
        self._text = text
        self._keyed = not rooted and text[start] == "{"
        self._first = after_marks(text, start if rooted else start + 1)
        self._last = _trimmed(text, self._first, end if rooted else end - 1)
        self._starts, self._ends = array("Q"), array("Q")
        self._position = self._first
        self._counted = (self._first, 0)
        known = is_object(value) if self._keyed else is_array(value)
        self._value = value if known and (is_object(value) or is_array(value)) else None
        self._keys: list[str] | None = None
        self._numbers = False
        if self._value is not None and self._last - self._first > _SMALL:
            self._split(rooted=rooted)

    def around(self, offset: int) -> Child | None:
        """The child whose text, its key included, holds the character at `offset`."""
        if self._numbers:
            return self._number_around(offset)
        place = self.place(offset)
        return None if place < 0 else self._child(place)

    def place(self, offset: int) -> int:
        """The index of the child that holds `offset`, -1 for none."""
        if self._numbers:
            child = self._number_around(offset)
            return child.step if child is not None and isinstance(child.step, int) else -1
        while self._position < self._last and self._position <= offset:
            self._grow()
        place = bisect_right(self._starts, offset) - 1
        return place if place >= 0 and offset < self._ends[place] else -1

    def under(self, step: str | int) -> Child | None:
        """The child at an index or under a key; of a key that stands twice in a small object the last."""
        if self._numbers:
            self._numbers = False  # all of them are wanted one by one: decode
        if isinstance(step, int):
            while len(self._starts) <= step and self._position < self._last:
                self._grow()
            return self._child(step) if not self._keyed and 0 <= step < len(self._starts) else None
        if not self._keyed:
            return None
        place = self._place_of(step) if self._last - self._first > _LARGE else -1
        while len(self._starts) <= place and self._position < self._last:
            self._grow()
        if 0 <= place < len(self._starts) and (child := self._child(place)).step == step:
            return child
        for place in range(self.count - 1, -1, -1):
            if (child := self._child(place)).step == step:
                return child
        return None

    @property
    def count(self) -> int:
        """How many children there are; finds them all."""
        if self._numbers and self._value is not None:
            return len(self._value)
        while self._position < self._last:
            self._grow()
        return len(self._starts)

    def below(self, child: Child) -> Json:
        """What was parsed at a child, None when that is not certain: a key that stands twice keeps its last value."""
        value, step = self._value, child.step
        if isinstance(step, int):
            return value[step] if is_array(value) and step < len(value) else None
        if not is_object(value) or (child.end - child.value > _SMALL and self._key_after(step, child.end)):
            return None
        return value.get(step)

    def _child(self, place: int) -> Child:
        start = self._starts[place]
        if not self._keyed:
            return Child(start, start, self._ends[place], place)
        key, position = _scan(self._text, start)
        return Child(start, after_marks(self._text, position), self._ends[place], str(key))

    def _place_of(self, key: str) -> int:
        if not is_object(self._value):
            return -1
        if self._keys is None:
            self._keys = list(self._value)
        return self._keys.index(key) if key in self._value else -1

    # --- one after the other ---

    def _grow(self) -> None:
        """Find the next child."""
        text, start = self._text, self._position
        value = start
        try:
            if self._keyed:
                value = after_marks(text, _scan(text, start)[1])
            end = self._jump(value) if self._last - value > _LARGE else 0
            end = end or _scan(text, value)[1]
        except (StopIteration, ValueError):  # a jump went wrong: a key stands there twice, once with escapes
            self._position = self._last
            return
        self._starts.append(start)
        self._ends.append(end)
        position = end
        if text[position : position + 1] == ",":
            position += 1
        self._position = after_marks(text, position) if text[position : position + 1] in _BLANK + ",:" else position

    def _jump(self, value: int) -> int:
        """Where a large child ends, when that is known without decoding it, else 0."""
        text, guide, place = self._text, self._value, len(self._starts)
        if guide is None or place >= len(guide) or text[value] not in '[{"':
            return 0
        if place == len(guide) - 1 and not self._keyed:
            return self._last
        if not is_object(guide):
            return 0
        if self._keys is None:
            self._keys = list(guide)
        if len(guide) > _FEW_KEYS or self._key_after(self._keys[place], value):
            return 0
        if place == len(guide) - 1:
            return self._last
        following = self._key_after(self._keys[place + 1], value)
        if not following or self._key_after(self._keys[place + 1], following):
            return 0
        return _trimmed(text, value, _trimmed(text, value, following) - 1)

    def _key_after(self, key: str, position: int) -> int:
        """Where `key` stands as a key at or after `position`, at any depth; 0 when it does not."""
        text, written = self._text, json.dumps(key, ensure_ascii=False)
        place = text.find(written, position, self._last)
        for _ in range(_OCCURRENCES):
            if place < 0:
                return 0
            after = place + len(written)
            while text[after] in _BLANK:
                after += 1
            if text[after] == ":":
                return place
            place = text.find(written, after, self._last)
        return max(place, 0)

    # --- all at once ---

    def _split(self, *, rooted: bool) -> None:
        """Find all children by what stands between them, where that is certain."""
        value = self._value
        if value is None or not value:
            return
        elements = value.values() if is_object(value) else value
        kinds: set[type] = set(map(type, elements))
        if not rooted and kinds <= _PLAIN_TYPES and not self._keyed:
            commas = self._text.count(",", self._first, self._last)
            self._numbers = commas == len(value) - 1
            return
        if self._keyed and not kinds & {dict, list}:
            self._split_keys()
            return
        gap = _ROOT_GAP if rooted else _GAPS.get((next(iter(kinds)), self._keyed)) if len(kinds) == 1 else None
        if gap is None:
            return
        if self._cut_at(gap) or self._keyed or rooted or dict not in kinds:
            return
        if self._text.find("\\u00", self._first, self._last) < 0:
            self._split_records([item for item in elements if is_object(item)])

    def _split_records(self, records: Sequence[dict[str, Json]]) -> None:
        """Objects that hold others: a gap is before the key that all begin with, or before their first two keys."""
        first, pattern = {next(iter(item), "") for item in records}, ""
        if len(first) != 1:
            return
        key = first.pop()
        pattern = rf"\}}\s*,\s*\{{(?=\s*{_written(key)}\s*:"
        if self._cut_at(re.compile(f"{pattern})")) or any(item[key].__class__ in _CONTAINERS for item in records):
            return
        second = {next(islice(item, 1, 2), "") for item in records}
        if len(second) == 1:
            self._cut_at(re.compile(rf"{pattern}\s*{_SCALAR}\s*,\s*{_written(second.pop())}\s*:)"))

    def _split_keys(self) -> None:
        """Scalars under keys: a gap is a comma before a string with a colon behind it, when keys are plainly written.

        A string that ends with a comma is the only other place where a quote stands behind one; then the next colon
        would have to begin a key.
        """
        keys = "\n".join(cast("dict[str, Json]", self._value))
        if keys.count("\n") != len(self._value or ()) - 1 or _UNSAFE_KEY.search(f"\n{keys}"):
            return
        if self._text.find("\\u", self._first, self._last) < 0 and self._cut_at(_KEY_GAP, 0):
            for place, end in enumerate(self._ends):
                if self._text[end - 1] in _BLANK:
                    self._ends[place] = _trimmed(self._text, self._first, end)

    def _cut_at(self, gap: re.Pattern[str], own: int = 1) -> bool:
        """Take the matches of `gap` for the gaps when they are as many; `own` of its characters are the element's."""
        starts, ends = array("Q", [self._first]), array("Q")
        wanted = len(self._value or ())
        for match in gap.finditer(self._text, self._first, self._last):
            ends.append(match.start() + own)
            starts.append(match.end() - 1)
            if len(starts) > wanted:
                return False
        if len(starts) != wanted:
            return False
        ends.append(self._last)
        self._starts, self._ends, self._position = starts, ends, self._last
        return True

    def _number_around(self, offset: int) -> Child | None:
        """The number at `offset` of an array of numbers, whose index is the number of commas before it."""
        text = self._text
        if not self._first <= offset < self._last or text[offset] in _BLANK + ",":
            return None
        comma = text.rfind(",", self._first, offset)
        start = after_marks(text, comma if comma >= 0 else self._first)
        end = text.find(",", offset, self._last)
        end = self._last if end < 0 else _trimmed(text, offset, end)
        known, count = self._counted if self._counted[0] <= start else (self._first, 0)
        count += text.count(",", known, start)
        self._counted = (start, count)
        return Child(start, start, end, count) if start <= offset < end else None


def _written(key: str) -> str:
    """A key as JSON writes it, for a pattern."""
    return re.escape(json.dumps(key, ensure_ascii=False))


def _trimmed(text: str, low: int, high: int) -> int:
    """`high`, or where the blanks before it begin, never below `low`."""
    while high > low and text[high - 1] in _BLANK:
        high -= 1
    return high
