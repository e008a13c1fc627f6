"""From the JSON under `$result` to a reference; forgiving where exactly one reading is possible, never a guess."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rapidfuzz import process

from slimguard import policy
from slimguard.canonical import is_ref
from slimguard.errors import RequestRejected
from slimguard.model import Json, is_array, is_object
from slimguard.query import Kind, Query, parse
from slimguard.references.model import FORM, KEY, Part

_REFS = ("ref", "result_ref")
_EDITS = ("edits", "edit")
_PARTS = ("select", "lines", "items", "bytes", "first", "last", "raw", "query")
_KNOWN = (*_REFS, *_PARTS, "block", *_EDITS)
_EXACT: tuple[Kind, ...] = ("page", "select", "lines", "items", "bytes", "first", "last", "raw")


def spec_of(value: Json) -> dict[str, Any] | None:
    """What stands under `$result`, as an object with `ref`; None for a value that is not meant as a reference.

    An attempt is an object with `$result` whose value is a text or an object with `ref`; its other keys, when there are
    any, belong to it. A text that is the JSON of such an object is one too: models quote what a schema calls a string.
    """
    if isinstance(value, str):
        value = _quoted(value)
    if not is_object(value) or KEY not in value:
        return None
    inner = value[KEY]
    beside = {key: item for key, item in value.items() if key != KEY}
    if isinstance(inner, str):
        ref, _, query = inner.strip().partition(" ")
        return {**({"query": query.strip()} if query.strip() else {}), **beside, "ref": ref}
    if is_object(inner) and any(key in inner for key in _REFS):
        return {**beside, **inner}
    return None


def refs_of(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """The refs that a reference names; raises `RequestRejected` for what is none."""
    names = [key for key in _REFS if key in spec]
    text = spec[names[0]]
    refs = tuple(part.strip() for part in text.split("+")) if isinstance(text, str) else ()
    if len(names) > 1 or not refs:
        raise _wrong("ref is one text, the result_ref of a stored result")
    if len(refs) > policy.JOINED_REFS:
        raise _wrong(f"at most {policy.JOINED_REFS} refs can be joined with +")
    for ref in refs:
        if not is_ref(ref):
            raise RequestRejected(
                f"malformed result_ref {ref[:60]!r} in {KEY}: not a ref, or its checksum is wrong",
                next_call="copy it exactly from the answer; read_result() lists your recent results",
                code="malformed",
            )
    return refs


def part_of(spec: Mapping[str, Any]) -> Part:
    """The part and the edits that a reference (or a preview) says; raises `RequestRejected`."""
    other = [key for key in spec if key not in _KNOWN]
    if other:
        near = process.extractOne(other[0], _KNOWN, score_cutoff=60)
        known = ", ".join(key for key in _KNOWN if key not in ("result_ref", "edit", "query"))
        raise _wrong(f"{other[0][:40]!r} is not known in it{f'; nearest: {near[0]}' if near else ''}; known: {known}")
    names = [key for key in _PARTS if spec.get(key) is not None]
    edits = [key for key in _EDITS if spec.get(key) is not None]
    if len(names) > 1 or len(edits) > 1:
        raise _wrong(f"it says {' and '.join(names if len(names) > 1 else edits)}; one is possible")
    query = _query(names[0], spec[names[0]]) if names else Query("page")
    block = spec.get("block")
    if block is not None:
        if isinstance(block, bool) or not isinstance(block, int) or block < 0:
            raise _wrong("block is the number of a block, from 0")
        query = parse(f"block:{block} {_spelled(names[0], spec[names[0]]) if names else ''}")[0]
    if query.kind not in _EXACT:
        raise _wrong(f"{query.kind} finds or makes something; a part is select, lines, items, bytes or block")
    return Part(query, spec[edits[0]] if edits else None)


def _query(name: str, value: Json) -> Query:
    queries = parse(_spelled(name, value))
    if len(queries) != 1:
        raise _wrong(f"{name} gives several parts; one is possible")
    return queries[0]


def _spelled(name: str, value: Json) -> str:
    """The part as a query: `lines: 5`, `lines: [1, 5]` and `lines: "1-5"` mean what they say."""
    if is_array(value) and len(value) == 2 and all(isinstance(item, int) for item in value):
        value = f"{value[0]}-{value[1]}"
    if isinstance(value, bool) and name == "raw":
        value = ""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise _wrong(f"{name} takes a text")
    text = value.strip()
    if name == "query" or text.lower().startswith(f"{name}:"):
        return text
    return f"{name}:{text}"


def _quoted(text: str) -> Json:
    stripped = text.strip()
    if not stripped.startswith("{") or KEY not in stripped[:40] or not stripped.endswith("}"):
        return None
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        return None


def _wrong(what: str) -> RequestRejected:
    return RequestRejected(f"{KEY}: {what}", next_call=f"write {FORM}", code="bad_reference")
