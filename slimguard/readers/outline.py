"""The outline of a result: shape, keys with types and counts, ranges, tables, sizes, levels of a log, headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from slimguard.canonical import dump
from slimguard.document import MISSING, Block, Path, format_path, parse_path, value_at
from slimguard.document.continuation import continuation_of
from slimguard.document.tables import Table, tables_of
from slimguard.errors import QueryRejected
from slimguard.frame import read_call, size_text, token_text
from slimguard.model import Json, is_array, is_object
from slimguard.policy import OUTLINE_TOKENS
from slimguard.readers.cursor import stale
from slimguard.readers.fitting import capped, fit, printable
from slimguard.readers.model import Answer, Request, Source
from slimguard.readers.pages import block_of
from slimguard.readers.rawoutline import raw_lines
from slimguard.readers.summaries import clip, kind_of, summary
from slimguard.readers.textoutline import text_lines

_KEYS = 40
_TABLES_DETAILED = 4
_COLUMNS_NAMED = 40
_URL = re.compile(r"https?://|/api/")


def read_outline(request: Request) -> Answer:
    """The outline, budgeted and continuable, tables named with their columns as `sql:` takes them."""
    lines: list[str] = []
    for source in request.sources:
        if len(request.sources) > 1:
            lines.append(f"{source.ref}: {source.call.server}/{source.call.tool}")
        lines.extend(_source_lines(request, source))
    place = request.position
    if place and place[0] >= len(lines):
        raise stale("", "")
    budget = request.budget if place else capped(request.budget, OUTLINE_TOKENS)
    longest = min(request.budget.line_chars or 2_000, 2_000)
    fitted = fit([printable(clip(line, longest)) for line in lines], budget, request.context.counter, place)
    first = place[0] if place else 0
    shown = f"{first + 1}-{max(fitted.end, first + 1)} of {len(lines)} lines" if fitted.more or first else "all of it"
    return Answer("outline", shown, fitted.body, fitted.position, source_notes(request))


def source_notes(request: Request) -> tuple[str, ...]:
    """What a reader must know of how the documents were made."""
    return tuple(note for source in request.sources for note in source.document.notes)


def tables_line(tables: tuple[Table, ...]) -> str:
    """`tables: NAME(columns), …`, the main table first."""
    return "tables: " + ", ".join(f"{table.name}({columns_text(table.columns)})" for table in tables)


def columns_text(columns: tuple[str, ...], most: int = _COLUMNS_NAMED) -> str:
    """Column names with commas, the first `most` of them."""
    return ", ".join(columns[:most]) + (f", … {len(columns)} columns" if len(columns) > most else "")


def _source_lines(request: Request, source: Source) -> Iterator[str]:
    document = source.document
    chosen = request.query.block
    blocks = document.blocks if chosen is None else (block_of(source, chosen),)
    path = _path(request, source)
    tables = tuple(
        table for table in tables_of(document) if chosen in (None, table.block) and table.path[: len(path)] == path
    )
    if document.is_error:
        yield "isError: true"
    if tables:
        yield tables_line(tables)
    if not path and (going_on := continuation_of(document)):
        yield f"upstream says: {', '.join(going_on)}"
    for block in blocks:
        yield _heading(request, block, single=len(document.blocks) == 1)
        if block.json is not None:
            covered = {table.path for table in tables if table.block == block.index}
            value = value_at(block.json.value, path)
            if value is not MISSING:
                yield from _structure(value, path, covered, 0)
        elif block.text:
            yield from raw_lines(block.text) if block.type == "raw" else text_lines(block.text)
        for table in [table for table in tables if table.block == block.index][:_TABLES_DETAILED]:
            yield from _columns(table)
    if not blocks:
        yield "no content"


def _path(request: Request, source: Source) -> Path:
    """The path that `outline:PATH` asks for, the root without one; raises with the keys there are."""
    path = parse_path(request.query.path) if request.query.path else ()
    blocks = [block for block in source.document.values if request.query.block in (None, block.index)]
    if path is not None and (not path or any(value_at(b.json.value, path) is not MISSING for b in blocks if b.json)):
        return path
    root = blocks[0].json.value if blocks and blocks[0].json else None
    keys = f"; keys of the root: {', '.join(list(root)[:25])}" if is_object(root) else ""
    raise QueryRejected(
        f"outline: there is nothing at {clip(request.query.path, 60)}{keys}", next_call=read_call(source.ref, "outline")
    )


def _heading(request: Request, block: Block, *, single: bool) -> str:
    name = "" if single else f"block:{block.index} "
    if block.text is None:
        return f"{name}{block.type} {_media(block)}".rstrip()
    size = size_text(len(block.text.encode("utf-8", "surrogatepass")))
    tokens = token_text(request.context.counter.estimate(block.text))
    form = f"JSON ({block.json.form})" if block.json is not None else "text"
    return f"{name}{block.type}: {form}, {size}, {tokens}, {block.text.count(chr(10)) + 1} lines"


def _media(block: Block) -> str:
    data = block.source.get("data")
    size = size_text(len(data) * 3 // 4) if isinstance(data, str) else ""
    resource = block.source.get("resource")
    uri = resource.get("uri", "") if is_object(resource) else block.source.get("uri", "")
    return " ".join(str(part) for part in (block.source.get("mimeType", ""), size, uri) if part)


def _structure(value: Json, path: Path, covered: set[Path], depth: int) -> Iterator[str]:
    """Lines for the containers down to tables, and for scalars beside them."""
    if is_array(value):
        kinds = Counter(kind_of(item) for item in value)
        what = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(3))
        detail = f": {summary(value)}" if value and path not in covered and not _nested(value) else ""
        yield f"{format_path(path)}: array of {len(value)} ({what}){detail}"
        if value and path not in covered and _nested(value) and depth < 3:
            yield from _structure(value[0], (*path, 0), covered, depth + 1)
        return
    if not is_object(value):
        yield f"{format_path(path)}: {clip(dump(value), 100)}"
        return
    if path:
        yield f"{format_path(path)}: object, {len(value)} keys"
    if path in covered or depth > 3:
        return
    for place, (key, item) in enumerate(value.items()):
        if place == _KEYS:
            names = ", ".join(list(value)[_KEYS : _KEYS + 10])
            yield f"… {len(value) - _KEYS} more keys in {format_path(path)}: {clip(names, 120)}"
            return
        yield from _structure(item, (*path, key), covered, depth + 1)


def _nested(value: list[Json]) -> bool:
    return any(isinstance(item, dict | list) for item in value[:20])


def _columns(table: Table) -> Iterator[str]:
    """One line a column; constant columns and links in a line of their own."""
    yield f"table {table.name}: {table.count} rows{f' of {table.expression}' if table.expression else ''}"
    constant: list[str] = []
    links: list[str] = []
    empty: list[str] = []
    lines: list[str] = []
    for place, name in enumerate(table.columns):
        values: list[Json] = [row[place] for row in table.rows]
        first: Json = next((value for value in values if value is not None), None)
        if first is None:
            empty.append(name)
        elif isinstance(first, str) and _URL.match(first) and len(values) > 1:
            links.append(name)
        elif len(values) > 2 and not (is_array(first) or is_object(first)) and all(value == first for value in values):
            constant.append(f"{name}={clip(dump(first), 40)}")
        elif is_object(first) and any(other.startswith(f"{name}.") for other in table.columns[table.own :]):
            continue
        else:
            lines.append(f"  {name}: {summary(values)}")
    if constant:
        yield f"  constant: {', '.join(constant)}"
    yield from lines
    if empty:
        yield f"  always null: {', '.join(empty)}"
    if links:
        yield f"  links: {', '.join(links)}"
