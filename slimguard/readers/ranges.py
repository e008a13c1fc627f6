"""Ranges: physical lines, bytes and items of an array, from either end; exact text, 1-based lines, 0-based rest."""

from __future__ import annotations

from slimguard.canonical import dump
from slimguard.document import MISSING, Path, format_path, parse_path, value_at
from slimguard.document.paths import walk
from slimguard.document.tables import main_array
from slimguard.errors import QueryRejected
from slimguard.frame import has_surrogates, read_call
from slimguard.model import Json, is_array, is_object
from slimguard.query import Query
from slimguard.readers.cursor import stale
from slimguard.readers.fitting import fit, printable
from slimguard.readers.model import Answer, Request, Source
from slimguard.readers.pages import block_of, cut_page, span_text
from slimguard.readers.values import fitting_dump

_WINDOW = 1 << 16


def read_lines(request: Request) -> Answer:
    """Lines `first` to `last` of the addressed block's text as it is, with their line ends."""
    source, text = addressed(request)
    total = text.count("\n", 0, max(0, len(text) - 1)) + 1
    low, high, note = _resolved(request.query.first, request.query.last, total, base=1)
    start, end = line_start(text, low), line_end(text, high)
    return _exact(request, source, text, (start, end), note, unit="lines")


def read_bytes(request: Request) -> Answer:
    """Bytes `first` to `last` of the text in UTF-8, widened to whole characters."""
    source, text = addressed(request)
    if text.isascii():
        low, high, note = _resolved(request.query.first, request.query.last, len(text), base=0)
        return _exact(request, source, text, (low, high + 1), note, unit="bytes")
    data = text.encode("utf-8", "surrogatepass")
    low, high, note = _resolved(request.query.first, request.query.last, len(data), base=0)
    while low and data[low] & 0xC0 == 0x80:
        low -= 1
    end = high + 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    start = len(data[:low].decode("utf-8", "surrogatepass"))
    stop = start + len(data[low:end].decode("utf-8", "surrogatepass"))
    return _exact(request, source, text, (start, stop), note, unit="bytes", byte=low, size=len(data))


def read_items(request: Request) -> Answer:
    """Items `first` to `last` of an array as compact JSON, one a line; of an object its entries `{_key, _value}`."""
    where, items = array_of(request)
    if not items:
        return Answer("items", f"none: {where} is empty", "")
    low, high, note = _resolved(request.query.first, request.query.last, len(items), base=0)
    chosen = items[low : high + 1]
    place = request.position
    if place and place[0] >= len(chosen):
        raise stale("", "")
    cut = [False]

    def render(item: Json) -> str:
        text, shortened = _written(item, request)
        cut[0] = cut[0] or shortened
        return text

    fitted = fit(chosen, request.budget, request.context.counter, place, render=render)
    first = low + (place[0] if place else 0)
    last = low + max(fitted.end - 1 + (1 if fitted.offset else 0), 0)
    if cut[0]:
        note = (
            *note,
            f"long parts are cut: select:{'' if where == '@' else where}[{first}] and its path give them whole",
        )
    shown = f"{span_text('item', first, last)} of {len(items)} (0-based) of {where}"
    return Answer("items", shown, fitted.body, fitted.position, note)


def _written(item: Json, request: Request) -> tuple[str, bool]:
    """An item as compact JSON; one that is larger than a page is viewed: its long parts are cut and counted."""
    whole = dump(item)
    if len(whole) <= request.budget.bytes and request.context.counter.within(whole, request.budget.tokens):
        return whole, False
    return fitting_dump(item, request.context.budget.bytes // 2)


def read_ends(request: Request) -> Answer:
    """`first:n` and `last:n`: items of the main array when there is one, else lines."""
    count = request.query.last or 1
    query = request.query
    has_items = any(main_array(source.document) is not None for source in request.sources) and query.block is None
    kind = "items" if has_items else "lines"
    base = 0 if has_items else 1
    if query.kind == "last":
        ranged = Query(kind, first=-count, block=query.block)
    else:
        ranged = Query(kind, first=base, last=base + count - 1, block=query.block)
    inner = Request(ranged, request.sources, request.budget, request.context, request.position, request.alone)
    return read_items(inner) if has_items else read_lines(inner)


def addressed(request: Request) -> tuple[Source, str]:
    """The one source and the text that lines and bytes count in; raises `QueryRejected` for a set or without text."""
    if len(request.sources) > 1:
        refs = ", ".join(source.ref for source in request.sources)
        raise QueryRejected(
            f"lines and bytes are of one result, and this is a set of {len(request.sources)}: {refs}",
            next_call=f"{read_call(request.source.ref, 'lines:1-60')}; or search, select: or sql: the set",
        )
    source = request.source
    block = source.document.main if request.query.block is None else block_of(source, request.query.block)
    if block is None or block.text is None:
        raise QueryRejected("the result has no text", next_call=read_call(source.ref, "raw:"))
    return source, block.text


def array_of(request: Request) -> tuple[str, list[Json]]:
    """The array that `items:` addresses and its path; entries of an object; raises with the arrays that exist."""
    found: list[Json] = []
    where = ""
    for source in request.sources:
        path, value = _array_in(source, request.query)
        where = where or format_path(path)
        if len(request.sources) > 1:
            value = [{"_ref": source.ref, **item} if is_object(item) else item for item in value]
        found.extend(value)
    return where, found


def _array_in(source: Source, query: Query) -> tuple[Path, list[Json]]:
    blocks = [b for b in source.document.values if query.block is None or b.index == query.block]
    path = parse_path(query.path) if query.path else None
    if path is not None:
        for block in blocks:
            value = value_at(block.json.value, path) if block.json else MISSING
            if value is not MISSING:
                return path, _entries(value, path, source)
        ending = [found for found in _arrays(source) if found[0][-len(path) :] == path]
        if len(ending) == 1:
            return ending[0]
        raise _no_array(source, f"there is nothing at {query.path}")
    if query.block is None:
        main = main_array(source.document)
        if main is not None:
            return main
    for block in blocks:
        if block.json is not None:
            return (), _entries(block.json.value, (), source)
    raise _no_array(source, "the result has no JSON")


def _entries(value: Json, path: Path, source: Source) -> list[Json]:
    if is_array(value):
        return value
    if is_object(value):
        return [{"_key": key, "_value": item} for key, item in value.items()]
    raise _no_array(source, f"{format_path(path)} is no array and no object")


def _arrays(source: Source) -> list[tuple[Path, list[Json]]]:
    """The arrays of a result that stand in no array, or in the first element of one."""
    return [
        (path, value)
        for block in source.document.values
        if block.json is not None
        for path, value in walk(block.json.value, depth=5, limit=2_000)
        if is_array(value) and not any(isinstance(step, int) and step for step in path)
    ]


def _no_array(source: Source, message: str) -> QueryRejected:
    arrays = _arrays(source)[:10]
    named = ", ".join(f"{format_path(path)} ({len(value)})" for path, value in arrays)
    path = max(arrays, key=lambda found: len(found[1]))[0] if arrays else ()
    call = f"items:0-9 of {format_path(path)}" if path else "outline"
    return QueryRejected(f"{message}{f'; arrays: {named}' if named else ''}", next_call=read_call(source.ref, call))


def _resolved(first: int | None, last: int | None, total: int, *, base: int) -> tuple[int, int, tuple[str, ...]]:
    """Both ends within `base` … `total - 1 + base`; a range beyond the end gives the last part of the same length."""
    top = total - 1 + base
    low = base if first is None else first if first >= 0 else total + first + base
    high = top if last is None else last if last >= 0 else total + last + base
    if low > top:
        length = max(1, min(high - low + 1, total))
        return top - length + 1, top, (f"the range is beyond the end at {top}: these are the last {length}",)
    low = min(max(low, base), max(top, base))
    return low, max(low, min(high, top)), ()


def _exact(
    request: Request,
    source: Source,
    text: str,
    span: tuple[int, int],
    notes: tuple[str, ...],
    *,
    unit: str,
    byte: int | None = None,
    size: int | None = None,
) -> Answer:
    start, end = span
    here = start + (request.position[0] if request.position else 0)
    if request.position and here >= end:
        raise stale(source.ref, "")
    stop = min(end, cut_page(text, here, request.budget, request.context.counter))
    body = text[here:stop]
    if has_surrogates(body):
        notes = (*notes, "lone surrogates are shown as U+FFFD")
    if unit == "lines":
        total = text.count("\n", 0, max(0, len(text) - 1)) + 1
        first = text.count("\n", 0, here) + 1
        last = first + body.count("\n", 0, max(0, len(body) - 1))
        shown = f"{span_text('line', first, last)} of {total} (1-based)"
    else:
        low = here if byte is None else byte + len(text[start:here].encode("utf-8", "surrogatepass"))
        length = len(body.encode("utf-8", "surrogatepass"))
        shown = f"{span_text('byte', low, low + length - 1)} of {len(text) if size is None else size} (0-based)"
    more = (stop - start,) if stop < end else None
    return Answer(unit, shown, printable(body), more, notes, exact=True)


def line_start(text: str, number: int) -> int:
    """Offset of the start of 1-based line `number`; counts newlines at memory speed."""
    wanted = number - 1
    position = 0
    while wanted > 0:
        count = text.count("\n", position, position + _WINDOW)
        if count < wanted:
            wanted -= count
            position += _WINDOW
            continue
        for _ in range(wanted):
            position = text.index("\n", position) + 1
        wanted = 0
    return position


def line_end(text: str, number: int) -> int:
    """Offset after the line end of 1-based line `number`."""
    place = text.find("\n", line_start(text, number))
    return len(text) if place < 0 else place + 1
