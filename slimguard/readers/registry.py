"""Which reader answers which kind of query."""

from __future__ import annotations

from collections.abc import Callable

from slimguard.query import Kind
from slimguard.readers.diff import read_diff
from slimguard.readers.editing import read_edit
from slimguard.readers.model import Answer, Request
from slimguard.readers.outline import read_outline
from slimguard.readers.pages import read_pages
from slimguard.readers.ranges import read_bytes, read_ends, read_items, read_lines
from slimguard.readers.search import read_regex, read_words
from slimguard.readers.select import read_select
from slimguard.readers.sql import read_sql

Reader = Callable[[Request], Answer]

READERS: dict[Kind, Reader] = {
    "page": read_pages,
    "raw": read_pages,
    "words": read_words,
    "regex": read_regex,
    "select": read_select,
    "sql": read_sql,
    "diff": read_diff,
    "edit": read_edit,
    "outline": read_outline,
    "lines": read_lines,
    "bytes": read_bytes,
    "items": read_items,
    "first": read_ends,
    "last": read_ends,
}

PAGED: frozenset[Kind] = frozenset(("page", "raw", "lines", "bytes", "items", "first", "last"))
"""Kinds whose answers are pages that were asked for, and have the page's budget."""
