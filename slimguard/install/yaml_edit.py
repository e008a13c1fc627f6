"""Edits of a YAML text that add or remove whole entries of one mapping or list and keep every other byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml

from slimguard.install.model import HostFileRefused
from slimguard.jsonc import BYTE_ORDER_MARK
from slimguard.model import Json


def read(text: str) -> Json:
    """The value of the text, None when it is empty; raises `HostFileRefused` when it is not plain YAML."""
    try:
        return yaml.safe_load(text.removeprefix(BYTE_ORDER_MARK))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark: Any = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "it holds a tag or a value of its own"
        raise HostFileRefused(f"it is not valid YAML: {place}") from None


def add_entry(text: str, key: str, name: str, value: Mapping[str, Json], *, listed: bool) -> str:
    """The text with an entry in the mapping (or, when `listed`, the list) at `key`; an old one is replaced."""
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    text = text.removeprefix(BYTE_ORDER_MARK)
    newline = "\r\n" if "\r\n" in text else "\n"
    root = _root(text)
    found = _value_at(root, key)
    if found is None:
        if root is not None and root.flow_style:
            raise HostFileRefused("it is written in flow style; add the entry by hand")
        gap = "" if not text or text.endswith("\n") else newline
        return f"{mark}{text}{gap}{key}:{newline}" + _entry(name, value, "  ", newline, listed=listed)
    filled = isinstance(found, yaml.CollectionNode) and bool(found.value)
    if filled and found.flow_style:
        raise HostFileRefused(f"{key} is written in flow style; add the entry by hand")
    if filled:
        lines = _entry(name, value, " " * found.start_mark.column, newline, listed=listed)
        for start, end in _entries(found, name, text, listed=listed):
            return mark + text[:start] + lines + text[end:]
        return mark + _with_lines(text, _line_end(text, _last_end(found, text)), lines, newline)
    if not isinstance(found, yaml.CollectionNode) and found.value not in ("", "~", "null"):
        raise HostFileRefused(f"{key} is neither a mapping nor a list")
    at = _key_end(root, key)
    if found.end_mark.index > found.start_mark.index:
        text = text[: found.start_mark.index].rstrip(" ") + text[found.end_mark.index :]
    return mark + _with_lines(text, _line_end(text, at), _entry(name, value, "  ", newline, listed=listed), newline)


def remove_entry(text: str, key: str, name: str, *, listed: bool) -> str:
    """The text without one entry of the mapping or list at the top-level `key`."""
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    text = text.removeprefix(BYTE_ORDER_MARK)
    found = _value_at(_root(text), key)
    if not isinstance(found, yaml.CollectionNode):
        return mark + text
    for start, end in _entries(found, name, text, listed=listed):
        if found.flow_style:
            raise HostFileRefused(f"{key} is written in flow style; remove {name} by hand")
        return mark + text[:start] + text[end:]
    return mark + text


def _entries(found: Any, name: str, text: str, *, listed: bool) -> list[tuple[int, int]]:
    """The spans, in whole lines, of the entries of that name."""
    pairs: list[tuple[Any, Any]] = []
    if not listed and isinstance(found, yaml.MappingNode):
        pairs = [(key, value) for key, value in found.value if key.value == name]
    if listed and isinstance(found, yaml.SequenceNode):
        items = [item for item in found.value if isinstance(item, yaml.MappingNode)]
        pairs = [(item, item) for item in items if _is_named(item, name)]
    spans: list[tuple[int, int]] = []
    for first, last in pairs:
        end = _line_end(text, _last_end(last, text))
        end += 2 if text.startswith("\r\n", end) else 1 if text.startswith("\n", end) else 0
        spans.append((text.rfind("\n", 0, first.start_mark.index) + 1, end))
    return spans


def _is_named(item: yaml.MappingNode, name: str) -> bool:
    return any(key.value == "name" and value.value == name for key, value in item.value)


def _root(text: str) -> Any:
    try:
        documents: list[Any] = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError):
        read(text)
        raise HostFileRefused("it is not valid YAML") from None
    if len(documents) > 1:
        raise HostFileRefused("it holds more than one YAML document")
    if not documents or (isinstance(documents[0], yaml.ScalarNode) and documents[0].value == ""):
        return None
    if not isinstance(documents[0], yaml.MappingNode):
        raise HostFileRefused("it is not a YAML mapping")
    return documents[0]


def _value_at(root: Any, key: str) -> Any:
    found = [value for name, value in root.value if name.value == key] if root is not None else []
    if len(found) > 1:
        raise HostFileRefused(f"{key} appears twice")
    return found[0] if found else None


def _entry(name: str, value: Mapping[str, Json], indent: str, newline: str, *, listed: bool) -> str:
    lines: list[str] = []
    if listed:
        members = [f"name: {json.dumps(name)}", *_members(value)]
        lines = [indent + ("- " if index == 0 else "  ") + line for index, line in enumerate(members)]
    else:
        lines = [f"{indent}{name}:", *(f"{indent}  {line}" for line in _members(value))]
    return newline.join(lines) + newline


def _members(value: Mapping[str, Json]) -> list[str]:
    """Lines of a block mapping; strings are double quoted and lists in flow style, both plain JSON."""
    return [f"{key}: {json.dumps(item, ensure_ascii=False)}" for key, item in value.items()]


def _with_lines(text: str, at: int, lines: str, newline: str) -> str:
    if at >= len(text):
        return text + newline + lines
    past = at + (2 if text.startswith("\r\n", at) else 1)
    return text[:past] + lines + text[past:]


def _last_end(node: Any, text: str) -> int:
    """The offset behind the last character of a block node's content (its own end mark lies further on)."""
    while below := _block_children(node):
        node = below[-1]
    return len(text[: node.end_mark.index].rstrip())


def _block_children(node: Any) -> list[Any]:
    """The values of a mapping, or the items of a list, in block style."""
    if not isinstance(node, yaml.CollectionNode) or node.flow_style:
        return []
    children: list[Any] = node.value  # pyright: ignore[reportUnknownMemberType]
    return [child[1] if isinstance(child, tuple) else child for child in children]


def _key_end(root: Any, key: str) -> int:
    return next(int(name.end_mark.index) for name, _ in root.value if name.value == key)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1 : end] == "\r" else end
