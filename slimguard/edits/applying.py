"""Apply edits one after the other to a text or to JSON as text: all or nothing, and only their targets change."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from slimguard import policy
from slimguard.document import MISSING, JsonText, json_in
from slimguard.document.jsontext import too_deep
from slimguard.edits.model import Edit, Splice, Step, failed
from slimguard.edits.places import Place, places
from slimguard.edits.spans import Literal, Spans, literals
from slimguard.edits.structure import append_splice, insert_splice, remove_splices, set_splices, written
from slimguard.edits.texts import checked, line_of, not_found, occurrences, suited, text_splices
from slimguard.errors import QueryRejected
from slimguard.model import is_array, is_object


@dataclass(frozen=True, slots=True)
class Edited:
    """The text after all edits, and what each did where that was kept."""

    text: str
    steps: tuple[Step, ...]


def apply_edits(text: str, edits: Sequence[Edit], *, is_json: bool = False, keep_steps: bool = True) -> Edited:
    """Apply `edits` in order, each to what the one before it made.

    `is_json` says that `text` is the JSON of one value, which it stays; else it is a text, in which JSON may stand.
    Without `keep_steps` the texts in between are let go. Raises `QueryRejected` at the first edit that cannot be made;
    then nothing of it is used.
    """
    steps: list[Step] = []
    work = 0
    for number, edit in enumerate(edits, 1):
        work += len(text)
        if work > policy.EDIT_WORK_CHARS and number > 1:
            raise failed(
                f"{len(edits)} edits of {len(text):,} characters are too much at once",
                next_call="edit a part (select, lines), or make them in several calls",
            )
        try:
            splices = tuple(_splices(edit, text, is_json=is_json))
        except QueryRejected as error:
            if len(edits) == 1:
                raise
            message = f"edit {number} of {len(edits)}: {error.message}; none was made"
            raise failed(message, next_call=error.next_call, detail=error.detail) from None
        if keep_steps:
            steps.append(Step(edit, text, splices))
        text = spliced(text, splices)
    return Edited(text, tuple(steps))


def spliced(text: str, splices: Sequence[Splice]) -> str:
    """`text` with its splices made, which are in order and do not overlap; raises when it grows too large."""
    grown = sum(len(splice.new) - (splice.end - splice.start) for splice in splices)
    if len(text) + grown > policy.REFERENCE_BYTES and grown > 0:
        raise failed(f"the edit makes more than {policy.REFERENCE_BYTES // 2**20} MiB", next_call="change less at once")
    parts: list[str] = []
    position = 0
    for splice in splices:
        parts += [text[position : splice.start], splice.new]
        position = splice.end
    return "".join([*parts, text[position:]])


def _splices(edit: Edit, text: str, *, is_json: bool) -> list[Splice]:
    found = whole_json(text) if is_json else json_in(text)
    if edit.kind in ("set", "remove"):
        return _structural(edit, _needed(edit, found, text))
    if edit.path is not None:
        return _inside(edit, _needed(edit, found, text))
    if found is None:
        return text_splices(edit, text)
    json_text = _Json(text, found, is_json)
    if edit.kind == "append" and (is_json or not isinstance(edit.value, str)):
        return _appended(edit, json_text, [Place((), found.value)])
    if edit.kind == "insert":
        return _inserted(edit, json_text)
    if edit.kind == "replace":
        return _replaced(edit, json_text)
    return text_splices(edit, text)


@dataclass(frozen=True, slots=True)
class _Json:
    """A text, the JSON in it, and whether it is nothing but that."""

    text: str
    found: JsonText
    is_json: bool

    @property
    def spans(self) -> Spans:
        return Spans.of(self.text, self.found)


def whole_json(text: str) -> JsonText:
    """The JSON value, a scalar too, that `text` is known to be."""
    value = json.loads(text)
    start = len(text) - len(text.lstrip(" \t\r\n"))
    return JsonText("whole", value, start, len(text.rstrip(" \t\r\n")))


def _needed(edit: Edit, found: JsonText | None, text: str) -> _Json:
    if found is None:
        advice = 'replace it with ""' if edit.kind == "remove" else "replace, insert and append change texts"
        raise failed(f"{edit.kind}: the text is not JSON, so it has no places", next_call=advice)
    return _Json(text, found, is_json=False)


def _structural(edit: Edit, target: _Json) -> list[Splice]:
    addressed = places(edit.path or "", target.found.value)
    if edit.kind == "remove":
        return remove_splices(target.spans, addressed)
    if not addressed[0].path and target.found.form in ("lines", "several"):
        raise failed("set: several JSON values cannot be set as one", next_call='address one, such as "/0"')
    return set_splices(target.spans, addressed, written(edit.value, target.text))


def _inside(edit: Edit, target: _Json) -> list[Splice]:
    """An edit that stays inside the texts (or, for `append`, the arrays) at its path."""
    addressed = [place for place in places(edit.path or "", target.found.value) if place.value is not MISSING]
    if not addressed:
        raise failed(f"{edit.kind}: there is nothing at {edit.path!r}")
    if edit.kind == "append" and all(is_array(place.value) for place in addressed):
        return _appended(edit, target, addressed)
    splices: list[Splice] = []
    errors: list[QueryRejected] = []
    spans = target.spans
    for place in addressed:
        child = spans.child(place.path)
        if child is None or not isinstance(place.value, str):
            raise failed(f"{edit.kind}: what stands at {edit.path!r} is no text", next_call="set replaces a value")
        literal = Literal.of(target.text, child.value, child.end)
        try:
            made = text_splices(edit, literal.text)
        except QueryRejected as error:
            errors.append(error)
            continue
        splices.extend(_raw(splice, literal, target.text) for splice in made)
    if errors and (len(addressed) == 1 or not splices):
        raise errors[0]
    if len(addressed) > 1 and len(splices) > 1 and not edit.every and edit.kind == "replace":
        raise failed(f"replace: the text stands in {len(splices)} of these places", next_call='add "all": true')
    return sorted(splices, key=lambda splice: splice.start)


def _appended(edit: Edit, target: _Json, addressed: Sequence[Place]) -> list[Splice]:
    several = target.found.form in ("lines", "several")
    if not all(is_array(place.value) for place in addressed):
        raise failed("append: this is no array", next_call='name the array or the text: "in": "/items"')
    if several and any(not place.path for place in addressed) and not target.found.value:
        raise failed("append: there is no value yet")
    new = written(edit.value, target.text)
    return sorted((append_splice(target.spans, place.path, new) for place in addressed), key=lambda item: item.start)


def _inserted(edit: Edit, target: _Json) -> list[Splice]:
    """Before or after an array's element when the anchor is the pointer of one, else in the text."""
    if edit.anchor.startswith("/"):
        try:
            found = places(edit.anchor, target.found.value)
        except QueryRejected:
            found = []
        if found and found[0].path and isinstance(found[0].path[-1], int):
            if found[0].value is MISSING:
                return [append_splice(target.spans, found[0].path[:-1], written(edit.value, target.text))]
            return [insert_splice(target.spans, found[0].path, edit.side, written(edit.value, target.text))]
    if not isinstance(edit.value, str):
        raise failed("insert: a value goes before or after an array's element", next_call='write "after": "/items/3"')
    if line_of(edit) is not None:
        return _kept_json(target, text_splices(edit, target.text))
    return _at_matches(edit, target)


def _at_matches(edit: Edit, target: _Json) -> list[Splice]:
    """Insert at a match inside the texts of the JSON."""
    out: list[Splice] = []
    for start, end, literal in _matches(edit, edit.anchor, target):
        place = end if edit.side == "after" else start
        new = suited(str(edit.value), literal.text if literal is not None else target.text)
        out.append(Splice(place, place, new if literal is None else _escaped(new, target.text)))
    return _kept_json(target, out)


def _replaced(edit: Edit, target: _Json) -> list[Splice]:
    out: list[Splice] = []
    for start, end, literal in _matches(edit, str(edit.value), target):
        new = suited(edit.new, literal.text if literal is not None else target.text)
        out.append(Splice(start, end, new if literal is None else _escaped(new, target.text)))
    return _kept_json(target, out)


def _matches(edit: Edit, wanted: str, target: _Json) -> list[tuple[int, int, Literal | None]]:
    """Where `wanted` stands: inside string literals as they read, elsewhere as the characters are written."""
    text, found = target.text, target.found
    strings = literals(text, found.start, found.end)
    starts = [start for start, _ in strings]
    out: list[tuple[int, int, Literal | None]] = []
    for start, end in strings:
        if "\\" not in text[start:end] and text.find(wanted, start + 1, end - 1) < 0:
            continue
        literal = Literal.of(text, start, end)
        here = occurrences(wanted, literal.text) or occurrences(suited(wanted, literal.text), literal.text)
        out.extend((literal.offset(first), literal.offset(last), literal) for first, last in here)
    for first, last in occurrences(wanted, text) or occurrences(suited(wanted, text), text):
        place = bisect_right(starts, first) - 1
        within = place >= 0 and strings[place][0] < first and last < strings[place][1]
        if not within:
            out.append((first, last, None))
    if not out:
        raise not_found(edit, wanted, text)
    out.sort(key=lambda item: item[:2])
    checked(edit, [item[:2] for item in out], text)
    return [item for place, item in enumerate(out) if not place or item[0] >= out[place - 1][1]]


def _raw(splice: Splice, literal: Literal, text: str) -> Splice:
    """A splice of the decoded text as one of the literal's spelling."""
    return Splice(literal.offset(splice.start), literal.offset(splice.end), _escaped(splice.new, text))


def _escaped(new: str, text: str) -> str:
    return written(new, text)[1:-1]


def _kept_json(target: _Json, splices: list[Splice]) -> list[Splice]:
    if _stays_json(target, splices):
        return splices
    raise failed("the edit would break the JSON", next_call="set and remove change values; replace changes texts in it")


def _stays_json(target: _Json, splices: Sequence[Splice]) -> bool:
    after = spliced(target.text, splices)
    if target.is_json:
        try:
            value = json.loads(after)
            return not (is_array(value) or is_object(value)) or not too_deep(value)
        except (ValueError, RecursionError):
            return False
    found = json_in(after)
    return found is not None and found.form == target.found.form
