"""`edit:` — what edits would make of a part of the result, as a diff; shows it, and changes and calls nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from slimguard.document import LineIndex
from slimguard.edits import Edited, Splice, Step, apply_edits, edits_of
from slimguard.errors import QueryRejected
from slimguard.model import Json, is_array, is_object
from slimguard.readers.cursor import stale
from slimguard.readers.exact import read_exact
from slimguard.readers.fitting import fit, printable
from slimguard.readers.model import Answer, Request
from slimguard.references import KEY, attempts, part_of

_CONTEXT = 60
_SIDE_CHARS = 400
_LINES = 30
_EXAMPLE = 'edit:{"select": "body.value", "edits": [{"replace": "old", "with": "new"}]}, or edit: and the edits alone'


def read_edit(request: Request) -> Answer:
    """The changes in order, each edit's own; sizes before and after. Raises what the call itself would be told."""
    part = part_of(_spec(request))
    if part.edits is None:
        raise QueryRejected("edit: there are no edits", next_call=f"write {_EXAMPLE}")
    if attempts(part.edits):
        raise QueryRejected(
            "edit: a preview takes values, not references", next_call=f"call the tool; a failed {KEY} sends nothing"
        )
    query = part.query if part.query.block is not None else replace(part.query, block=request.query.block)
    exact = read_exact(request.sources, query, request.context)
    edited = apply_edits(exact.text, edits_of(part.edits), is_json=exact.is_json)
    units = _units(edited)
    place = request.position
    if place and place[0] >= len(units):
        raise stale("", "")
    fitted = fit(units, request.budget, request.context.counter, place)
    changes = sum(len(step.splices) for step in edited.steps)
    edits = "1 edit" if len(edited.steps) == 1 else f"{len(edited.steps)} edits"
    places = "1 place" if changes == 1 else f"{changes} places"
    shown = f"{edits} in {places} of {exact.what}, {len(exact.text)} to {len(edited.text)} characters"
    notes = (f'nothing was called; as an argument: {{"{KEY}": {{"ref": …, and the same}}}}',)
    return Answer("edit preview", shown, fitted.body, fitted.position, notes)


def _spec(request: Request) -> dict[str, Any]:
    try:
        value: Json = json.loads(request.query.text)
    except (ValueError, RecursionError):
        raise QueryRejected("edit: what stands behind it is not JSON", next_call=f"write {_EXAMPLE}") from None
    if is_object(value) and is_object(value.get(KEY)):
        value = value[KEY]
    if is_array(value):
        return {"edits": value}
    if not is_object(value):
        raise QueryRejected("edit: takes edits", next_call=f"write {_EXAMPLE}")
    if "edits" not in value and "edit" not in value:
        return {"edits": [value]}
    refs = "+".join(source.ref for source in request.sources)
    if value.get("ref", refs) != refs:
        raise QueryRejected("edit: names another ref than result_ref", next_call="leave ref out")
    return {key: item for key, item in value.items() if key != "ref"}


def _units(edited: Edited) -> list[str]:
    units: list[str] = []
    for number, step in enumerate(edited.steps, 1):
        lines = LineIndex.of(step.before)
        if len(edited.steps) > 1:
            units.append(f"edit {number}: {step.edit.kind}")
        units.extend(_hunk(step, splice, lines) for splice in step.splices)
    return units


def _hunk(step: Step, splice: Splice, lines: LineIndex) -> str:
    """One change: where, the old text and the new one, with what surrounds them on their lines."""
    text = step.before
    start, end = splice.start, splice.end
    low = max(text.rfind("\n", 0, start) + 1, start - _CONTEXT)
    stop = text.find("\n", end)
    high = min(len(text) if stop < 0 else stop, end + _CONTEXT)
    before, after = text[low:start], text[end:high]
    number = lines.number_at(start)
    where = f"@@ line {number} @@" if lines.count > 1 else f"@@ character {start} @@"
    removed = _side("-", f"{before}{_clipped(text[start:end])}{after}")
    return printable("\n".join([where, *removed, *_side("+", f"{before}{_clipped(splice.new)}{after}")]))


def _clipped(text: str) -> str:
    if len(text) <= _SIDE_CHARS:
        return text
    half = _SIDE_CHARS // 2
    return f"{text[:half]}…(+{len(text) - 2 * half})…{text[-half:]}"


def _side(sign: str, text: str) -> list[str]:
    rows = text.split("\n")
    shown = [f"{sign}{row.removesuffix(chr(13))}" for row in rows[:_LINES]]
    return [*shown, f"{sign}… {len(rows) - _LINES} lines"] if len(rows) > _LINES else shown
