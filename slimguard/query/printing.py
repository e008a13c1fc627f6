"""From queries to text that the parser reads back as the same queries; pure."""

from __future__ import annotations

from collections.abc import Sequence

from slimguard.errors import QueryRejected
from slimguard.query.model import CONTINUED, Query
from slimguard.query.parsing import parse


def print_query(query: Query) -> str:
    """The spelling of one query that `parse` reads back; the empty text for a page of the result."""
    block = "" if query.block is None else f"block:{query.block}"
    body = _printed(query)
    return f"{block} {body}" if block and body else block or body


def print_queries(queries: Sequence[Query]) -> str:
    """The spelling of several queries, one a line."""
    lines: list[str] = []
    for place, query in enumerate(queries):
        line = print_query(query)
        if query.kind == "words" and place and queries[place - 1].kind in CONTINUED and not line.startswith("find:"):
            line = f"find:{line}"
        lines.append(line)
    return "\n".join(lines)


def _printed(query: Query) -> str:
    text = query.text
    if query.kind == "page":
        return ""
    if query.kind == "words":
        return f"find:{text}" if _needs_find(text) else text
    if query.kind == "regex":
        return f"/{text}/{query.flags}"
    if query.kind == "outline":
        return f"outline:{query.path}" if query.path else "outline"
    if query.kind == "raw":
        return "raw:"
    if query.kind in ("first", "last"):
        return f"{query.kind}:{query.last}"
    if query.kind in ("lines", "items", "bytes"):
        return f"{query.kind}:{_printed_range(query)}{f' of {query.path}' if query.path else ''}"
    return f"{query.kind}:{text}"


def _printed_range(query: Query) -> str:
    first, last = query.first, query.last
    if first is None and last is not None:
        first = 1 if query.kind == "lines" else 0
    if first is not None and first == last and first >= 0 and query.kind != "bytes":
        return str(first)
    if first is not None and first < 0 and last is None:
        return str(first)
    return f"{'' if first is None else first}-{'' if last is None else last}"


def _needs_find(text: str) -> bool:
    if not text.strip() or "\n" in text or text != text.strip():
        return True
    try:
        return parse(text) != [Query("words", text)]
    except QueryRejected:
        return True
