"""What an edit says and what it does to a text: data only, never the editing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from slimguard.errors import QueryRejected
from slimguard.model import Json

EditKind = Literal["replace", "set", "remove", "insert", "append"]
Side = Literal["before", "after"]

GRAMMAR = (
    '{"replace": "old", "with": "new"[, "all": true]} | {"set": "/a/b or JMESPath", "to": value} | '
    '{"remove": "/a/b or JMESPath"} | {"insert": "text", "before" or "after": "match, line:N or /items/3"} | '
    '{"append": "text"[, "in": "path"]}; "in": "path" keeps replace, insert and append inside that text'
)
"""The whole language in a line, for errors and help."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit.

    `value` is the text to find for `replace`, else what is set, inserted or appended. `path` is a JSON pointer or a
    JMESPath expression: the places of `set` and `remove`, the texts (or arrays) that the others stay inside of; None
    means the whole. `anchor` is a match, `line:N` or the pointer of an array's element.
    """

    kind: EditKind
    value: Json = None
    new: str = ""
    path: str | None = None
    every: bool = False
    anchor: str = ""
    side: Side = "after"


@dataclass(frozen=True, slots=True)
class Splice:
    """Characters `start` to before `end` become `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Step:
    """What one edit did: the text before it, and its splices in order, which never overlap."""

    edit: Edit
    before: str
    splices: tuple[Splice, ...]


def failed(message: str, *, next_call: str = "", detail: str = "") -> QueryRejected:
    """The error of an edit that cannot be made as written; nothing was sent for it."""
    return QueryRejected(message, next_call=next_call, detail=detail, code="edit_failed")
