"""`diff:OTHER_REF` — what differs between another result (old) and this one (new): values by path, or lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from slimguard.document import Block
from slimguard.errors import QueryRejected
from slimguard.frame import read_call
from slimguard.query import Query, parse
from slimguard.readers.cursor import stale
from slimguard.readers.fitting import fit, printable
from slimguard.readers.jsondiff import differences
from slimguard.readers.model import Answer, Request, Source
from slimguard.readers.pages import block_of
from slimguard.readers.summaries import clip
from slimguard.readers.textdiff import Change, changes

_CONTEXT = 1
_MOST = 20_000
"""Differences that are looked for; two results that differ more have little to compare."""
_HUNK_LINES = 60
_LINE_CHARS = 240


def other_refs(query: str) -> tuple[str, ...]:
    """The refs that `diff:` queries in `query` name, for the guard to open; empty for a query that cannot be read."""
    try:
        queries = parse(query)
    except QueryRejected:
        return ()
    return tuple(dict.fromkeys(_ref(item) for item in queries if item.kind == "diff" and item.text.strip()))


def read_diff(request: Request) -> Answer:
    """Counts first, then the differences in order."""
    ref = _ref(request.query)
    other = request.context.others.get(ref)
    if other is None:
        raise QueryRejected(
            f"diff: there is no readable result {clip(ref, 40) or 'named'}",
            next_call=f"write {print_diff('OTHER_REF')}; a read without result_ref lists the refs",
        )
    if len(request.sources) > 1:
        raise QueryRejected("diff: compares two results, not a set", next_call=read_call(request.source.ref, "outline"))
    old, new = _block(other, request.query), _block(request.source, request.query)
    if old.json is not None and new.json is not None:
        found = list(islice(differences(old.json.value, new.json.value), _MOST + 1))
        counts = Counter(item.sign for item in found)
        units = [printable(f"{item.sign} {item.line}") for item in found]
        more = " or more" if len(found) > _MOST else ""
        total = f"{counts['~']} changed, {counts['+']} added, {counts['-']} removed{more}"
    else:
        units, total = _lines((old.text or "").split("\n"), (new.text or "").split("\n"))
    place = request.position
    if place and place[0] >= len(units):
        raise stale("", "")
    if not units:
        return Answer("diff", f"no difference between {ref} and {request.source.ref}", "")
    fitted = fit(units, request.budget, request.context.counter, place)
    first = place[0] if place else 0
    part = f"; {first + 1}-{max(fitted.end, first + 1)} of {len(units)}" if fitted.more or first else ""
    return Answer("diff", f"{total} (from {ref}){part}", fitted.body, fitted.position)


def print_diff(ref: str) -> str:
    """The spelling of a comparison with `ref`."""
    return f"diff:{ref}"


def _ref(query: Query) -> str:
    return query.text.strip().strip("\"'")


def _block(source: Source, query: Query) -> Block:
    if query.block is not None:
        return block_of(source, query.block)
    main = source.document.main
    if main is None:
        raise QueryRejected("diff: a result without text cannot be compared", next_call=read_call(source.ref, "raw:"))
    return main


def _lines(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], str]:
    found = changes(old, new)
    added = sum(change.new_end - change.new_start for change in found)
    removed = sum(change.old_end - change.old_start for change in found)
    return [_hunk(old, new, change) for change in found], f"{added} lines added, {removed} removed"


def _hunk(old: Sequence[str], new: Sequence[str], change: Change) -> str:
    """One change with a line of context above, long ones with their middle left out."""
    here = f"-{change.old_start + 1},{change.old_end - change.old_start}"
    there = f"+{change.new_start + 1},{change.new_end - change.new_start}"
    out = [f"@@ {here} {there} @@"]
    if change.new_start:
        out.extend(f" {clip(line, _LINE_CHARS)}" for line in new[change.new_start - _CONTEXT : change.new_start])
    for sign, lines in (("-", old[change.old_start : change.old_end]), ("+", new[change.new_start : change.new_end])):
        shown = [f"{sign}{clip(line, _LINE_CHARS)}" for line in lines[:_HUNK_LINES]]
        out.extend(shown)
        if len(lines) > _HUNK_LINES:
            out.append(f"{sign}… {len(lines) - _HUNK_LINES} lines")
    return printable("\n".join(out))
