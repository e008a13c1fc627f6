"""Edits of a JSON text with comments that change one member and keep every other byte; pure text to text."""

from __future__ import annotations

import json
from collections.abc import Sequence

from slimguard.install.model import HostFileRefused
from slimguard.jsonc import BYTE_ORDER_MARK, JsonSyntaxError, Member, Node, parse, skip, value_of
from slimguard.model import Json


def read(text: str) -> Json:
    """The value of the text, None when it is empty but for white space and comments."""
    if _is_blank(text):
        return None
    return value_of(_root(text))


def set_member(text: str, path: Sequence[str], value: Json) -> str:
    """The text with `value` at `path`; objects on the way are made. Raises `HostFileRefused` when that is unsafe."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if _is_blank(text):
        mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
        rest = text.removeprefix(BYTE_ORDER_MARK)
        kept = rest if rest.strip() else ""
        gap = newline if kept and not kept.endswith("\n") else ""
        return mark + kept + gap + _pretty(_nested(path, value), "", "  ", newline) + newline
    node, depth = _root(text), 0
    unit = _unit(text, node)
    while depth < len(path):
        _expect_object(node, path[:depth])
        member = _only(node, path[: depth + 1])
        if member is None:
            return _insert(text, node, path[depth], _nested(path[depth + 1 :], value), unit=unit, newline=newline)
        node, depth = member.node, depth + 1
    inline = "\n" not in text[node.start : node.end]
    new = (
        json.dumps(value, ensure_ascii=False) if inline else _pretty(value, _indent_of(text, node.start), unit, newline)
    )
    return text[: node.start] + new + text[node.end :]


def remove_member(text: str, path: Sequence[str]) -> str:
    """The text without the member at `path`; its comments stay. Unchanged when there is no such member."""
    parent = _root(text)
    for depth, key in enumerate(path[:-1]):
        member = _only(parent, path[: depth + 1])
        if member is None or member.key != key:
            return text
        parent = member.node
    _expect_object(parent, path[:-1])
    member = _only(parent, path)
    return text if member is None else _without(text, parent, member)


def _without(text: str, parent: Node, member: Member) -> str:
    index = parent.members.index(member)
    start, end = member.start, member.node.end
    after = skip(text, end)
    if text[after : after + 1] == ",":
        if text[end:after].strip():
            text = text[:after] + text[after + 1 :]
        else:
            end = after + 1
    elif index > 0:
        comma = skip(text, parent.members[index - 1].node.end)
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    line = max(text.rfind("\n", 0, start), text.rfind("{", 0, start)) + 1
    stop = _line_end(text, end)
    if not text[line:start].strip() and not text[end:stop].strip() and text[line - 1 : line] == "\n":
        return text[:line] + text[_past_newline(text, stop) :]
    while text[end : end + 1] in (" ", "\t") and text[start - 1 : start] in (" ", "\t", "{"):
        end += 1
    return text[:start] + text[end:]


def _insert(text: str, parent: Node, key: str, value: Json, *, unit: str, newline: str) -> str:
    base = _indent_of(text, parent.start)
    if not parent.members:
        inner = text[parent.start + 1 : parent.end - 1].rstrip()
        member = f"{json.dumps(key, ensure_ascii=False)}: {_pretty(value, base + unit, unit, newline)}"
        body = inner + newline + base + unit + member + newline + base
        return text[: parent.start + 1] + body + text[parent.end - 1 :]
    first, last = parent.members[0], parent.members[-1]
    spread = "\n" in text[parent.start : first.start]
    if not spread:
        inline = f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"
        if parent.comma >= 0:
            return f"{text[: parent.comma + 1]} {inline},{text[parent.comma + 1 :]}"
        return f"{text[: last.node.end]}, {inline}{text[last.node.end :]}"
    indent = _indent_of(text, first.start)
    member = f"{json.dumps(key, ensure_ascii=False)}: {_pretty(value, indent, unit, newline)}"
    trailing = "," if parent.comma >= 0 else ""
    comma = "" if parent.comma >= 0 else ","
    tail = text[last.node.end : parent.end - 1]
    kept = tail.rstrip()
    closing = tail[len(kept) :] if "\n" in tail[len(kept) :] else newline + base
    return (
        text[: last.node.end] + comma + kept + newline + indent + member + trailing + closing + text[parent.end - 1 :]
    )


def _root(text: str) -> Node:
    try:
        root = parse(text)
    except JsonSyntaxError as error:
        raise HostFileRefused(
            f"it is not valid JSON: line {error.line}, column {error.column}: {error.message}"
        ) from None
    _expect_object(root, ())
    return root


def _expect_object(node: Node, path: Sequence[str]) -> None:
    if node.kind != "object":
        place = ".".join(path) if path else "the file"
        raise HostFileRefused(f"{place} is not a JSON object")


def _only(node: Node, path: Sequence[str]) -> Member | None:
    """The one member of the last key of `path`; two of the same name are no safe ground for an edit."""
    found = [member for member in node.members if member.key == path[-1]]
    if len(found) > 1:
        raise HostFileRefused(f"{'.'.join(path)} appears twice")
    return found[0] if found else None


def _nested(path: Sequence[str], value: Json) -> Json:
    for key in reversed(path):
        value = {key: value}
    return value


def _pretty(value: Json, indent: str, unit: str, newline: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return (newline + indent).join(lines)


def _unit(text: str, root: Node) -> str:
    """One step of indentation, as the file has it; two spaces when it has none."""
    for member in root.members:
        if "\n" in text[root.start : member.start]:
            return _indent_of(text, member.start) or "  "
    return "  "


def _indent_of(text: str, offset: int) -> str:
    line = text.rfind("\n", 0, offset) + 1
    end = line
    while text[end : end + 1] in (" ", "\t"):
        end += 1
    return text[line:end]


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1 : end] == "\r" else end


def _past_newline(text: str, offset: int) -> int:
    if text.startswith("\r\n", offset):
        return offset + 2
    return offset + 1 if text.startswith("\n", offset) else offset


def _is_blank(text: str) -> bool:
    start = 1 if text.startswith(BYTE_ORDER_MARK) else 0
    try:
        return skip(text, start) == len(text)
    except JsonSyntaxError:
        return False
