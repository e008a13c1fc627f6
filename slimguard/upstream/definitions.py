"""Tool definitions out of raw `tools/list` results, one by one, so that a bad one costs only itself; pure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from slimguard import policy
from slimguard.canonical import definition_digest
from slimguard.model import Tool
from slimguard.upstream.spans import after_space, element_spans, object_end, value_end

Refuse = Callable[[Any], str | None]
"""A carrier's own reason to refuse a definition, or None."""


@dataclass(frozen=True, slots=True)
class Page:
    """What one page of a listing gave; `cursor` is None on the last one."""

    tools: tuple[Tool, ...]
    skipped: tuple[str, ...]
    cursor: str | None
    size: int
    """Bytes of the page."""


def read_page(server: str, raw: bytes, refuse: Refuse = lambda _: None) -> Page:
    """The tools of one `tools/list` result; raises `ValueError` when it has no list of tools at all.

    `raw` may also be the whole message, when that could not be read as JSON.
    """
    spans = _members(raw)
    if "tools" not in spans and "result" in spans:
        raw = raw[slice(*spans["result"])]
        spans = _members(raw)
    if "tools" not in spans:
        raise ValueError("the listing has no `tools`")
    tools: list[Tool] = []
    skipped: list[str] = []
    for index, (start, end) in enumerate(element_spans(raw, spans["tools"][0])):
        try:
            tools.append(_tool(server, raw[start:end], refuse))
        except (ValueError, RecursionError) as error:
            skipped.append(f"definition {index}: {error}")
    return Page(tuple(tools), tuple(skipped), _cursor(raw, spans), len(raw))


def take_new(known: dict[str, Tool], tools: tuple[Tool, ...]) -> tuple[int, tuple[str, ...]]:
    """Add the tools whose names are new; returns how many were, and a line for each that was not."""
    before = len(known)
    doubles = [tool.name for tool in tools if known.setdefault(tool.name, tool) is not tool]
    return len(known) - before, tuple(f"{name}: defined twice, the first definition counts" for name in doubles)


def _tool(server: str, raw: bytes, refuse: Refuse) -> Tool:
    if len(raw) > policy.DEFINITION_BYTES:
        raise ValueError(f"{len(raw)} bytes, more than {policy.DEFINITION_BYTES}")
    if _too_deep(raw):
        raise ValueError(f"{_name(raw)}nested deeper than {policy.DEFINITION_DEPTH} levels")
    try:
        definition: Any = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise ValueError(f"{_name(raw)}not valid UTF-8") from None
    except ValueError as error:
        raise ValueError(f"{_name(raw)}not readable: {_plain(error)}") from None
    if not isinstance(definition, dict):
        raise ValueError("not an object")
    definition = cast("dict[str, Any]", definition)
    name = definition.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError("it has no name")
    if not _encodable(name):
        raise ValueError("its name is not valid Unicode")
    if not name.isprintable() or len(name) > policy.TOOL_NAME_CHARS:
        raise ValueError(f"its name has hidden characters or more than {policy.TOOL_NAME_CHARS}")
    if (reason := refuse(definition.get("inputSchema"))) is not None:
        raise ValueError(f"{name}: {reason}")
    return Tool(server, name, definition, definition_digest(definition))


def _members(raw: bytes) -> dict[str, tuple[int, int]]:
    spans: dict[str, tuple[int, int]] = {}

    def keep(key: str, start: int) -> int:
        end = value_end(raw, start)
        spans[key] = (start, end)
        return end

    object_end(raw, after_space(raw, 0), keep)
    return spans


def _cursor(raw: bytes, spans: dict[str, tuple[int, int]]) -> str | None:
    if "nextCursor" not in spans:
        return None
    start, end = spans["nextCursor"]
    try:
        cursor = json.loads(raw[start:end])
    except (ValueError, RecursionError):
        return None
    return cursor if isinstance(cursor, str) else None


def _too_deep(raw: bytes) -> bool:
    if raw.count(b"{") + raw.count(b"[") <= policy.DEFINITION_DEPTH:
        return False
    depth = position = 0
    while position < len(raw):
        byte = raw[position]
        if byte == 0x22:
            position = value_end(raw, position)
            continue
        depth += 1 if byte in b"{[" else -1 if byte in b"}]" else 0
        if depth > policy.DEFINITION_DEPTH:
            return True
        position += 1
    return False


def _name(raw: bytes) -> str:
    """The name of a definition that cannot be read as a whole, as a prefix for a message."""
    try:
        start, end = _members(raw)["name"]
        name = json.loads(raw[start:end])
    except (ValueError, KeyError, RecursionError):
        return ""
    return f"{name}: " if isinstance(name, str) and _encodable(name) else ""


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _plain(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return str(error).split(";", maxsplit=1)[0]
