"""Native mode: the authorised tools under names that the strictest hosts accept; pure, deterministic, reversible."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slimguard.canonical import digest_of, survives
from slimguard.frame import safe_text
from slimguard.host.surface import DEFINITIONS, READ
from slimguard.model import Json, JsonObject, Tool, is_array, is_object
from slimguard.policy import NATIVE_NAME_CHARS

_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]+")
_DIGEST_CHARS = 6
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


@dataclass(frozen=True, slots=True)
class NativeSurface:
    """What the host lists, and which tool a listed name means."""

    definitions: tuple[JsonObject, ...]
    by_name: Mapping[str, Tool]


def native_surface(tools: Sequence[Tool]) -> NativeSurface:
    """Definitions and names of `tools`, then `read_result`; the same tools always get the same names."""
    names = native_names(tools)
    read = next(dict(definition) for definition in DEFINITIONS if definition["name"] == READ)
    definitions = (*(_definition(name, tool) for name, tool in names.items()), read)
    return NativeSurface(definitions, names)


def native_names(tools: Sequence[Tool]) -> dict[str, Tool]:
    """A legal, unique name for each tool: its own where that is unique, else `server_tool`, else with a digest.

    Legal is `[A-Za-z0-9_-]`, at most `policy.NATIVE_NAME_CHARS` characters (Claude Desktop, Gemini CLI, Cursor).
    """
    counts: dict[str, int] = {READ: 1}
    for tool in tools:
        own = _legal(tool.name)
        counts[own] = counts.get(own, 0) + 1
    names: dict[str, Tool] = {}
    for tool in tools:
        own = _legal(tool.name)
        candidates = [own] if counts[own] == 1 and own == tool.name else []
        candidates += [_legal(f"{tool.server}_{tool.name}")]
        free = (name for name in candidates if len(name) <= NATIVE_NAME_CHARS and name not in names and name != READ)
        names[next(free, _shortened(tool))] = tool
    return names


def _legal(name: str) -> str:
    return _ILLEGAL.sub("_", name).strip("_") or "tool"


def _shortened(tool: Tool) -> str:
    mark = digest_of(tool.id.encode("utf-8"))[:_DIGEST_CHARS]
    return f"{_legal(tool.name)[: NATIVE_NAME_CHARS - _DIGEST_CHARS - 1]}_{mark}"


def _definition(name: str, tool: Tool) -> JsonObject:
    """The definition without `outputSchema`, which a view would break; a changed name is explained in the text.

    A host drops the whole list for one part of a wrong type, so only what is well formed is taken over.
    """
    out: dict[str, Json] = {"name": name}
    title, hints = tool.definition.get("title"), tool.annotations
    if isinstance(title, str):
        out["title"] = safe_text(title)
    description = f"{tool.id}: {tool.description}".strip(": ") if name != tool.name else tool.description
    if description:
        out["description"] = safe_text(description)
    kept = {key: hints[key] for key in _HINTS if isinstance(hints.get(key), bool)}
    if isinstance(hints.get("title"), str):
        kept["title"] = safe_text(str(hints["title"]))
    if kept:
        out["annotations"] = kept
    out["inputSchema"] = _listed_schema(tool.input_schema)
    return out


def _listed_schema(schema: Json) -> JsonObject:
    """The input schema as hosts accept it; one that they would not is replaced by any object, and checked by us."""
    if not is_object(schema) or schema.get("type") != "object" or not survives(schema):
        return {"type": "object"}
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not is_object(properties) or not is_array(required) or not all(isinstance(key, str) for key in required):
        return {"type": "object"}
    if all(is_object(item) for item in properties.values()):
        return schema
    listed = {key: _as_object(item) for key, item in properties.items()}
    return {**schema, "properties": listed} if all(map(is_object, listed.values())) else {"type": "object"}


def _as_object(schema: Json) -> Json:
    """A boolean schema as the object that means the same."""
    return ({} if schema else {"not": {}}) if isinstance(schema, bool) else schema
