"""Tables written as text: CSV, TSV, markdown, boxed and column-aligned; found by their regularity, never forced."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from slimguard.document.listings import listed_columns
from slimguard.document.stanzas import stanza_columns
from slimguard.model import Json

TextTableKind = Literal["csv", "tsv", "markdown", "fixed", "stanzas"]

_PROBE_LINES = 40
_SKIP_LINES = 6
CLOSING_LINES = 3
_RULE_LINE = re.compile(
    r"^[ \t]*(?:[|+][ \t]*:?-[-+|: \t]*|:?--[-: \t]*[|+][-+|: \t]*|:?-[ \t]*\|[-|: \t]*)\r?$", re.MULTILINE
)
"""The line under a header: dashes with bars or crosses between them."""
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,12})?\Z")
_GAP = re.compile(r"\s{2,}|\t")


@dataclass(frozen=True, slots=True)
class TextTable:
    """One table of a text: its header, the cells column by column as they are written, and how many rows there are;
    `first_line` is the 1-based line of its first row.
    """

    kind: TextTableKind
    columns: tuple[str, ...]
    cells: Sequence[Sequence[Json]]
    count: int
    first_line: int


def typed_rows(table: TextTable) -> list[list[Json]]:
    """The rows with numbers as numbers where every filled cell of a column spells one plainly; empty cells there are
    None.
    """
    return [list(row) for row in zip(*(typed_column(column) for column in table.cells), strict=True)]


def typed_column(cells: Sequence[Json]) -> Sequence[Json]:
    """A column's cells as numbers when they all are, else as they are."""
    distinct = set(cells)
    if not is_numeric(distinct):
        return cells
    known = {cell: number(cell) for cell in distinct}
    return [known[cell] for cell in cells]


def text_tables(text: str) -> Iterator[TextTable]:
    """The tables of a text: the whole text as CSV or TSV, or each markdown, boxed or aligned table in it."""
    delimited = delimited_table(text)
    if delimited is not None:
        yield delimited
        return
    found = list(_ruled_tables(text))
    if found:
        yield from found
        return
    aligned = aligned_table(text)
    if aligned is not None:
        yield aligned
        return
    kind: TextTableKind = "fixed"
    columned = listed_columns(text)
    if columned is None:
        kind, columned = "stanzas", stanza_columns(text)
    if columned is not None:
        columns, cells, line = columned
        yield TextTable(kind, columns, cells, len(cells[0]), line)


_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:|\b\d{2}:\d{2}:\d{2}\b")
_HEADING_WORDS = 5
"""A heading of a column has at most this many words."""


def delimited_table(text: str) -> TextTable | None:
    """The CSV or TSV table that a text is, after at most a few heading lines; None when its lines do not agree."""
    position, skipped = 0, 0
    while skipped < _SKIP_LINES and position < len(text):
        for mark in ("\t", ",", ";"):
            table = _delimited(text, position, mark, skipped)
            if table is not None:
                return table
        position = text.find("\n", position) + 1
        if position == 0:
            return None
        skipped += 1
    return None


def _delimited(text: str, start: int, mark: str, skipped: int) -> TextTable | None:
    end = text.find("\n", start)
    head = text[start : end if end >= 0 else len(text)]
    if end < 0 or head.count(mark) < 1 or len(head) > 4_000 or head.lstrip()[:1] in ("{", "[", "<", "|"):
        return None
    stop = start
    for _ in range(_PROBE_LINES):
        position = text.find("\n", stop) + 1
        stop = position or len(text)
        if not position:
            break
    probe = _parse(text[start:stop], mark)
    if probe is None or len(probe) < 3:
        return None
    header = [cell.strip() for cell in probe[0]]
    width = len(header)
    if not _is_header(header) or width < 2:
        return None
    body = [row for row in probe[1:] if row]
    if _is_data(probe[0], body):
        return None
    agreeing = sum(1 for row in body if len(row) == width)
    if agreeing < 2 or agreeing * 10 < len(body) * 9 or (width == 2 and mark != "\t" and _is_prose(body)):
        return None
    kind: TextTableKind = "tsv" if mark == "\t" else "csv"
    plain = _plain_columns(text, start, mark, width)
    if plain is not None:
        count = len(plain[0])
        return TextTable(kind, _unique(header), plain, count, skipped + 2)
    rows = _parse(text[start:], mark)
    if rows is None:
        return None
    cells = _cut_tail(rows[1:], width)
    return TextTable(kind, _unique(header), by_column(cells, width), len(cells), skipped + 2)


def _plain_columns(text: str, start: int, mark: str, width: int) -> list[Sequence[str]] | None:
    """The columns of a table without quotes whose lines all have `width` cells, without a list for each row."""
    if text.find('"', start) >= 0 or "\r" in text:
        return None
    body = text[text.index("\n", start) + 1 :].rstrip("\n")
    lines = body.split("\n")
    if not body or any(line.count(mark) != width - 1 for line in lines):
        return None
    flat = body.replace("\n", mark).split(mark)
    return [flat[place::width] for place in range(width)]


def by_column(rows: Sequence[Sequence[str]], width: int) -> list[Sequence[str]]:
    """Rows of cells column by column; missing cells are empty, those too many are left out."""
    if not rows:
        return [()] * width
    if all(len(row) == width for row in rows):
        return list(zip(*rows, strict=True))
    return list(zip(*([*row[:width], *[""] * (width - len(row))] for row in rows), strict=True))


def _parse(text: str, mark: str) -> list[list[str]] | None:
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=mark))
    except (csv.Error, ValueError):
        return None


def _cut_tail(rows: list[list[str]], width: int) -> list[list[str]]:
    """Rows without blank lines, and without closing remarks such as `(30 rows)`."""
    cells = [row for row in rows if row]
    for _ in range(CLOSING_LINES):
        if not cells or len(cells[-1]) == width or width < 2 or len(cells[-1]) != 1:
            break
        cells.pop()
    return cells


def _is_header(cells: Sequence[str]) -> bool:
    if any(not cell or len(cell) > 80 or _NUMBER.match(cell) for cell in cells[1:]) or len(set(cells)) != len(cells):
        return False
    return not any(cell.endswith((".", "!", "?")) and " " in cell for cell in cells)


def _is_data(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether a first row is one more row, as in a log or in prose with commas, and no header over the others."""
    if any(_MOMENT.search(cell) or len(cell.split()) > _HEADING_WORDS for cell in first):
        return True
    repeated = (sum(1 for row in body if place < len(row) and row[place] == cell) for place, cell in enumerate(first))
    return any(count * 4 > len(body) for count in repeated)


def _is_prose(rows: Sequence[Sequence[str]]) -> bool:
    return sum(1 for row in rows if any(len(cell.split()) > 6 for cell in row)) * 3 > len(rows)


def _ruled_tables(text: str) -> Iterator[TextTable]:
    """Tables whose header is underlined: markdown, psql, MySQL boxes."""
    first = _RULE_LINE.search(text) if "|" in text else None
    if first is None:
        return
    skipped = text.count("\n", 0, first.start())
    lines = text.split("\n")
    place = max(1, skipped)
    while place < len(lines):
        if not _RULE_LINE.match(lines[place]):
            place += 1
            continue
        table, place = _ruled(lines, place)
        if table is not None:
            yield table


def _ruled(lines: list[str], rule: int) -> tuple[TextTable | None, int]:
    head = rule - 1
    header = split_cells(lines[head])
    if len(header) < 2 or not any(header) or "|" not in lines[head]:
        return None, rule + 1
    cells: list[list[str]] = []
    place = rule + 1
    width = len(header)
    while place < len(lines) and "|" in lines[place]:
        row = split_cells(lines[place])
        if abs(len(row) - width) > max(1, width // 3):
            break
        cells.append(row[:width] + [""] * (width - len(row)))
        place += 1
    if not cells:
        return None, place
    kind: TextTableKind = "markdown" if "|" in lines[rule] else "fixed"
    return TextTable(kind, _unique(header), by_column(cells, width), len(cells), rule + 2), place


def split_cells(line: str) -> list[str]:
    r"""The cells of one `| a | b |` line; `\|` does not divide."""
    inner = line.strip().removeprefix("|").removesuffix("|")
    if "\\|" not in inner:
        return [cell.strip() for cell in inner.split("|")]
    return [cell.replace("\0", "|").strip() for cell in inner.replace("\\|", "\0").split("|")]


def aligned_table(text: str) -> TextTable | None:
    """A table whose columns start below their headings, as `kubectl get` and `docker ps` print them."""
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    for head in range(min(_SKIP_LINES, len(lines))):
        if len(lines) - head < 4:
            return None
        names = [name for name in _GAP.split(lines[head].strip()) if name]
        if len(names) < 3 or not _looks_like_headings(names):
            continue
        starts = _starts(lines[head], names)
        body = [line for line in lines[head + 1 :] if line.strip()]
        if not _aligned(body, starts):
            continue
        cells = [_slices(line, starts) for line in body]
        columns = by_column(cells, len(names))
        return TextTable("fixed", _unique(names), columns, len(cells), head + 2)
    return None


def _looks_like_headings(names: Sequence[str]) -> bool:
    upper = sum(1 for name in names if name.upper() == name and any(char.isalpha() for char in name))
    return upper * 10 >= len(names) * 7 and all(len(name) <= 40 for name in names)


def _starts(line: str, names: Sequence[str]) -> list[int]:
    starts: list[int] = []
    position = 0
    for name in names:
        position = line.index(name, position)
        starts.append(position)
        position += len(name)
    return starts


def _aligned(body: Sequence[str], starts: Sequence[int]) -> bool:
    probe = body[:_PROBE_LINES]
    if len(probe) < 3:
        return False
    good = 0
    for line in probe:
        fits = all(line[start - 1 : start] in (" ", "\t", "") for start in starts[1:])
        good += fits and len(line) > starts[1]
    return good * 10 >= len(probe) * 9


def _slices(line: str, starts: Sequence[int]) -> list[str]:
    ends = [*starts[1:], len(line)]
    return [line[start : max(start, end)].strip() for start, end in zip(starts, ends, strict=True)]


def is_numeric(cells: Iterable[Json]) -> bool:
    """Whether every filled cell spells a number plainly, and at least one does."""
    seen = False
    for cell in cells:
        if cell is None:
            continue
        if not isinstance(cell, str):
            return False
        stripped = cell.strip()
        if not stripped:
            continue
        if not _NUMBER.match(stripped):
            return False
        seen = True
    return seen


def number(cell: Json) -> Json:
    """The number that a cell spells; None for an empty one."""
    stripped = cell.strip() if isinstance(cell, str) else ""
    if not stripped:
        return None
    return float(stripped) if "." in stripped else int(stripped)


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    result: list[str] = []
    for place, name in enumerate(names):
        base = name.strip().strip("\ufeff") or f"column{place + 1}"
        seen[base] = seen.get(base, 0) + 1
        result.append(base if seen[base] == 1 else f"{base}_{seen[base]}")
    return tuple(result)
