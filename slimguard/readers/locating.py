"""Where in a JSON text an offset lies: its path and the span of its value; decodes only what it must."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

from slimguard.document import JsonText, Path
from slimguard.model import Json

_SPACE = re.compile(r"[ \t\r\n,:\ufeff]*")
_decode = json.JSONDecoder().raw_decode
_KEPT = 50_000


class Child(NamedTuple):
    """One value in a container: from `start` (of its key, when it has one) to `end`; its own text starts at `value`."""

    start: int
    value: int
    end: int
    step: str | int


class Spot(NamedTuple):
    """An innermost value: its path, the span of its text, and whether the offset was in its key."""

    path: Path
    start: int
    end: int
    in_key: bool


@dataclass(slots=True)
class JsonPlaces:
    """Paths by offset in one JSON text; remembers the children of containers that it has walked."""

    text: str
    found: JsonText
    _children: dict[int, list[Child]] = field(default_factory=lambda: {}, repr=False)
    _kept: int = 0

    def spot(self, offset: int) -> Spot | None:
        """The innermost value around `offset`, or None outside the JSON."""
        if not self.found.start <= offset < self.found.end:
            return None
        several = self.found.form in ("lines", "several")
        path: Path = ()
        start, end = self.found.start, self.found.end
        children = self._roots() if several else self._inside(start)
        while True:
            place = bisect_right(children, offset, key=lambda child: child.start) - 1
            if place < 0 or offset >= children[place].end:
                return Spot(path, start, end, in_key=False)
            child = children[place]
            path = (*path, child.step)
            start, end = child.value, child.end
            if offset < child.value or self.text[start] not in "[{":
                return Spot(path, start, end, in_key=offset < child.value)
            children = self._inside(start)

    def span(self, path: Path) -> tuple[int, int] | None:
        """The span of the value at `path`."""
        several = self.found.form in ("lines", "several")
        start, end = self.found.start, self.found.end
        for depth, step in enumerate(path):
            children = self._roots() if several and depth == 0 else self._inside(start)
            if isinstance(step, int):
                if not 0 <= step < len(children):
                    return None
                child = children[step]
            else:
                child = next((child for child in reversed(children) if child.step == step), None)
            if child is None:
                return None
            start, end = child.value, child.end
        return start, end

    def children(self, path: Path) -> list[Child]:
        """The children of the container at `path`; empty when there is none."""
        if not path and self.found.form in ("lines", "several"):
            return self._roots()
        span = self.span(path)
        return self._inside(span[0]) if span else []

    def _roots(self) -> list[Child]:
        kept = self._children.get(-1)
        if kept is None:
            kept = list[Child]()
            position = self.found.start
            while position < self.found.end:
                _, end = _decode(self.text, position)
                kept.append(Child(position, position, end, len(kept)))
                position = self._skip(end)
            self._remember(-1, kept)
        return kept

    def _inside(self, start: int) -> list[Child]:
        kept = self._children.get(start)
        if kept is None:
            kept = self._walk(start) if self.text[start] in "[{" else []
            self._remember(start, kept)
        return kept

    def _walk(self, start: int) -> list[Child]:
        text, keyed, children = self.text, self.text[start] == "{", list[Child]()
        position = self._skip(start + 1)
        while text[position] not in "]}":
            begin = position
            step: str | int = len(children)
            if keyed:
                key, position = _decode(text, position)
                step = str(key)
                position = self._skip(position)
            value = position
            position = _decode(text, value)[1]
            children.append(Child(begin, value, position, step))
            position = self._skip(position)
        return children

    def _remember(self, key: int, children: list[Child]) -> None:
        if self._kept < _KEPT * 4 and len(children) <= _KEPT * 4:
            self._children[key] = children
            self._kept += len(children)

    def _skip(self, position: int) -> int:
        match = _SPACE.match(self.text, position)
        return match.end() if match else position


def decoded_at(text: str, start: int) -> Json:
    """The value whose text starts at `start`."""
    return _decode(text, start)[0]
