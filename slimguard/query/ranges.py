"""The numbers behind `lines:`, `items:`, `bytes:`, `first:` and `last:`, as people and models write them; pure."""

from __future__ import annotations

import re

from slimguard.errors import QueryRejected
from slimguard.query.model import Kind, Query

_RANGE = re.compile(r"(-?\d+)?\s*(-|–|—|\.\.\.?|:|\bto\b)?\s*(-?\d+)?\Z", re.IGNORECASE)
_OF = re.compile(r"\s+(?:of|in|from)\s+", re.IGNORECASE)
_PATH_FIRST = re.compile(
    r"(?P<path>[$@]?\.?(?:[^\W\d]|\")[^:\s]*?)\s*(?::|\s|(?=\[-?\d*\s*(?:-|:|\.\.)))\s*(?P<range>[\[\d,.:\]\s-]+)\Z"
)
"""A path that stands before its range."""


def counted(kind: Kind, prefix: str, rest: str) -> Query:
    """The query of `first:` or `last:`, one when no number is given; raises `QueryRejected` for what is no number."""
    number = rest.removeprefix("-") or "1"
    if not number.isdecimal() or len(number) > 12:
        raise QueryRejected(
            f"`{prefix}:` takes a number, such as {prefix}:20", next_call=f"to search for the words: find:{prefix}: …"
        )
    return Query(kind, last=max(1, int(number)))


def ranged(kind: Kind, prefix: str, rest: str) -> tuple[Query, ...]:
    """The queries of `lines:`, `items:` or `bytes:`, one a range; raises `QueryRejected` with the right spelling."""
    before = _PATH_FIRST.match(rest.strip()) if kind == "items" else None
    if before is not None:  # `items:data.rows:0-9` and `items:data.rows[0-9]` for `items:0-9 of data.rows`
        rest = f"{before['range'].strip('[]')} of {before['path']}"
    of = _OF.search(f" {rest}")
    path = f" {rest}"[of.end() :].strip() if of and kind == "items" else ""
    listed = (f" {rest}"[: of.start()] if of and kind == "items" else rest).strip().strip("[]()\"'")
    found = [_range(kind, part.strip(), path) for part in (listed.split(",") if listed else [""])]
    parsed = tuple(query for query in found if query is not None)
    if len(parsed) < len(found):
        base = "1-based" if kind == "lines" else "0-based"
        raise QueryRejected(
            f"`{prefix}:` takes a range ({base}): {kind}:120-180, {kind}:120- (to the end), {kind}:-20 (the last 20)"
            + (", items:0-9 of data.rows" if kind == "items" else ""),
            next_call=f"to search for the words: find:{prefix}: …",
        )
    return parsed


def _range(kind: Kind, text: str, path: str) -> Query | None:
    """A single number is one line or item; a single negative number counts from the end; bytes:N is an open range."""
    if text.lower() in ("", "all", "*", "-"):
        return Query(kind, path=path)
    match = _RANGE.match(text)
    if match is None or any(len(group or "") > 15 for group in match.groups()):
        return None
    first, separator, last = match.groups()
    if first is None and last is None:
        return None
    if separator is None and last is not None and last.startswith("-") and first is not None:
        separator, last = "-", last[1:]  # `120-180`: the minus was taken for a sign
    start = int(first) if first is not None else None
    end = int(last) if last is not None else None
    if separator is None and start is not None:
        return Query(kind, first=start, last=None if start < 0 or kind == "bytes" else start, path=path)
    if first is None and separator == "-" and end is not None:
        return Query(kind, first=-end, path=path)
    if start is not None and end is not None and end < start and (start < 0) == (end < 0):
        start, end = end, start
    return Query(kind, first=start, last=end, path=path)
