"""The query language of `read_result`: parse and print, one query a line; never looks at a result.

Hints are printed by `print_query`, so that what an answer proposes is what the parser reads (P11).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from slimguard.errors import QueryRejected
from slimguard.policy import QUERY_CHARS, QUERY_LINES

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


_PREFIXES: dict[str, Kind] = {
    "find": "words",
    "search": "words",
    "words": "words",
    "grep": "words",
    "regex": "regex",
    "lines": "lines",
    "line": "lines",
    "items": "items",
    "item": "items",
    "rows": "items",
    "bytes": "bytes",
    "last": "last",
    "tail": "last",
    "first": "first",
    "head": "first",
    "select": "select",
    "jmespath": "select",
    "sql": "sql",
    "outline": "outline",
    "diff": "diff",
    "edit": "edit",
    "edits": "edit",
    "raw": "raw",
}
_PREFIX = re.compile(rf"\s*({'|'.join(_PREFIXES)})\s*:\s*", re.IGNORECASE)
_BLOCK = re.compile(r"\s*block\s*[:\s]\s*(\d{1,6})(?=\s|\Z)\s*", re.IGNORECASE)
_REGEX = re.compile(r"\s*/(.+)/([imsx]*)\s*\Z", re.IGNORECASE | re.DOTALL)
_BARE_SQL = re.compile(r"\s*(select\s.+\sfrom\s|with\s+\S+(\s*\([^)]*\))?\s+as\s*\()", re.IGNORECASE | re.DOTALL)
_RANGE = re.compile(r"(-?\d+)?\s*(-|–|—|\.\.\.?|:|\bto\b)?\s*(-?\d+)?\Z", re.IGNORECASE)
_OF = re.compile(r"\s+(?:of|in|from)\s+", re.IGNORECASE)
_FENCE = re.compile(r"\s*```\w*\s*\Z")
_BARE: dict[str, Kind] = {"outline": "outline", "raw": "raw"}
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”"}
_CONTINUED = ("sql", "select", "edit")


def parse(text: str) -> list[Query]:
    """The queries in `text`, in order; an empty text is one query for the next page.

    A line without a prefix continues a `sql:`, `select:` or `edit:` above it; elsewhere it is words. Raises
    `QueryRejected` with the right spelling for a range that is none and for texts that are too long.
    """
    if len(text) > QUERY_CHARS:
        raise QueryRejected(
            f"the query is longer than {QUERY_CHARS:,} characters", next_call=f"write one of: {GRAMMAR}"
        )
    lines = [line for line in _unquoted(text).split("\n") if line.strip() and not _FENCE.match(line)]
    queries: list[Query] = []
    block: int | None = None
    alone = False
    for line in lines:
        match = _BLOCK.match(line)
        rest = line[match.end() :] if match else line
        if match and not rest:
            block, alone = int(match.group(1)), True
            queries.append(Query("page", block=block))
            continue
        if alone:
            queries.pop()
            alone = False
        here = int(match.group(1)) if match else block
        if queries and queries[-1].kind in _CONTINUED and not match and not _starts_query(line):
            queries[-1] = replace(queries[-1], text=f"{queries[-1].text}\n{line.rstrip()}".strip())
            continue
        queries.extend(replace(query, block=here) for query in _parse_line(rest))
    if len(queries) > QUERY_LINES:
        raise QueryRejected(f"more than {QUERY_LINES} queries at once", next_call="ask them in several reads")
    return queries or [Query("page")]


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
        if query.kind == "words" and place and queries[place - 1].kind in _CONTINUED and not line.startswith("find:"):
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


def _unquoted(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    inner = _inside_quotes(text)
    return text if inner is None or not _starts_query(inner) else inner


def _inside_quotes(text: str) -> str | None:
    closing = _QUOTES.get(text[:1])
    if closing is None or len(text) < 3 or text[-1] != closing:
        return None
    inner = text[1:-1]
    return None if text[0] in inner or closing in inner else inner.strip()


def _starts_query(line: str) -> bool:
    if _PREFIX.match(line) or _BLOCK.match(line) or line.strip().lower() in _BARE:
        return True
    regex = _REGEX.match(line)
    return regex is not None and not line.lstrip().startswith(("/*", "//"))


def _parse_line(line: str) -> tuple[Query, ...]:
    stripped = line.strip()
    match = _PREFIX.match(line)
    if match:
        return _prefixed(_PREFIXES[match.group(1).lower()], match.group(1).lower(), line[match.end() :].strip())
    if stripped.lower() in _BARE:
        return (Query(_BARE[stripped.lower()]),)
    regex = _REGEX.match(line)
    if regex:
        return (Query("regex", regex.group(1), flags=_flags(regex.group(2))),)
    if _BARE_SQL.match(line):
        return (Query("sql", stripped),)
    return (Query("words", stripped),)


def _prefixed(kind: Kind, prefix: str, rest: str) -> tuple[Query, ...]:
    if kind == "words":
        return (Query("words", rest),) if rest else ()
    if kind == "regex":
        regex = _REGEX.match(rest)
        text, flags = (regex.group(1), regex.group(2)) if regex else (rest, "")
        return (_with_text("regex", prefix, text, _flags(flags)),)
    if kind == "edit":
        return (Query(kind, rest),)
    if kind in ("select", "sql", "diff"):
        return (Query(kind, _expression(rest)),)
    if kind == "outline" or (kind == "raw" and not rest):
        return (Query(kind, path=rest if kind == "outline" else ""),)
    if kind == "raw":
        raise QueryRejected("`raw:` takes nothing behind it", next_call="query: raw:, then follow its cursor")
    if kind in ("first", "last"):
        return (_counted(kind, prefix, rest),)
    return _ranges(kind, prefix, rest)


def _with_text(kind: Kind, prefix: str, text: str, flags: str) -> Query:
    if not text:
        raise QueryRejected(f"`{prefix}:` needs something behind it", next_call=f"write one of: {GRAMMAR}")
    return Query(kind, text, flags=flags)


def _expression(rest: str) -> str:
    inner = _inside_quotes(rest)
    return inner if inner is not None and " " in inner else rest


def _counted(kind: Kind, prefix: str, rest: str) -> Query:
    number = rest.removeprefix("-") or "1"
    if not number.isdecimal() or len(number) > 12:
        raise QueryRejected(
            f"`{prefix}:` takes a number, such as {prefix}:20", next_call=f"to search for the words: find:{prefix}: …"
        )
    return Query(kind, last=max(1, int(number)))


def _ranges(kind: Kind, prefix: str, rest: str) -> tuple[Query, ...]:
    of = _OF.search(f" {rest}")
    path = f" {rest}"[of.end() :].strip() if of and kind == "items" else ""
    ranges = (f" {rest}"[: of.start()] if of and kind == "items" else rest).strip().strip("[]()\"'")
    found = [_range(kind, part.strip(), path) for part in (ranges.split(",") if ranges else [""])]
    parsed = tuple(query for query in found if query is not None)
    if len(parsed) < len(found):
        base = "1-based" if kind == "lines" else "0-based"
        raise QueryRejected(
            f"`{prefix}:` takes a range ({base}): {kind}:120-180, {kind}:120- (to the end), {kind}:-20 (the last 20)",
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


def _flags(text: str) -> str:
    return "".join(flag for flag in "imsx" if flag in text.lower())
