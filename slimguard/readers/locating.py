"""Where in a JSON text an offset lies: its path and the span of its value; decodes only what it must."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

from slimguard.document import JsonText, Path
from slimguard.document.seeking import Children
from slimguard.model import Json

_decode = json.JSONDecoder().raw_decode
_KEPT = 20_000
"""Containers whose children are remembered."""


class Spot(NamedTuple):
    """An innermost value: its path, the span of its text, and whether the offset was in its key."""

    path: Path
    start: int
    end: int
    in_key: bool


@dataclass(slots=True)
class JsonPlaces:
    """Paths by offset in one JSON text; remembers the children of containers that it has walked. Thread-safe."""

    text: str
    found: JsonText
    _children: dict[int, Children] = field(default_factory=lambda: {}, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def spot(self, offset: int) -> Spot | None:
        """The innermost value around `offset`, or None outside the JSON."""
        if not self.found.start <= offset < self.found.end:
            return None
        with self._lock:
            path: Path = ()
            start, end = self.found.start, self.found.end
            children: Children | None = self._root()
            while children is not None:
                child = children.around(offset)
                if child is None:
                    break
                path = (*path, child.step)
                start, end = child.value, child.end
                if offset < start:
                    return Spot(path, start, end, in_key=True)
                value = children.below(child)
                children = self._inside(start, end, value)
            return Spot(path, start, end, in_key=False)

    def span(self, path: Path) -> tuple[int, int] | None:
        """The span of the value at `path`."""
        with self._lock:
            start, end, value = self.found.start, self.found.end, self.found.value
            for depth, step in enumerate(path):
                children = self._inside(start, end, value) if depth else self._root()
                child = children.under(step) if children is not None else None
                if child is None or children is None:
                    return None
                start, end, value = child.value, child.end, children.below(child)
            return start, end

    def count(self, path: Path) -> int:
        """How many children the container at `path` has; 0 when there is none."""
        with self._lock:
            children = self._at(path)
            return 0 if children is None else children.count

    def place(self, path: Path, offset: int) -> int:
        """The index of the child of the container at `path` that holds `offset`, -1 for none."""
        with self._lock:
            children = self._at(path)
            return -1 if children is None else children.place(offset)

    def _at(self, path: Path) -> Children | None:
        start, end, value = self.found.start, self.found.end, self.found.value
        children: Children | None = self._root()
        for step in path:
            child = children.under(step) if children is not None else None
            if child is None or children is None:
                return None
            start, end, value = child.value, child.end, children.below(child)
            children = self._inside(start, end, value)
        return children

    def _root(self) -> Children:
        found = self.found
        if found.form not in ("lines", "several"):
            return self._inside(found.start, found.end, found.value) or Children("[]", 0, 2, [])
        kept = self._children.get(-1)
        if kept is None:
            kept = self._children[-1] = Children(self.text, found.start, found.end, found.value, rooted=True)
        return kept

    def _inside(self, start: int, end: int, value: Json) -> Children | None:
        if self.text[start] not in "[{":
            return None
        kept = self._children.get(start)
        if kept is None:
            kept = Children(self.text, start, end, value)
            if len(self._children) < _KEPT:
                self._children[start] = kept
        return kept


def decoded_at(text: str, start: int) -> Json:
    """The value whose text starts at `start`."""
    return _decode(text, start)[0]
