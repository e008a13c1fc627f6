"""Where in a JSON text an offset lies: its path and the span of its value; decodes only what it must."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

from slimguard.document import JsonText, Path
from slimguard.document.children import Child, children_at, roots_in
from slimguard.model import Json

_decode = json.JSONDecoder().raw_decode
_KEPT = 50_000


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
            kept = roots_in(self.text, self.found.start, self.found.end)
            self._remember(-1, kept)
        return kept

    def _inside(self, start: int) -> list[Child]:
        kept = self._children.get(start)
        if kept is None:
            kept = children_at(self.text, start) if self.text[start] in "[{" else []
            self._remember(start, kept)
        return kept

    def _remember(self, key: int, children: list[Child]) -> None:
        if self._kept < _KEPT * 4 and len(children) <= _KEPT * 4:
            self._children[key] = children
            self._kept += len(children)


def decoded_at(text: str, start: int) -> Json:
    """The value whose text starts at `start`."""
    return _decode(text, start)[0]
