"""What is true of a whole table in a few lines: constants, counts by value, ranges, sums; right or not there at all."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from slimguard.canonical import dump
from slimguard.model import Json
from slimguard.views.cells import cell, short
from slimguard.views.columns import Ranked
from slimguard.views.profile import Column

FEW_VALUES = 12
"""A column of so many distinct values is counted value by value."""
RARE = 3
"""A value of so few rows is told with the rows that hold it."""
_NO_SUM = re.compile(
    r"(?i)(?:^|[._-])(?:id|lat|lon|lng|latitude|longitude|x|y|z|year|month|day|code|port|version|price|rate|ratio|pct|"
    r"percent|temp.*|mag|score|avg|mean|median|min|max|last|p\d\d|quantile|line|number|index|rank|priority|level|timestamp|"
    r"zip|speed|pressure|elevation|depth|width|height|offset|row|col|_parent|_depth)(?:$|[._-])|temperature|Id$|ID$"
)


def constants_line(ranked: Ranked) -> str:
    """`every row: state=open, type=Feature`: what all rows share, links and long texts left out."""
    pairs: list[str] = []
    for column in ranked.constants:
        if column.noise:
            continue
        text = cell(column.values[0], 48)
        if text and column.width <= 64:
            pairs.append(f"{column.name}={text}")
    pairs.sort(key=lambda pair: pair.count("."))
    return f"every row: {', '.join(pairs[:14])}" if pairs else ""


def fact_lines(ranked: Ranked) -> list[str]:
    """One line a column that can be summed up, the most telling column first."""
    lines: list[str] = []
    for column in ranked.columns:
        line = _counts(column, ranked) or _range(column, ranked)
        if line:
            lines.append(line)
    return lines


def row_label(ranked: Ranked, row: int, *, titles: bool = False) -> str:
    """How a row is named to a reader: by its identifier, with its title when asked for."""
    columns = ranked.labels if titles else ranked.labels[:1]
    return " ".join(filter(None, (cell(column.values[row], 60) for column in columns)))


def number_text(value: float | int) -> str:
    """A sum or a bound without noise of floating point."""
    if isinstance(value, int):
        return str(value)
    text = f"{value:.10g}" if abs(value) < 1e12 else dump(value)
    return text


def _counts(column: Column, ranked: Ranked) -> str:
    counts = column.counts
    if counts is None or column.kind == "time" or column.distinct < 2 or ranked.count < 5:
        return ""
    if column.kind == "number" and (column.distinct > 6 or not column.whole or column.distinct * 4 > ranked.count):
        return ""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))
    empty = ranked.count - column.filled
    if column.distinct <= FEW_VALUES and column.distinct * 3 <= ranked.count * 2:
        parts = [_counted(value, count, column, ranked) for value, count in ordered]
        return f"{column.name}: {', '.join(parts)}{f', none {empty:,}' if empty else ''}"
    if column in ranked.labels or column.kind not in ("text", "mixed") or column.width > 60:
        return ""
    if ordered[0][1] < 3 or column.distinct * 10 > ranked.count * 7:
        return ""
    parts = [_counted(value, count, column, ranked) for value, count in ordered[:3]]
    once = [value for value, count in ordered if count == 1]
    rare = f"; once: {', '.join(_counted(value, 1, column, ranked) for value in once)}" if len(once) <= RARE else ""
    none = f", none {empty:,}" if empty else ""
    return f"{column.name}: {column.distinct:,} values, most {', '.join(parts)}{rare if once else ''}{none}"


def _counted(value: Json, count: int, column: Column, ranked: Ranked) -> str:
    text = short(value, 40) if isinstance(value, str) else dump(value)
    text = text or '""'
    if count > RARE or ranked.count <= RARE * 2 or column in ranked.labels:
        return f"{text} {count:,}"
    rows = [place for place, item in enumerate(column.values) if item == value][:RARE]
    labels = ", ".join(row_label(ranked, row, titles=count == 1) for row in rows)
    return f"{text} {count} ({labels})"


def _range(column: Column, ranked: Ranked) -> str:
    if column.low is None or column.high is None or column.distinct < 2:
        return ""
    low, high = column.values[column.low], column.values[column.high]
    if column.kind == "time":
        return f"{column.name}: {cell(low)} … {cell(high)}"
    if column in ranked.labels or _is_sequence(column):
        return f"{column.name}: {cell(low)} … {cell(high)}"
    where = row_label(ranked, column.high, titles=True)
    tied = sum(1 for value in column.values if value == high)
    at = f" (max: {where}{f' and {tied - 1} more' if tied > 1 else ''})" if where else ""
    total = f", sum {number_text(_sum(column))}" if _sums(column) else ""
    empty = ranked.count - column.filled
    return f"{column.name}: {cell(low)} … {cell(high)}{at}{total}{f', none {empty:,}' if empty else ''}"


def _is_sequence(column: Column) -> bool:
    """Whether numbers only count up: identifiers, not measures."""
    if not column.whole or column.distinct < column.filled or column.filled < 8:
        return False
    numbers = [value for value in column.values if value is not None]
    return all(a < b for a, b in zip(numbers, numbers[1:], strict=False)) or all(
        a > b for a, b in zip(numbers, numbers[1:], strict=False)
    )


def _sums(column: Column) -> bool:
    last = column.name.rsplit(".", 1)[-1]
    return not _NO_SUM.search(last) and column.filled > 1


def _sum(column: Column) -> float | int:
    numbers: Sequence[float | int] = [value for value in column.values if value is not None]
    if column.whole:
        return sum(numbers)
    return math.fsum(numbers)
