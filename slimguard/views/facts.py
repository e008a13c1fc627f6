"""What is true of a whole table in a few lines: constants, counts by value, ranges, sums; right or not there at all."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from slimguard.canonical import dump
from slimguard.model import Json, is_array
from slimguard.views.cells import cell, short
from slimguard.views.columns import Ranked
from slimguard.views.profile import Column

FEW_VALUES = 12
"""A column of so many distinct values is counted value by value."""
RARE = 4
"""A value of so few rows is told with the rows that hold it."""
SPARSE_COLUMNS = 6
MATRIX_COLUMNS = 12
RANGES_BESIDE = 4
"""Ranges of single columns beside that of a whole matrix."""
CONSTANTS = 8
HASH_CHARS = 8
"""So much of a hash is shown that names a row."""
_IDS = re.compile(r"(?i:(?:^|[._])(?:id|uid|uuid|object)|version)$|Id$|ID$")
_FILE_END = re.compile(r"[A-Za-z][A-Za-z0-9]{0,6}\Z")
RARE_MARK = re.compile(r" [1-4] \(|: only ")
"""How a line is recognised that names the rows of a rare value: those tell most, and come first."""
_MESSAGE = re.compile(r"(?i)(?:msg|message|reason|error|summary|title|event|detail|exception)s?$")
_PLACES = re.compile(r"(?:^|[._])(?:x|y|z|_parent|_depth|width|height|top|left|r|g|b|a)$|Bounding|bbox", re.IGNORECASE)
RARE_VALUES = 3
"""Where more values than this are rare, being rare is nothing special."""
_NO_SUM = re.compile(
    r"(?i)version$|(?:^|[._-])(?:id|lat|lon|lng|latitude|longitude|x|y|z|year|month|day|code|port|version|price|rate|ratio|pct|"
    r"percent|temp.*|mag|score|avg|mean|median|min|max|last|p\d\d|quantile|line|number|index|rank|priority|level|timestamp|"
    r"zip|speed|pressure|elevation|depth|width|height|offset|row|col|_parent|_depth)(?:$|[._-])|temperature|Id$|ID$"
)


def constants_line(ranked: Ranked) -> str:
    """`every row: state=open, type=Feature`: what all rows share; links, long texts and details of details left out."""
    pairs: list[tuple[int, str]] = []
    for column in ranked.constants:
        depth = column.name.count(".")
        value = column.values[0]
        if (
            column.noise
            or column.width > 64
            or depth > 2
            or (depth and (_IDS.search(column.name) or value in (False, 0)))
        ):
            continue
        text = cell(value, 48)
        if text:
            pairs.append((depth, f"{column.name}={text}"))
    pairs.sort(key=lambda pair: pair[0])
    return f"every row: {', '.join(text for _, text in pairs[:CONSTANTS])}" if pairs else ""


def fact_lines(ranked: Ranked, *, rows_shown: bool) -> list[str]:
    """One line a column that can be summed up, the most telling column first.

    `rows_shown` says that all rows are shown anyway: a value's rows are then named by identifier only.
    """
    rare: list[str] = []
    sparse: list[tuple[bool, str]] = []
    lines: list[str] = []
    lengths: list[str] = []
    times = 0
    overall = _overall(ranked)
    for column in ranked.columns:
        times += column.kind == "time"
        if column.kind == "time" and (times > 1 or column in ranked.labels[:1]):
            continue
        if line := _sparse(column, ranked):
            sparse.append((column.kind != "text", line))
        elif line := _counts(column, ranked, titles=not rows_shown):
            (rare if RARE_MARK.search(line) else lines).append(line)
        elif line := _lengths(column):
            lengths.append(line)
        elif (not overall or len(lines) < RANGES_BESIDE) and (line := _range(column, ranked, rows_shown=rows_shown)):
            lines.append(line)
    return overall + _few(sparse) + rare + lines + _extensions(ranked) + lengths


def _overall(ranked: Ranked) -> list[str]:
    """The smallest and the largest cell of a table of hardly anything but numbers, such as a matrix."""
    numbers = [column for column in ranked.columns if column.kind == "number" and column.low is not None]
    if len(numbers) < MATRIX_COLUMNS or len(numbers) * 5 < len(ranked.columns) * 4:
        return []
    low = min(numbers, key=lambda column: _number_at(column, column.low))
    high = max(numbers, key=lambda column: _number_at(column, column.high))
    ends = [
        f"{cell(column.values[row])} (row {row}, {column.name})"
        for column, row in ((low, low.low), (high, high.high))
        if row is not None
    ]
    return [f"all {len(numbers)} columns of numbers: {' … '.join(ends)}"]


def _number_at(column: Column, row: int | None) -> float:
    value = column.values[row] if row is not None else 0
    return float(value) if isinstance(value, int | float | str) and value != "" else 0.0


def _few(sparse: list[tuple[bool, str]]) -> list[str]:
    """Columns that few rows fill; where there are many, that is nothing special, and those nearest to a text come."""
    if len(sparse) <= SPARSE_COLUMNS:
        return [line for _, line in sparse]
    ordered = sorted(sparse, key=lambda pair: ("." in pair[1].split(": ", 1)[0], pair[0]))
    own = [line for _, line in ordered[:SPARSE_COLUMNS] if "." not in line.split(": ", 1)[0]]
    return [*own, f"… {len(sparse) - len(own)} more columns that few rows fill"]


def _extensions(ranked: Ranked) -> list[str]:
    """What kinds of files a column of names or paths lists."""
    for column in ranked.labels:
        ends = Counter([value.rpartition(".")[2] for value in column.values if isinstance(value, str) and "." in value])
        found = Counter({end: count for end, count in ends.items() if _FILE_END.match(end)})
        if ranked.count >= 20 and sum(found.values()) * 2 >= ranked.count and 1 < len(found) <= 60:
            listed = ", ".join(f".{name} {count:,}" for name, count in found.most_common(10))
            return [f"{column.name} ends in: {listed}"]
    return []


def row_label(ranked: Ranked, row: int, *, titles: bool = False) -> str:
    """How a row is named to a reader: by its identifier, with its title when asked for."""
    columns = ranked.labels if titles else ranked.labels[:1]
    return " ".join(filter(None, (cell(column.values[row], HASH_CHARS if column.noise else 48) for column in columns)))


def number_text(value: float) -> str:
    """A sum or a bound without noise of floating point."""
    if isinstance(value, int):
        return str(value)
    text = f"{value:.10g}" if abs(value) < 1e12 else dump(value)
    return text if "." in text or "e" in text else f"{text}.0"


def _lengths(column: Column) -> str:
    """How many elements the arrays of a column hold."""
    if column.kind != "array":
        return ""
    sizes = [len(value) for value in column.values if is_array(value)]
    if not sizes or max(sizes) == min(sizes):
        return ""
    return f"{column.name}: {min(sizes):,} … {max(sizes):,} each, {sum(sizes):,} in all"


def _sparse(column: Column, ranked: Ranked) -> str:
    """The values of a column that few rows fill, with those rows."""
    if column.filled > RARE or column.filled * 8 > ranked.count or column.kind in ("object", "array", "series"):
        return ""
    told = [
        f"{cell(value, 90)} ({row_label(ranked, place)})"
        for place, value in enumerate(column.values)
        if value is not None
    ]
    return f"{column.name}: only {', '.join(told)}"


def _counts(column: Column, ranked: Ranked, *, titles: bool) -> str:
    counts = column.counts
    if counts is None or column.kind == "time" or column.distinct < 2 or ranked.count < 5:
        return ""
    if column.name.count(".") and _IDS.search(column.name):
        return ""
    if column.kind == "number" and (column.distinct > 6 or not column.whole or column.distinct * 4 > ranked.count):
        return ""
    if column.distinct > FEW_VALUES and (
        column.kind not in ("text", "mixed") or column.distinct * 10 > ranked.count * 7
    ):
        return ""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
    if ordered[0][1] == 1:
        return ""
    empty = ranked.count - column.filled
    if column.width > 40 and column.distinct > 4:
        ordered_shown = ordered[:3] + [pair for pair in ordered[3:] if pair[1] == 1][:2]
        if ordered[0][1] < 3 or column.width > 200 or not _MESSAGE.search(column.name):
            return ""
        parts = [_counted(value, count, column, ranked, titles=False) for value, count in ordered_shown]
        return f"{column.name}: {column.distinct:,} values: {', '.join(parts)}{f', none {empty:,}' if empty else ''}"
    if column.distinct <= FEW_VALUES and column.distinct * 3 <= ranked.count * 2:
        named = sum(1 for _, count in ordered if count <= RARE) <= RARE_VALUES
        parts = [
            _counted(value, count, column, ranked, titles=titles) if named else f"{_value_text(value, 40)} {count:,}"
            for value, count in ordered
        ]
        return f"{column.name}: {', '.join(parts)}{f', none {empty:,}' if empty else ''}"
    if column in ranked.labels or column.kind not in ("text", "mixed") or column.width > 60:
        return ""
    if ordered[0][1] < 3 or column.distinct * 10 > ranked.count * 7:
        return ""
    parts = [f"{_value_text(value, 40)} {count:,}" for value, count in ordered[:3]]
    once = [value for value, count in ordered if count == 1]
    told = [_counted(value, 1, column, ranked, titles=titles) for value in once[: RARE + 1]]
    rare = f"; once: {', '.join(told)}" if len(once) <= RARE else ""
    none = f", none {empty:,}" if empty else ""
    return f"{column.name}: {column.distinct:,} values, most {', '.join(parts)}{rare if once else ''}{none}"


def _counted(value: Json, count: int, column: Column, ranked: Ranked, *, titles: bool) -> str:
    text = _value_text(value, 40 if count > RARE else 90)
    if count > RARE or ranked.count <= RARE * 2 or column in ranked.labels:
        return f"{text} {count:,}"
    rows = [place for place, item in enumerate(column.values) if item == value and type(item) is type(value)][:RARE]
    labels = ", ".join(row_label(ranked, row, titles=titles) for row in rows)
    return f"{text} {count} ({labels})"


def _value_text(value: Json, limit: int) -> str:
    return (short(value, limit) if isinstance(value, str) else dump(value)) or '""'


def _range(column: Column, ranked: Ranked, *, rows_shown: bool) -> str:
    if column.low is None or column.high is None or column.distinct < 2:
        return ""
    low, high = column.values[column.low], column.values[column.high]
    if column.kind == "time":
        return f"{column.name}: {cell(low)} … {cell(high)}"
    named = column in ranked.labels and len(ranked.columns) > 1
    if named or _is_sequence(column) or _IDS.search(column.name) or _PLACES.search(column.name):
        return ""
    least = _at(column, ranked, column.low, titles=False) if low != 0 and not rows_shown else ""
    most = _at(column, ranked, column.high, titles=not rows_shown)
    total = f", sum {number_text(column.total)}" if column.total is not None and _sums(column) else ""
    empty = ranked.count - column.filled
    return f"{column.name}: {cell(low)}{least} … {cell(high)}{most}{total}{f', none {empty:,}' if empty else ''}"


def _at(column: Column, ranked: Ranked, row: int, *, titles: bool) -> str:
    """` (the row's label)` for a value that one row holds, or the first of a few."""
    value = column.values[row]
    tied = column.counts[value] if column.counts is not None else 1
    where = row_label(ranked, row, titles=titles) if column not in ranked.labels else ""
    if not where or tied > RARE:
        return ""
    return f" ({where}{f' and {tied - 1} more' if tied > 1 else ''})"


def _is_sequence(column: Column) -> bool:
    """Whether numbers only count up: identifiers, not measures."""
    if not column.whole or column.distinct < column.filled or column.filled < 8:
        return False
    numbers = [value for value in column.values if value is not None]
    return all(a < b for a, b in pairwise(numbers)) or all(a > b for a, b in pairwise(numbers))


def _sums(column: Column) -> bool:
    last = column.name.rsplit(".", 1)[-1]
    return not _NO_SUM.search(last) and column.filled > 1
