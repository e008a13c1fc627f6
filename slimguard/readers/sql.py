"""`sql:` — a SELECT over the tables of a result; what goes into the engine, a port, and how rows are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from slimguard.canonical import dump
from slimguard.document.tables import Table, tables_of
from slimguard.errors import QueryRejected
from slimguard.frame import read_call
from slimguard.model import Budget, Json
from slimguard.policy import QUERY_SECONDS, SQL_BYTES, SQL_ROWS
from slimguard.ports import TableSet
from slimguard.readers.completeness import aggregate_note
from slimguard.readers.cursor import stale
from slimguard.readers.fitting import fit, less
from slimguard.readers.model import Answer, Request
from slimguard.readers.summaries import clip

Columns = tuple[str, ...]
_WIDE_COLUMNS = 12
_FEW_ROWS = 2
_CELL_CHARS = 400


@dataclass(frozen=True, slots=True)
class LazyRows(Sequence[Sequence[Json]]):
    """The rows of one table of each source, made when they are first asked for; with the ref in front for a set."""

    tables: tuple[tuple[str, Table], ...] = field(repr=False)
    columns: Columns
    with_ref: bool

    def __len__(self) -> int:
        return sum(table.count for _, table in self.tables)

    def __iter__(self) -> Iterator[Sequence[Json]]:
        for ref, table in self.tables:
            if not self.with_ref:
                yield from table.rows
                continue
            places = [table.columns.index(name) if name in table.columns else None for name in self.columns[1:]]
            for row in table.rows:
                yield [ref, *(None if place is None else row[place] for place in places)]

    @overload
    def __getitem__(self, index: int) -> Sequence[Json]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[Json]]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return list(self)[index]


def read_sql(request: Request) -> Answer:
    """Columns, then rows in the order of the query; a fat cell alone is given whole, others are cut and counted."""
    tables = tables_for(request)
    if not tables:
        unparsed = [note for source in request.sources for note in source.document.notes]
        raise QueryRejected(
            f"sql: this result has no tables ({'; '.join(unparsed) or 'no array of records, map, CSV or table text'})",
            next_call=read_call("+".join(source.ref for source in request.sources), "outline"),
        )
    (columns, rows, more), note = _selected(request, tables)
    place = request.position
    if place and place[0] >= len(rows):
        raise stale("", "")
    warning = aggregate_note(request.sources, request.query.text)
    notes = tuple(part for part in (clip(note, 240), warning) if part)
    if len(rows) == 1 and len(columns) == 1:
        return _single(request, columns[0], rows[0][0], notes)
    upright = len(rows) <= _FEW_ROWS and len(columns) > _WIDE_COLUMNS
    heading = "" if upright else " | ".join(columns)
    longest = max(120, min(_CELL_CHARS, request.budget.bytes // max(1, 4 * min(len(columns), 8))))

    def render(row: Sequence[Any]) -> str:
        cells = [_cell(value, longest) for value in row]
        if upright:
            return "\n".join(f"{name}: {cell}" for name, cell in zip(columns, cells, strict=True))
        return " | ".join(cells)

    budget = request.budget
    units: list[Any] = list(rows)
    body_budget = budget if upright else _without(request, heading)
    fitted = fit(units, body_budget, request.context.counter, place, render=render)
    first = place[0] if place else 0
    total = f"{len(rows)}{' or more' if more else ''}"
    shown = f"rows {first + 1}-{max(fitted.end, first + 1)} of {total}" if rows else "0 rows"
    body = "\n".join(part for part in (heading, fitted.body) if part)
    return Answer("sql", shown, body, fitted.position, notes)


def tables_for(request: Request) -> Mapping[str, tuple[Columns, LazyRows]]:
    """The tables by name, the main one first. Of a set, tables of one name and shape are one, with a `_ref` column."""
    several = len(request.sources) > 1
    grouped: dict[str, list[tuple[str, Table]]] = {}
    for source in request.sources:
        for table in tables_of(source.document):
            if request.query.block in (None, table.block):
                grouped.setdefault(table.name, []).append((source.ref, table))
    out: dict[str, tuple[Columns, LazyRows]] = {}
    for name, members in grouped.items():
        columns: dict[str, None] = {}
        for _, table in members:
            columns.update(dict.fromkeys(table.columns))
        named = ("_ref", *columns) if several else tuple(columns)
        out[name] = (named, LazyRows(tuple(members), named, several))
    return out


def _selected(
    request: Request, tables: Mapping[str, tuple[Columns, LazyRows]]
) -> tuple[tuple[Sequence[str], Sequence[Any], bool], str]:
    """Run the query on the tables kept for these refs, which nobody else uses meanwhile; also how it was read."""
    context = request.context
    refs = "+".join(source.ref for source in request.sources)
    digests = "+".join(str(source.call.digest) for source in request.sources)
    key = (refs, digests, "sql", str(request.query.block))
    size = 2 * sum(len(source.document.raw) for source in request.sources)
    kept: TableSet | None = context.cache.take(key)
    opened = kept if kept is not None else context.tables.build(tables)
    try:
        found = opened.select(request.query.text, max_rows=SQL_ROWS, max_bytes=SQL_BYTES, seconds=QUERY_SECONDS)
        return found, opened.note
    except QueryRejected as error:
        call = read_call(refs, error.next_call) if error.next_call.startswith("sql:") else error.next_call
        raise QueryRejected(error.message, next_call=call, detail=error.detail, code=error.code) from error
    finally:
        context.cache.give(key, opened, size)


def _single(request: Request, column: str, value: Any, notes: tuple[str, ...]) -> Answer:
    text = value if isinstance(value, str) else dump(value)
    fitted = fit([text], _without(request, column), request.context.counter, request.position)
    shown = "1 row, 1 column" if not fitted.more else f"part of 1 text of {len(text)} characters"
    return Answer("sql", shown, f"{column}\n{fitted.body}", fitted.position, notes)


def _without(request: Request, heading: str) -> Budget:
    return less(
        request.budget, tokens=request.context.counter.count(heading) + 1, size=len(heading.encode()) + 1, lines=1
    )


def _cell(value: Any, longest: int) -> str:
    if value is None:
        return "null"
    text = value.replace("\r", "\\r").replace("\n", "\\n") if isinstance(value, str) else dump(value)
    return clip(text, longest) if len(text) <= longest else f"{clip(text, longest)}(+{len(text) - longest})"
