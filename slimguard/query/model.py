"""One query as a value, the kinds that there are, and the grammar in a line; pure data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal[
    "page",
    "words",
    "regex",
    "lines",
    "items",
    "bytes",
    "first",
    "last",
    "select",
    "sql",
    "outline",
    "diff",
    "edit",
    "raw",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

CONTINUED: tuple[Kind, ...] = ("sql", "select", "edit")
"""Kinds that a following line without a prefix continues."""

GRAMMAR = (
    "words | find:words | /regex/imsx | lines:120-180 | items:0-9 [of data.rows] | bytes:0-4096 | last:20 | "
    "select:JMESPath | sql:SELECT … | outline | diff:OTHER_REF | edit:[edits] | raw: | block:N [query] | "
    "empty for pages"
)
"""The whole language in a line, for errors and help."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query.

    `text` holds words, pattern, expression, SELECT or ref, as written. `first` and `last` are the ends of a range as
    written: lines 1-based, items and bytes 0-based, both included; None leaves an end open, a negative one counts from
    the end. `path` is the value that `items:` or `outline:` addresses, `block` the block of the result (None: the main
    one).
    """

    kind: Kind
    text: str = ""
    first: int | None = None
    last: int | None = None
    path: str = ""
    flags: str = ""
    block: int | None = None
