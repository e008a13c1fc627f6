"""Tables that commands print with blanks between cells (`ps aux`, `ls -l`); found by how their lines agree."""

from __future__ import annotations

import re
from collections.abc import Sequence

from slimguard.model import Json

LEAST = 4
PROBE_LINES = 60
SKIP_LINES = 4
COLUMNS_LEAST = 4
_HEAD = re.compile(r"[A-Z%#][A-Z0-9%#/()_.:-]*\Z")
_ENTRY = re.compile(
    r"([-dlcbpsD][-rwxsStT]{9}[.+@]?)\s+\d+\s+(\S+)\s+(\S+)\s+(\d[\d.,]*[KMGT]?)\s+"
    r"([A-Z][a-z]{2}\s+\d{1,2}\s+[\d:]{4,5}|\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d\S*)?(?: [+-]\d{4})?)\s(.+)\Z"
)
_FOLDER = re.compile(r"(\S.{0,400}):\Z")

Listing = tuple[tuple[str, ...], list[Sequence[Json]], int]
"""Columns, cells column by column, the 1-based line of the first row."""


def listed_columns(text: str) -> Listing | None:
    """The table of a listing, or None."""
    lines = text.split("\n")
    return _entries(lines) or _worded(lines)


def _entries(lines: Sequence[str]) -> Listing | None:
    """Lines of `ls -l`, also of `ls -lR` with the folder they stand under."""
    some = [line for line in lines[:PROBE_LINES] if line.strip()]
    if sum(1 for line in some if _ENTRY.match(line)) * 2 < len(some) or len(some) < LEAST:
        return None
    rows: list[list[Json]] = []
    folder, first = "", 0
    for place, line in enumerate(lines):
        match = _ENTRY.match(line)
        if match is not None:
            first = first or place + 1
            mode, owner, group, size, modified, name = match.groups()
            rows.append([folder, name, size, modified, mode, owner, group])
        elif (heading := _FOLDER.match(line)) is not None:
            folder = heading.group(1)
    if len(rows) < LEAST:
        return None
    names = ("folder", "name", "size", "modified", "mode", "owner", "group")
    cells: list[Sequence[Json]] = list(zip(*rows, strict=True))
    return (names, cells, first) if folder else (names[1:], cells[1:], first)


def _worded(lines: Sequence[str]) -> Listing | None:
    """Lines with as many words as a heading in capitals; the last column takes what is left of a line."""
    for head in range(min(SKIP_LINES, len(lines))):
        names = lines[head].split()
        if len(names) < COLUMNS_LEAST or len(set(names)) < len(names):
            continue
        if sum(1 for name in names if _HEAD.match(name)) * 10 < len(names) * 9:
            continue
        body = [line for line in lines[head + 1 :] if line.strip()]
        rows = [line.split(None, len(names) - 1) for line in body]
        whole = [row for row in rows if len(row) == len(names)]
        if len(rows) < LEAST or len(whole) * 20 < len(rows) * 19 or not _has_numbers(whole):
            continue
        return tuple(names), list(zip(*whole, strict=True)), head + 2
    return None


def _has_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a column besides the last holds numbers only, which prose has not."""
    some = rows[:PROBE_LINES]
    return any(all(row[place].replace(".", "", 1).isdigit() for row in some) for place in range(len(some[0]) - 1))
