"""Values that are sent as a result spelled them: Python's floats would lose digits; never a changed value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from slimguard.model import Json

Path = tuple[str | int, ...]

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_LINE_ENDS = re.compile(r"[\r\n]")


def with_marks(
    params: Mapping[str, Json], spelled: Mapping[Path, str], ref: str
) -> tuple[Mapping[str, Json], dict[str, str]]:
    """`params` with a mark in `arguments` at each path of `spelled`, and the JSON text that stands for each mark.

    A mark holds the execution's unguessable ref, so that nothing in the arguments can look like one.
    """
    if not spelled:
        return params, {}
    arguments: Json = params["arguments"]
    marks: dict[str, str] = {}
    for number, (path, text) in enumerate(spelled.items()):
        mark = f"{ref} spelled {number}"
        marks[mark] = text
        arguments = _put(arguments, path, mark)
    return {**params, "arguments": arguments}, marks


def spelled_out(body: bytes, marks: Mapping[str, str]) -> bytes:
    """The encoded request with each mark replaced; in ASCII and on one line, as all requests are."""
    for mark, text in marks.items():
        # Valid JSON has line ends between values only, and characters beyond ASCII in strings only.
        plain = _LINE_ENDS.sub(" ", _BEYOND_ASCII.sub(lambda match: _escape(match[0]), text))
        body = body.replace(f'"{mark}"'.encode("ascii"), plain.encode("ascii"))
    return body


def _put(tree: Any, path: Path, mark: str) -> Json:
    if not path:
        return mark
    step = path[0]
    if isinstance(tree, dict):
        known = cast("dict[str, Any]", tree)
        return {**known, str(step): _put(known[str(step)], path[1:], mark)}
    items = list(cast("list[Any]", tree))
    place = int(step)
    items[place] = _put(items[place], path[1:], mark)
    return items


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))
