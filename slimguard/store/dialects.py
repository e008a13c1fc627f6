"""A SELECT of another dialect, or with names that need quotes, as SQLite takes it; never runs SQL."""

from __future__ import annotations

import re

from slimguard.store.tablenames import Names, Reading, Token, quoted, tokens

_TYPES = {
    "int": "INTEGER", "integer": "INTEGER", "bigint": "INTEGER", "smallint": "INTEGER", "bool": "INTEGER",
    "boolean": "INTEGER", "float": "REAL", "real": "REAL", "double": "REAL", "numeric": "REAL", "decimal": "REAL",
}  # fmt: skip
"""Types behind `::`; any other is a text."""
_SIDE = re.compile(r"\b(left|right)\s*\((?!\s*select\b)", re.IGNORECASE)
_PLAIN = re.compile(r"\w+(?:\.\w+)*\Z")


def translated(sql: str, message: str, names: Names) -> Reading | None:
    """The SELECT with what `message` complains of written as SQLite takes it; None when nothing fits."""
    found = list(tokens(sql))
    if 'near "ilike"' in message.lower():
        word = next((token for token in found if token.kind == "name" and token.text.lower() == "ilike"), None)
        return None if word is None else Reading(f"{sql[: word.start]}LIKE{sql[word.end :]}")
    if 'near "("' in message:
        changed = _SIDE.sub(r"\1_part(", sql)
        return None if changed == sql else Reading(changed)
    if 'unrecognized token: ":"' in message:
        changed = _cast(sql, found)
        return None if changed is None else Reading(changed)
    if message.startswith("no such column") or "syntax error" in message:
        changed = _with_quotes(sql, found, names)
        return None if changed is None else Reading(changed)
    return None


def _cast(sql: str, found: list[Token]) -> str | None:
    """The first `value::type` as `CAST(value AS TYPE)`."""
    for place in range(1, len(found) - 2):
        if found[place].text != ":" or found[place + 1].text != ":" or found[place + 2].kind != "name":
            continue
        start = _value_start(found, place - 1)
        value = sql[found[start].start : found[place].start].rstrip()
        kind = _TYPES.get(found[place + 2].text.lower(), "TEXT")
        return f"{sql[: found[start].start]}CAST({value} AS {kind}){sql[found[place + 2].end :]}"
    return None


def _value_start(found: list[Token], place: int) -> int:
    """The first token of the value that ends at `place`: a name with dots, a text, a call or what is in brackets."""
    if found[place].text == ")":
        depth = 0
        while place > 0:
            depth += (found[place].text == ")") - (found[place].text == "(")
            if depth == 0:
                break
            place -= 1
        if place > 0 and found[place - 1].kind == "name" and found[place - 1].end == found[place].start:
            place -= 1
        return place
    while place > 1 and found[place - 1].text == "." and found[place - 2].name:
        place -= 2
    return place


def _with_quotes(sql: str, found: list[Token], names: Names) -> str | None:
    """Column names that are no plain names, such as `e-mail`, in quotes where they stand without."""
    known = {column for columns in names.columns.values() for column in columns if not _PLAIN.match(column)}
    closed = [(token.start, token.end) for token in found if token.kind in ("text", "quoted")]
    starts = {token.start for token in found}
    for column in sorted(known, key=len, reverse=True):
        for match in re.finditer(rf"{re.escape(column)}(?!\w)", sql, re.IGNORECASE):
            inside = any(start <= match.start() < end for start, end in closed)
            if match.start() in starts and not inside and not sql[: match.start()].endswith("."):
                return f"{sql[: match.start()]}{quoted(column)}{sql[match.end() :]}"
    return None
