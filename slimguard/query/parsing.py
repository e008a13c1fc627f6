"""From text to queries: forgiving where only one reading is possible, else an error with the right spelling; pure."""

from __future__ import annotations

import re
from dataclasses import replace

from slimguard.errors import QueryRejected
from slimguard.policy import QUERY_CHARS, QUERY_LINES
from slimguard.query.model import CONTINUED, GRAMMAR, Kind, Query
from slimguard.query.ranges import counted, ranged

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
_FENCE = re.compile(r"\s*```\w*\s*\Z")
_BARE: dict[str, Kind] = {"outline": "outline", "raw": "raw"}
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”"}


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
        if queries and queries[-1].kind in CONTINUED and not match and not _starts_query(line):
            queries[-1] = replace(queries[-1], text=f"{queries[-1].text}\n{line.rstrip()}".strip())
            continue
        queries.extend(replace(query, block=here) for query in _parse_line(rest))
    if len(queries) > QUERY_LINES:
        raise QueryRejected(f"more than {QUERY_LINES} queries at once", next_call="ask them in several reads")
    return queries or [Query("page")]


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
        return (counted(kind, prefix, rest),)
    return ranged(kind, prefix, rest)


def _with_text(kind: Kind, prefix: str, text: str, flags: str) -> Query:
    if not text:
        raise QueryRejected(f"`{prefix}:` needs something behind it", next_call=f"write one of: {GRAMMAR}")
    return Query(kind, text, flags=flags)


def _expression(rest: str) -> str:
    inner = _inside_quotes(rest)
    return inner if inner is not None and " " in inner else rest


def _flags(text: str) -> str:
    return "".join(flag for flag in "imsx" if flag in text.lower())
