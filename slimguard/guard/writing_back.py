"""The one line that says how a shortened result is changed and written back; pure, and no hint rather than a wrong one.

The rule. A tool that reads a thing (`get_page`) has on the same server exactly one that writes that thing
(`update_page`): its name has a writing verb and the same other words, and the server does not mark it read-only. The
result holds one value that makes up most of it: its text, one long string in its JSON, or one container. The writing
tool's schema has a property for it: named as the value's key or one above it, as the thing, or the only one with a name
of a text (`content`, `body`, …), and of that type. Its other required properties come from the arguments of the reading
call by the same name, and else are marked `<name>`. Anything missing or twofold: no hint.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from slimguard.canonical import dump
from slimguard.document import Document, Path, format_path, walk
from slimguard.model import Json, JsonObject, Tool, is_array, is_object
from slimguard.references import KEY
from slimguard.schema import checker_for

_READING = frozenset("get read fetch load show view open retrieve download export cat".split())  # noqa: SIM905
_WRITING = frozenset("update put write set save replace modify overwrite edit store".split())  # noqa: SIM905
_VAGUE = frozenset("a the by id ids content contents full raw whole one single body text".split())  # noqa: SIM905
_TEXTS = ("content", "body", "text", "contents", "markdown", "html", "source", "data", "value")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PLACEHOLDER = "<exact old text>"
_MOST = 0.5
_LOOKED_AT = 2_000
_CHARS = 700


class _Value(NamedTuple):
    """The value that makes up most of a result: its path in the JSON (None for the text) and its JSON type."""

    path: Path | None
    kind: str
    sample: Json


def write_back(
    reading: Tool, arguments: JsonObject, document: Document, ref: str, tools: Sequence[Tool], *, native: bool = False
) -> str:
    """The hint for a result of `reading` that was called with `arguments`, or an empty text."""
    if document.is_error or document.kind != "result":
        return ""
    writing = _writing_tool(reading, tools)
    value = _main_value(document) if writing is not None else None
    if writing is None or value is None:
        return ""
    schema = writing.input_schema
    properties = schema.get("properties") if is_object(schema) else None
    if not is_object(schema) or not is_object(properties):
        return ""
    field = _field(properties, value, reading)
    if field is None:
        return ""
    known = {name: item for name, item in arguments.items() if name in properties and name != field}
    if not checker_for({**schema, "required": []}).valid({**known, field: value.sample}):
        return ""
    required: Any = schema.get("required")
    names = [str(name) for name in required] if is_array(required) else []
    missing = {name: f"<{name}>" for name in names if name != field and name not in known}
    given = {**known, **missing, field: {KEY: _reference(ref, value)}}
    call = f"arguments={dump(given)}"
    told = f"{writing.name} with {call}" if native else f'call_tool(tool_ref="{writing.ref}", {call})'
    line = f"to change it and write it back, put your own texts for <…>: {told}"
    return line if len(line) <= _CHARS else ""


def _reference(ref: str, value: _Value) -> dict[str, Any]:
    out: dict[str, Any] = {"ref": ref}
    if value.path is not None:
        out["select"] = format_path(value.path)
    edit = (
        {"replace": _PLACEHOLDER, "with": "<new text>"}
        if value.kind == "string"
        else {"set": "<path>", "to": "<new value>"}
    )
    return {**out, "edits": [edit]}


def _writing_tool(reading: Tool, tools: Sequence[Tool]) -> Tool | None:
    """The one tool of the same server that writes what `reading` reads."""
    verb, thing = _verb_and_thing(reading.name, _READING)
    if not verb:
        return None
    found = [
        tool
        for tool in tools
        if tool.server == reading.server
        and not tool.read_only
        and _verb_and_thing(tool.name, _WRITING) == (True, thing)
    ]
    return found[0] if len(found) == 1 else None


def _verb_and_thing(name: str, verbs: frozenset[str]) -> tuple[bool, frozenset[str]]:
    words = [word.lower() for word in _WORD.findall(name)]
    verb = next((word for word in words if word in verbs), None)
    return verb is not None, frozenset(word for word in words if word != verb and word not in _VAGUE)


def _main_value(document: Document) -> _Value | None:
    """The text, the long string or the container that is more than half of the main block."""
    block = document.main
    if block is None or block.text is None or block.type == "raw":
        return None
    if block.json is None:
        return None if _PLACEHOLDER in block.text else _Value(None, "string", block.text[:100])
    if block.json.form != "whole":
        return None
    least = len(block.text) * _MOST
    best: tuple[Path, Json] | None = None
    for path, item in walk(block.json.value, depth=6, limit=_LOOKED_AT):
        if isinstance(item, str) and len(item) >= least and _PLACEHOLDER not in item:
            return _Value(path, "string", item)
        container = is_object(item) or is_array(item)
        if len(path) == 1 and container and best is None and len(dump(item)) >= least:
            best = path, item
    path, item = best or ((), block.json.value)
    return _Value(path, "array" if is_array(item) else "object", item)


def _field(properties: JsonObject, value: _Value, reading: Tool) -> str | None:
    """The property of the writing tool that takes the value."""
    for step in reversed(value.path or ()):
        if isinstance(step, str) and step in properties and _takes(properties[step], value.kind):
            return step
    thing = _verb_and_thing(reading.name, _READING)[1]
    named = [name for name in properties if frozenset(map(str.lower, _WORD.findall(name))) == thing]
    if value.kind != "string":
        return named[0] if len(named) == 1 and _takes(properties[named[0]], value.kind) else None
    texts = [name for name in properties if name.lower() in _TEXTS and _takes(properties[name], "string")]
    return texts[0] if len(texts) == 1 else None


def _takes(schema: Json, kind: str) -> bool:
    """Whether a property is declared with this type, and as nothing else."""
    return is_object(schema) and schema.get("type") == kind and "enum" not in schema and "const" not in schema
