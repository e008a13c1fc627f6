"""Where the values of a JSON text stand: spans by path, decoded only along the way; reads, never edits."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field

from slimguard.document import JsonText, Path
from slimguard.document.children import Child, children_at, roots_in

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)


@dataclass(slots=True)
class Spans:
    """Spans in one text whose JSON is known to be valid between `start` and `end`; remembers what it walked.

    `several` says that the text holds several values one after the other, which paths count like an array's.
    """

    text: str
    start: int
    end: int
    several: bool = False
    _children: dict[int, list[Child]] = field(default_factory=lambda: {}, repr=False)

    @classmethod
    def of(cls, text: str, found: JsonText) -> Spans:
        """The spans of the JSON that was found in a text."""
        return cls(text, found.start, found.end, found.form in ("lines", "several"))

    def child(self, path: Path) -> Child | None:
        """The value at `path`, or None; the root has itself as key and value."""
        here = Child(self.start, self.start, self.end, "")
        for depth, step in enumerate(path):
            children = self.children(path[:depth], here)
            if isinstance(step, int):
                here = children[step] if 0 <= step < len(children) and self._is_list(depth, here) else None
            else:
                here = next((child for child in reversed(children) if child.step == step), None)
            if here is None:
                return None
        return here

    def children(self, path: Path, known: Child | None = None) -> list[Child]:
        """The children of the container at `path`, in their order; empty when there is no container."""
        here = known or self.child(path)
        if here is None:
            return []
        roots = self.several and not path
        key = -1 if roots else here.value
        found = self._children.get(key)
        if found is None:
            found = self._walked(here.value, roots=roots)
            self._children[key] = found
        return found

    def _walked(self, start: int, *, roots: bool) -> list[Child]:
        if roots:
            return roots_in(self.text, self.start, self.end)
        return children_at(self.text, start) if self.text[start] in "[{" else []

    def _is_list(self, depth: int, here: Child) -> bool:
        return (self.several and depth == 0) or self.text[here.value] == "["


@dataclass(frozen=True, slots=True)
class Literal:
    """The text inside one JSON string literal, and which of its characters stands where in the literal."""

    text: str
    start: int
    """Offset behind the opening quote."""
    decoded: list[int] = field(repr=False)
    origin: list[int] = field(repr=False)

    @classmethod
    def of(cls, text: str, start: int, end: int) -> Literal:
        """The literal that stands from `start` to `end`, quotes included."""
        inside = text[start + 1 : end - 1]
        if "\\" not in inside:
            return cls(inside, start + 1, [0], [0])
        decoded, origin, shift = [0], [0], 0
        for match in _ESCAPE.finditer(inside):
            # An escape is one character of the text; what follows it is shifted by the rest of its spelling.
            decoded.append(match.start() - shift + 1)
            origin.append(match.end())
            shift += len(match[0]) - 1
        return cls(str(json.loads(text[start:end], strict=False)), start + 1, decoded, origin)

    def offset(self, character: int) -> int:
        """Offset in the whole text of the character `character` of the decoded text."""
        place = bisect_right(self.decoded, character) - 1
        return self.start + self.origin[place] + character - self.decoded[place]


def literals(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The spans of all string literals, keys included, of valid JSON between `start` and `end`."""
    return [match.span() for match in _STRING.finditer(text, start, end)]
