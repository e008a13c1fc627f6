"""JSON as people write it: with comments, trailing commas and a byte order mark, each value with its place in the text.

It reads; it never edits, never does I/O, and its errors never quote the text (a configuration holds secrets).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

from slimguard.model import Json

Kind = Literal["object", "array", "string", "number", "literal"]

DEPTH_LIMIT = 128
"""Nesting that no configuration of a person reaches; it keeps the recursion bounded."""

NUMBER_CHARS = 400
"""Longer numbers are refused: Python's own limit is 4,300 digits, and no configuration needs them."""

BYTE_ORDER_MARK = "\ufeff"

_PLAIN = r'[^"\\\x00-\x1f]*'
_STRING = re.compile(rf'"{_PLAIN}(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{{4}}){_PLAIN})*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LITERAL = re.compile(r"true|false|null")
_SPACE = re.compile(r"[ \t\r\n]*")
_LITERALS: dict[str, Json] = {"true": True, "false": False, "null": None}


class JsonSyntaxError(ValueError):
    """The text is not JSON with comments; `offset` is where, `message` says what was expected."""

    def __init__(self, message: str, text: str, offset: int) -> None:
        self.message = message
        self.offset = offset
        self.line, self.column = position(text, offset)
        super().__init__(f"line {self.line}, column {self.column}: {message}")


@dataclass(frozen=True, slots=True)
class Node:
    """One value: `start` and `end` are its span in the text, `comma` the offset of a trailing comma, or -1."""

    kind: Kind
    start: int
    end: int
    value: Json = None
    """Of a string, number or literal."""
    members: tuple[Member, ...] = ()
    """Of an object, in their order, duplicates included."""
    items: tuple[Node, ...] = ()
    comma: int = -1

    def member(self, key: str) -> Member | None:
        """The member that a parser sees under `key`: the last one written."""
        for member in reversed(self.members):
            if member.key == key:
                return member
        return None

    def get(self, *path: str) -> Node | None:
        """The value under a path of keys, or None."""
        node: Node | None = self
        for key in path:
            member = node.member(key) if node is not None else None
            node = member.node if member else None
        return node


@dataclass(frozen=True, slots=True)
class Member:
    """One key with its value; `start` is where the key's opening quote stands."""

    key: str
    start: int
    node: Node


def parse(text: str) -> Node:
    """The tree of `text`; raises `JsonSyntaxError` with line and column."""
    at = skip(text, 1 if text.startswith(BYTE_ORDER_MARK) else 0)
    if at == len(text):
        raise JsonSyntaxError("the file is empty; write at least {}", text, at)
    node = _value(text, at, 0)
    end = skip(text, node.end)
    if end != len(text):
        raise JsonSyntaxError("there is more text after the end of the value", text, end)
    return node


def value_of(node: Node) -> Json:
    """The plain JSON value; of duplicate keys the last wins, as in JSON parsers."""
    if node.kind == "object":
        return {member.key: value_of(member.node) for member in node.members}
    if node.kind == "array":
        return [value_of(item) for item in node.items]
    return node.value


def loads(text: str) -> Json:
    """The plain JSON value of a text with comments."""
    return value_of(parse(text))


def object_of(value: Json) -> dict[str, Json]:
    """The value as an object, or an empty one when it is none."""
    return cast("dict[str, Json]", value) if isinstance(value, dict) else {}


def list_of(value: Json) -> list[Json]:
    """The value as a list, or an empty one when it is none."""
    return cast("list[Json]", value) if isinstance(value, list) else []


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of an offset."""
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1


def duplicates(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Member, Member]]:
    """Every key written twice in one object: its path, the first and the later member."""
    seen: dict[str, Member] = {}
    for member in node.members:
        here = (*path, member.key)
        if member.key in seen:
            yield here, seen[member.key], member
        seen.setdefault(member.key, member)
        yield from duplicates(member.node, here)
    for index, item in enumerate(node.items):
        yield from duplicates(item, (*path, str(index)))


def skip(text: str, at: int) -> int:
    """The offset of the next token: after white space and comments."""
    while True:
        space = _SPACE.match(text, at)
        at = space.end() if space else at
        if text.startswith("//", at):
            ends = [end for end in (text.find("\n", at), text.find("\r", at)) if end >= 0]
            at = min(ends, default=len(text))
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            if end < 0:
                raise JsonSyntaxError("this comment is never closed with */", text, at)
            at = end + 2
        else:
            return at


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEPTH_LIMIT:
        raise JsonSyntaxError(f"nested deeper than {DEPTH_LIMIT} levels", text, at)
    char = text[at : at + 1]
    if char == "{":
        return _object(text, at, depth)
    if char == "[":
        return _array(text, at, depth)
    if char == '"':
        end, value = _string(text, at)
        return Node("string", at, end, value)
    if literal := _LITERAL.match(text, at):
        return Node("literal", at, literal.end(), _LITERALS[literal[0]])
    if number := _NUMBER.match(text, at):
        if len(number[0]) > NUMBER_CHARS:
            raise JsonSyntaxError("this number is too long", text, at)
        return Node("number", at, number.end(), json.loads(number[0]))
    raise JsonSyntaxError(_missing(char, "a value"), text, at)


def _object(text: str, start: int, depth: int) -> Node:
    members: list[Member] = []
    at, comma = skip(text, start + 1), -1
    while text[at : at + 1] != "}":
        if text[at : at + 1] != '"':
            raise JsonSyntaxError(_missing(text[at : at + 1], 'a key in double quotes or "}"'), text, at)
        end, key = _string(text, at)
        colon = skip(text, end)
        if text[colon : colon + 1] != ":":
            raise JsonSyntaxError(_missing(text[colon : colon + 1], "a colon after the key"), text, colon)
        node = _value(text, skip(text, colon + 1), depth + 1)
        members.append(Member(key, at, node))
        at, comma = _after(text, node.end, "}")
    return Node("object", start, at + 1, members=tuple(members), comma=comma)


def _array(text: str, start: int, depth: int) -> Node:
    items: list[Node] = []
    at, comma = skip(text, start + 1), -1
    while text[at : at + 1] != "]":
        items.append(_value(text, at, depth + 1))
        at, comma = _after(text, items[-1].end, "]")
    return Node("array", start, at + 1, items=tuple(items), comma=comma)


def _after(text: str, at: int, close: str) -> tuple[int, int]:
    """Where the next member or the closing bracket stands, and the comma before a closing bracket, or -1."""
    at = skip(text, at)
    if text[at : at + 1] == close:
        return at, -1
    if text[at : at + 1] != ",":
        raise JsonSyntaxError(_missing(text[at : at + 1], f'a comma or "{close}"'), text, at)
    following = skip(text, at + 1)
    return following, at if text[following : following + 1] == close else -1


def _string(text: str, at: int) -> tuple[int, str]:
    match = _STRING.match(text, at)
    if match is None:
        raise JsonSyntaxError("this string is not closed, or holds a control character or a wrong escape", text, at)
    token = match[0]
    return match.end(), json.loads(token) if "\\" in token else token[1:-1]


def _missing(found: str, wanted: str) -> str:
    return f"expected {wanted}" if found else f"the file ends where {wanted} is expected"
