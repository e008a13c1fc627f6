"""The exact value of a part of stored results, whole and unframed, for what puts it into a call; never shortened.

The same parts as in reading, but stricter: a range beyond the end, an empty selection or two different values are
errors here, since what is wrong would be written somewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from slimguard.canonical import dump
from slimguard.document import MISSING, Block, Path, document_of, parse_path
from slimguard.document.blocks import same_value
from slimguard.document.tables import main_array
from slimguard.edits import NoPlace, Spans, addressed
from slimguard.errors import QueryRejected
from slimguard.frame import has_surrogates, read_call
from slimguard.model import Json, is_array, is_object
from slimguard.policy import MESSAGE_LIMIT_BYTES
from slimguard.query import Query
from slimguard.readers.model import ReadContext, Request, Source
from slimguard.readers.pages import block_of
from slimguard.readers.ranges import addressed as addressed_text
from slimguard.readers.ranges import array_of, line_end, line_start
from slimguard.readers.select import missing_key, resolved, roots_of


@dataclass(frozen=True, slots=True)
class Exact:
    """A part: `text` is the text itself, or, when `is_json`, the JSON of the value as it is spelled in the result."""

    text: str = field(repr=False)
    is_json: bool
    what: str
    """The part in words, without content."""


def read_exact(sources: Sequence[Source], query: Query, context: ReadContext) -> Exact:
    """The part of `sources` that `query` (a page for the main block's text, or a range or selection) names.

    Raises `QueryRejected` when there is no such part, or not exactly one.
    """
    sources = [_parsed(source) for source in sources]
    request = Request(query, sources, context.page_budget, context)
    part = _READERS[query.kind](request)
    if has_surrogates(part.text) and not part.is_json:
        raise QueryRejected("the part holds lone surrogates, which no call can carry", next_call="select another part")
    return part


def _parsed(source: Source) -> Source:
    """The source with its blocks, which the readers do without when it is large."""
    document = source.document
    if document.result is not None or document.kind != "result":
        return source
    whole = document_of(document.raw, document.kind, parse_limit=MESSAGE_LIMIT_BYTES)
    return source if whole.result is None else replace(source, document=whole)


def _block_text(request: Request) -> Exact:
    source = _one(request)
    block = source.document.main if request.query.block is None else block_of(source, request.query.block)
    if block is None and len(source.document.blocks) == 1:
        block = source.document.blocks[0]
    if block is None:
        have = ", ".join(item.label for item in source.document.blocks[:20]) or "no blocks"
        raise QueryRejected(f"the result has no text; it has {have}", next_call='name one: "block": 0')
    if block.text is not None:
        spelled = _spelled(source, block, [()], many=False) if block.type == "structured" else None
        return Exact(spelled or block.text, is_json=False, what=f"text of {block.label}")
    inner = block.source.get("resource")
    data = inner.get("blob") if is_object(inner) else block.source.get("data")
    if not isinstance(data, str):
        raise QueryRejected(f"{block.label} has neither text nor data", next_call=read_call(source.ref, "raw:"))
    return Exact(data, is_json=False, what=f"base64 of {block.label}")


def _raw(request: Request) -> Exact:
    document = _one(request).document
    try:
        return Exact(document.raw.decode("utf-8"), is_json=False, what="the whole result")
    except UnicodeDecodeError:
        raise QueryRejected("the whole result is no UTF-8", next_call='name a part: "block": 0') from None


def _lines(request: Request) -> Exact:
    _, text = addressed_text(request)
    total = text.count("\n", 0, max(0, len(text) - 1)) + 1
    low, high = _within(request.query, total, base=1)
    part = text[line_start(text, low) : line_end(text, high)]
    return Exact(part, is_json=False, what=f"lines {low}-{high} of {total}")


def _bytes(request: Request) -> Exact:
    """Bytes as they are asked for, widened to whole characters as in reading."""
    _, text = addressed_text(request)
    data = text.encode("utf-8", "surrogatepass")
    low, high = _within(request.query, len(data), base=0)
    end = high + 1
    while low and data[low] & 0xC0 == 0x80:
        low -= 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    part = data[low:end].decode("utf-8", "surrogatepass")
    return Exact(part, is_json=False, what=f"bytes {low}-{end - 1} of {len(data)}")


def _items(request: Request) -> Exact:
    """One number is one item, a range a list of items."""
    query = request.query
    if len(request.sources) == 1:
        where, items = array_of(request)
    else:
        where, items = "all results", [item for one in _each(request) for item in array_of(one)[1]]
    low, high = _within(query, len(items), base=0)
    single = query.first is not None and query.first == query.last
    what = f"item {low} of {where}" if single else f"items {low}-{high} of {where}"
    path = _path_of_array(request) if len(request.sources) == 1 else None
    spelled = None
    if path is not None:
        block, found = path
        spelled = _spelled(request.source, block, [(*found, at) for at in range(low, high + 1)], many=not single)
    return Exact(spelled or dump(items[low] if single else items[low : high + 1]), is_json=True, what=what)


def _each(request: Request) -> list[Request]:
    return [replace(request, sources=[source]) for source in request.sources]


def _path_of_array(request: Request) -> tuple[Block, Path] | None:
    """Where the items stand, when that is a list in one block's JSON."""
    query, document = request.query, request.source.document
    path = parse_path(query.path) if query.path else None
    if path is None and query.block is None:
        main = main_array(document)
        path = main[0] if main is not None else ()
    for block in document.values:
        if block.json is None or query.block not in (None, block.index):
            continue
        try:
            found = [place for place in addressed(_pointer(path or ()), block.json.value)[0] if is_array(place.value)]
        except NoPlace:
            return None
        if found:
            return block, found[0].path
    return None


def _pointer(path: Path) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def _ends(request: Request) -> Exact:
    count, query = request.query.last or 1, request.query
    has_items = query.block is None and any(main_array(source.document) is not None for source in request.sources)
    kind, base = ("items", 0) if has_items else ("lines", 1)
    first, last = (-count, None) if query.kind == "last" else (base, base + count - 1)
    if query.kind == "last" and count == 1:
        last = -1
    ranged = Query(kind, first=first, last=last, block=query.block)
    return (_items if has_items else _lines)(replace(request, query=ranged))


def _select(request: Request) -> Exact:
    roots = roots_of(request, tagged=False)
    chosen = resolved(request, roots)
    what = "a selection"
    if len(chosen.full) > 1:
        names = ", ".join(name for name, _ in chosen.full)
        raise QueryRejected(f"select: {names} have different values", next_call='say which: "block": 0')
    if len(request.sources) > 1:
        if not chosen.full:
            raise _nothing(request, chosen.expression, roots[0][1])
        return _value(chosen.full[0][1], dump(chosen.full[0][1]), what)
    blocks = {block.label: block for block in request.source.document.values}
    names = [chosen.full[0][0]] if chosen.full else [name for name, _ in roots]
    for name in names:
        block = blocks[name]
        value = block.json.value if block.json is not None else None
        try:
            spots, many = addressed(chosen.expression, value)
        except NoPlace:
            continue
        spots = [spot for spot in spots if spot.value is not MISSING]
        if many:
            spots = [spot for spot in spots if spot.value is not None]
        if not spots:
            continue
        spelled = _spelled(request.source, block, [spot.path for spot in spots], many=many)
        found: Json = [spot.value for spot in spots] if many else spots[0].value
        if chosen.full and not same_value(found, chosen.full[0][1]):
            break  # the expression nests or picks: its value is not the plain list of places
        return _value(found, spelled or dump(found), what)
    if not chosen.full or chosen.full[0][1] is None:
        raise _nothing(request, chosen.expression, roots[0][1])
    return _value(chosen.full[0][1], dump(chosen.full[0][1]), what)


def _value(value: Json, spelled: str, what: str) -> Exact:
    return Exact(value, is_json=False, what=what) if isinstance(value, str) else Exact(spelled, is_json=True, what=what)


def _nothing(request: Request, expression: str, root: Json) -> QueryRejected:
    missing = missing_key(expression, root)
    return QueryRejected(
        "select: finds nothing in the result",
        next_call=missing[0] if missing else read_call(request.source.ref, "outline"),
        code="nothing",
    )


def _spelled(source: Source, block: Block, paths: Sequence[Path], *, many: bool) -> str | None:
    """The JSON of the values at `paths` as the result spells it: numbers keep their digits."""
    if block.type == "structured":
        document = source.document
        if not is_object(document.result) or "structuredContent" not in document.result:
            return None
        text = document.raw_text
        spans = Spans(text, len(text) - len(text.lstrip()), len(text.rstrip()))
        paths = [("structuredContent", *path) for path in paths]
    elif block.json is not None and block.text is not None:
        text, spans = block.text, Spans.of(block.text, block.json)
    else:
        return None
    pieces: list[str] = []
    for path in paths:
        child = spans.child(path)
        if child is None or (not path and spans.several):
            return None
        pieces.append(text[child.value : child.end])
    return f"[{','.join(pieces)}]" if many else pieces[0]


def _one(request: Request) -> Source:
    if len(request.sources) > 1:
        raise QueryRejected(
            "the text of several results is not one text", next_call="take select: or items: of them, or one ref"
        )
    return request.source


def _within(query: Query, total: int, *, base: int) -> tuple[int, int]:
    """Both ends of a range that must lie within the part; raises `QueryRejected` with how much there is."""
    top = total - 1 + base
    low = base if query.first is None else query.first if query.first >= 0 else top + 1 + query.first
    high = top if query.last is None else query.last if query.last >= 0 else top + 1 + query.last
    if not base <= low <= high <= top:
        unit = "nothing is there" if not total else f"they are {base} to {top}"
        raise QueryRejected(
            f"{query.kind}: the range is not within the part: {unit}", next_call="give a range within it"
        )
    return low, high


_READERS = {
    "page": _block_text,
    "raw": _raw,
    "lines": _lines,
    "bytes": _bytes,
    "items": _items,
    "first": _ends,
    "last": _ends,
    "select": _select,
}
