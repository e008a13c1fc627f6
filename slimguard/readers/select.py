"""`select:` — JMESPath on the result's JSON, forgiving, with compact output that is bounded while it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from rapidfuzz import process

from slimguard.document import format_path
from slimguard.document.tables import main_array, tables_of
from slimguard.document.united import united_values
from slimguard.errors import QueryRejected
from slimguard.frame import read_call
from slimguard.model import Json, is_array, is_object
from slimguard.readers.completeness import aggregate_note
from slimguard.readers.cursor import stale
from slimguard.readers.fitting import fit
from slimguard.readers.jmes import is_empty, leading_keys
from slimguard.readers.model import Answer, Request
from slimguard.readers.rereading import Root, evaluated, readable, second_reading, with_quotes
from slimguard.readers.summaries import clip
from slimguard.readers.values import bounded_dump, fitting_dump

_KEYS_NAMED = 25
_LINES_TOKENS = 60
"""What a value may cost more when its parts stand on lines of their own."""


class Resolved(NamedTuple):
    """What an expression gives: as it was read, its values on the roots that have one, and those that are not empty."""

    expression: str
    found: list[Root]
    full: list[Root]
    notes: tuple[str, ...]


def read_select(request: Request) -> Answer:
    """The value of the expression; nothing found says which key is missing and what there is instead."""
    roots = roots_of(request)
    chosen = resolved(request, roots)
    warning = aggregate_note(request.sources, chosen.expression)
    notes = (*chosen.notes, warning) if warning else chosen.notes
    if not chosen.full:
        return _nothing(chosen.expression, chosen.found[0], roots, notes, request.context.monotonic)
    if len(chosen.full) > 1:
        return _both(request, chosen.full, notes)
    name, value = chosen.full[0]
    notes = (f"of {name}", *notes) if len(roots) > 1 else notes
    return _written(request, value, notes)


def resolved(request: Request, roots: Sequence[Root]) -> Resolved:
    """The one reading of the expression on `roots`; equal values count once. Raises `QueryRejected`."""
    if not roots:
        unparsed = [note for source in request.sources for note in source.document.notes]
        tables = tables_of(request.source.document)
        rows = f"sql:SELECT * FROM {tables[0].name} LIMIT 5" if tables else "outline"  # noqa: S608  # a hint
        raise QueryRejected(
            f"select: the result has no JSON ({'; '.join(unparsed) or 'it is text'})",
            next_call=read_call("+".join(source.ref for source in request.sources), rows),
        )
    expression, notes = _readable(request.query.text, roots)
    monotonic = request.context.monotonic
    found, error = evaluated(expression, roots, monotonic)
    full = [item for item in found if not is_empty(item[1])]
    if not full:
        better = second_reading(expression, roots, monotonic)
        if better is not None:
            expression, full = better
            notes = (*notes, f"read as {expression}")
    if not full and error is not None:
        missing = missing_key(expression, roots[0][1])
        raise QueryRejected(error.message, next_call=missing[0] if missing else error.next_call, code=error.code)
    if len(full) > 1 and all(item[1] == full[0][1] for item in full):
        full = full[:1]
    return Resolved(expression, found, full, notes)


def _readable(expression: str, roots: Sequence[Root]) -> tuple[str, tuple[str, ...]]:
    """The expression, or what is meant by one that does not parse; raises `QueryRejected`."""
    try:
        return readable(expression)
    except QueryRejected as error:
        quoted = with_quotes(expression, roots) if error.code == "select_syntax" else expression
        if quoted == expression:
            raise
        try:
            read, _ = readable(quoted)
        except QueryRejected:
            raise error from None
        return read, (f"read as {read}",)


def roots_of(request: Request, *, tagged: bool = True) -> list[Root]:
    """The JSON values to run on: of the block asked for, else of each block with JSON; of a set, one joined value.

    `tagged` elements of a set say in `_ref` which result they are of.
    """
    per_source: list[list[Root]] = []
    for source in request.sources:
        united = united_values(source.document) if request.query.block is None else []
        if united:
            per_source.append([("all blocks", united)])
            continue
        blocks = [b for b in source.document.values if request.query.block in (None, b.index)]
        per_source.append([(block.label, block.json.value) for block in blocks if block.json is not None])
    if len(request.sources) == 1:
        return per_source[0]
    return _joined(request, per_source, tagged=tagged)


def _joined(request: Request, per_source: Sequence[list[Root]], *, tagged: bool) -> list[Root]:
    """Several results as one value: the main arrays put together where they stand, elements with a `_ref`."""
    values = [roots[0][1] if roots else None for roots in per_source]
    mains = [main_array(source.document) for source in request.sources]
    paths = {main[0] for main in mains if main is not None}
    if len(paths) != 1:
        return [("all results", [{"_ref": s.ref, "value": v} for s, v in zip(request.sources, values, strict=True)])]
    elements: list[Json] = []
    for source, main in zip(request.sources, mains, strict=True):
        items = main[1] if main is not None else []
        elements.extend({"_ref": source.ref, **item} if tagged and is_object(item) else item for item in items)
    first = next(value for value, main in zip(values, mains, strict=True) if main is not None)
    return [("all results", _with_at(first, list(paths.pop()), elements))]


def _with_at(value: Json, path: list[str | int], new: Json) -> Json:
    """A copy of `value` along `path` only, with `new` at its end."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if is_object(value) and isinstance(step, str):
        return {**value, step: _with_at(value.get(step), rest, new)}
    if is_array(value) and isinstance(step, int):
        return [_with_at(item, rest, new) if place == step else item for place, item in enumerate(value)]
    return new


def _written(request: Request, value: Json, notes: tuple[str, ...]) -> Answer:
    """The value: a text as it is, an array one element a line when it is long, long parts cut."""
    limit = request.budget.bytes
    counter = request.context.counter
    place = request.position
    if isinstance(value, str):
        fitted = fit([value], request.budget, counter, place)
        shown = f"{len(value)} characters of text" if not (fitted.more or place) else _part(value, place, fitted.offset)
        return Answer("select", shown, fitted.body, fitted.position, notes)
    whole = bounded_dump(value, limit)
    fits = whole is not None and counter.within(whole, request.budget.tokens - _LINES_TOKENS)
    if whole is not None and fits and not place and not _long(request, whole):
        return Answer("select", _what(value), whole, None, notes)
    if is_array(value):
        return _array(request, value, notes, whole=fits)
    if not is_object(value):
        return Answer("select", _what(value), whole or "", None, notes)
    units = list(value.items())
    room = limit if fits else max(120, limit // 4)
    cut = [False]

    def render(unit: tuple[str, Json]) -> str:
        text, shortened = fitting_dump(unit[1], room)
        cut[0] = cut[0] or shortened
        return f"{format_path((unit[0],))}: {text}"

    if place and place[0] >= len(units):
        raise stale("", "")
    fitted = fit(units, request.budget, counter, place, render=render)
    notes = (*notes, "long parts are cut: select their path") if cut[0] else notes
    first = place[0] if place else 0
    return Answer("select", f"keys {first + 1}-{max(fitted.end, first + 1)} of {len(units)}", fitted.body,
                  fitted.position, notes)  # fmt: skip


def _array(request: Request, value: list[Json], notes: tuple[str, ...], *, whole: bool) -> Answer:
    """Elements one a line; when they are large, each gets a part of the budget so that several are seen."""
    place = request.position
    if place and place[0] >= len(value):
        raise stale("", "")
    share = max(160, request.budget.bytes // max(2, min(len(value), 6)))
    share = request.budget.bytes if whole else min(share, request.budget.line_chars or share)
    cut = [False]

    def render(item: Json) -> str:
        text, shortened = fitting_dump(item, share)
        cut[0] = cut[0] or shortened
        return text

    fitted = fit(value, request.budget, request.context.counter, place, render=render)
    notes = (*notes, "long parts are cut: select their path") if cut[0] else notes
    first = place[0] if place else 0
    last = max(fitted.end, first + 1)
    shown = f"elements {first}-{last - 1} of {len(value)}, one a line"
    return Answer("select", shown, fitted.body, fitted.position, notes)


def _both(request: Request, found: Sequence[Root], notes: tuple[str, ...]) -> Answer:
    """Text and structure differ: both values, each with its label."""
    share = replace(
        request.budget, tokens=request.budget.tokens // len(found), bytes=request.budget.bytes // len(found)
    )
    lines: list[str] = []
    for name, value in found:
        answer = _written(replace(request, budget=share, position=()), value, ())
        lines.append(f"{name}: {answer.shown}\n{answer.body}")
    blocks = [block.index for block in request.source.document.values][: len(found)]
    more = f"for one of them: block:{blocks[0]} select:…" if blocks else ""
    return Answer("select", f"{len(found)} values that differ", "\n".join(lines), None, (*notes, more))


def _nothing(
    expression: str, found: Root, roots: Sequence[Root], notes: tuple[str, ...], monotonic: Callable[[], float]
) -> Answer:
    """The empty value as it is, with the first key that is missing and the keys that exist."""
    body = bounded_dump(found[1], 200) or "null"
    root = roots[0][1]
    lines = [body, *(missing_key(expression, root) or _missing_last(expression, roots, monotonic))]
    if len(lines) == 1 and is_object(root):
        lines.append(f"keys of the root: {_named(list(root))}")
    if found[1] == [] and "[?" in expression:
        lines.append("the filter matched nothing: texts take single quotes, numbers backticks, and case matters")
    return Answer("select", "nothing found" if body != "0" else "0", "\n".join(lines), None, notes)


def _missing_last(expression: str, roots: Sequence[Root], monotonic: Callable[[], float]) -> list[str]:
    """A line on the last key of the expression when what stands before it finds something."""
    before, dot, key = expression.rpartition(".")
    key = key.strip().strip('"')
    if not dot or not key or not all(char.isalnum() or char in "_- " for char in key):
        return []
    try:
        found, _ = evaluated(before, roots[:1], monotonic)
    except QueryRejected:
        return []
    value = found[0][1] if found else None
    values: list[Json] = value if is_array(value) else [value]
    keys = list(dict.fromkeys(name for item in values[:200] if is_object(item) for name in item))
    if not keys or key in keys:
        return []
    close = process.extractOne(key, keys, score_cutoff=60)
    return [f"no key {key} in {before}{f'; nearest: {close[0]}' if close else ''}; keys: {_named(keys)}"]


def missing_key(expression: str, root: Json) -> list[str]:
    """A line on the first key of the expression that is not there, and what is there instead; empty when unknown."""
    value, path = root, list[str]()
    for key in leading_keys(expression)[1]:
        if is_object(value) and key in value:
            value, path = value[key], [*path, key]
            continue
        where = format_path(tuple(path)) if path else "the root"
        if is_array(value):
            inner = next((item for item in value if is_object(item)), None)
            keys = f" with keys {_named(list(inner))}" if inner is not None else ""
            prefix = format_path(tuple(path)) if path else ""
            has = any(is_object(item) and key in item for item in value[:200])
            advice = f"write {prefix}[].{format_path((key,))}" if has else f"its elements have no key {key}"
            return [f"{where} is an array of {len(value)}{keys}: {advice}"]
        if is_object(value):
            close = process.extractOne(key, list(value), score_cutoff=60)
            near = f"; nearest: {close[0]}" if close else ""
            return [f"no key {key} in {where}{near}; keys: {_named(list(value))}"]
        return [f"{where} is {clip(bounded_dump(value, 80) or 'a value')}, not an object"]
    return []


def _named(keys: Sequence[str]) -> str:
    more = f", … {len(keys)}" if len(keys) > _KEYS_NAMED else ""
    return ", ".join(format_path((key,)) for key in keys[:_KEYS_NAMED]) + more


def _what(value: Json) -> str:
    if is_array(value):
        return f"array of {len(value)}"
    return f"object of {len(value)} keys" if is_object(value) else "one value"


def _part(text: str, place: tuple[int, ...], offset: int) -> str:
    start = place[1] if len(place) > 1 else 0
    return f"characters {start}-{(offset or len(text)) - 1} of {len(text)}"


def _long(request: Request, text: str) -> bool:
    return request.budget.line_chars is not None and len(text) > request.budget.line_chars
