"""Rows of a table as lines of cells: all of them when that is cheap, else the first and the last; never reordered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slimguard.document import Table
from slimguard.views.cells import cell
from slimguard.views.columns import Ranked
from slimguard.views.facts import HASH_CHARS, constants_line, fact_lines
from slimguard.views.model import Content, Part
from slimguard.views.profile import Column

MARK = "|"
"""Divides cells: one token in almost every neighbourhood, and no character that JSON escapes."""
ROW_TOKENS = 48
ALL_ROWS_TOKENS = 780
ROWS_AT_MOST = 10
"""Rows of a table that is not shown whole: more of the same tell no more."""
ALL_NAMES_TOKENS = 460
SOME_ROWS_TOKENS = 230
FACT_TOKENS = 380
SLIM_ROWS = 64
"""So many rows are rather shown all with few columns than some with many."""
COLUMNS_SHOWN = 14
TEXT_CHARS = 72
SLIM_CHARS = 56
SHORT_CHARS = 36


def table_parts(table: Table, ranked: Ranked, content: Content, *, rank: int = 2) -> list[Part]:
    """A table as parts: what is true of all rows, counts and ranges, then the rows."""
    parts: list[Part] = []
    constants = constants_line(ranked)
    if constants:
        parts.append(Part((constants,), rank=rank, tokens=content.share(160)))
    chosen, lines, everything = _rows(ranked, content)
    facts = [] if everything and ranked.count <= 5 else fact_lines(ranked, rows_shown=everything)
    if facts:
        parts.append(Part(facts, rank=rank + 1, tokens=content.share(FACT_TOKENS), more=""))
    head = MARK.join(column.name for column in chosen)
    parts.append(Part((head,), rank=rank))
    parts.extend(_row_parts(lines, everything, content, rank))
    hidden = hidden_columns(table, chosen, ranked)
    if hidden:
        parts.append(Part((hidden,), rank=rank + 2, more=""))
    return parts


def hidden_columns(table: Table, chosen: Sequence[Column], ranked: Ranked) -> str:
    """Which columns the rows leave out, by name as far as that is short."""
    shown = {column.name for column in chosen} | {column.name for column in ranked.constants}
    own = [name for name in table.columns[: table.own] if name not in shown and name not in ("_parent", "_depth")]
    own = [name for name in own if not any(column.name.startswith((f"{name}.", f"{name}[")) for column in chosen)]
    noise = set(ranked.dropped)
    told = [name for name in own if name not in noise or name in table.columns[table.own :]][:10]
    if not told:
        return ""
    left = len(own) - len(told)
    return (
        f"columns not shown: {', '.join(told)}{' and ' if told else ''}{f'{left} more' if left else ''}".removesuffix(
            " and "
        )
    )


def _row_parts(lines: Sequence[str], everything: bool, content: Content, rank: int) -> list[Part]:  # noqa: FBT001
    if everything or len(lines) <= 8:
        return [Part(lines, rank=rank + 1, more="… {n} more rows", ends=True, counted=True)]
    room = content.share(SOME_ROWS_TOKENS)
    return [Part(lines, rank=rank, tokens=room, more="… {n} rows between", ends=True, counted=True, most=ROWS_AT_MOST)]


def _rows(ranked: Ranked, content: Content) -> tuple[Sequence[Column], Sequence[str], bool]:
    """Columns, lines and whether all rows fit: many columns for few rows, the label and state columns for more."""
    full = _choose(ranked, content, ROW_TOKENS, ranked.labels)
    lines = _Lines(full, ranked.count, TEXT_CHARS)
    if _fits(lines, content, ALL_ROWS_TOKENS):
        return full, list(lines), True
    for slim, chars in _slim_choices(ranked, content):
        lines = _Lines(slim, ranked.count, chars)
        if _fits(lines, content, ALL_ROWS_TOKENS if len(slim) > 1 else ALL_NAMES_TOKENS):
            return slim, list(lines), True
    lines = _Lines(full, ranked.count, TEXT_CHARS)
    return full, lines, False


def _slim_choices(ranked: Ranked, content: Content) -> Iterator[tuple[Sequence[Column], int]]:
    """Fewer and fewer columns, with which all rows may fit, and the characters of a cell; none when no text names the
    rows.
    """
    title = ranked.title
    if ranked.count > SLIM_ROWS or title is None or title.opaque or title.kind != "text":
        return
    for tokens in (30, 26, 22, 18, 14, 1):
        yield _choose(ranked, content, tokens, ranked.labels, flat=True), SLIM_CHARS
    if len(ranked.labels) > 1:
        yield list(ranked.labels), SHORT_CHARS
        for tokens in (30, 26, 22, 18, 14, 1):
            yield _choose(ranked, content, tokens, (title,), flat=True), SLIM_CHARS


class _Lines(Sequence[str]):
    """The lines of rows, made when they are asked for."""

    def __init__(self, columns: Sequence[Column], count: int, limit: int) -> None:
        self._columns = columns
        self._count = count
        self._limit = limit

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> str:  # type: ignore[override]
        if place < 0:
            place += self._count
        if not 0 <= place < self._count:
            raise IndexError(place)
        return MARK.join(
            cell(column.values[place], HASH_CHARS if column.noise else self._limit) for column in self._columns
        )


def _fits(lines: Sequence[str], content: Content, tokens: int) -> bool:
    if len(lines) > 150:
        return False
    return content.counter.within("\n".join(lines), content.share(tokens))


def _choose(
    ranked: Ranked, content: Content, tokens: int, labels: Sequence[Column], *, flat: bool = False
) -> list[Column]:
    """The best columns whose row stays within `tokens`, labels first, the others in their own order.

    `flat` leaves columns of lists and objects out.
    """
    chosen = list(labels)
    used = sum(_cost(column, content) for column in chosen)
    for column in ranked.columns:
        if column in chosen or len(chosen) >= COLUMNS_SHOWN:
            continue
        cost = _cost(column, content)
        if used + cost > tokens or ranked.scores[column.name] < 0.2 or (flat and column.counts is None):
            continue
        chosen.append(column)
        used += cost
    order = {column.name: place for place, column in enumerate(ranked.columns)}
    order |= {name: place - len(ranked.names) for place, name in enumerate(ranked.names)}
    rest = [column for column in chosen if column not in labels]
    return [*labels, *sorted(rest, key=lambda column: order[column.name])]


def _cost(column: Column, content: Content) -> int:
    filled = [value for value in column.values[:12] if value is not None][:4]
    if not filled:
        return 1
    return 1 + content.tokens(MARK.join(cell(value, TEXT_CHARS) for value in filled)) // len(filled)
