"""A broken rule in words: where, which, and the schema there; never the rejected value (P12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from slimguard.canonical import dump
from slimguard.document.paths import Path, format_path, value_at
from slimguard.model import Json, JsonObject, is_array, is_object
from slimguard.schema.fallback import fallback_errors

FRAGMENT_CHARS = 300
"""Characters of schema shown for one error."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule: where (JSON path), which keyword, in words without the rejected value, and the schema there."""

    path: str
    rule: str
    words: str
    fragment: str


def fast_problems(schema: Json, errors: Iterator[Any], value: Json) -> Iterator[Problem]:
    """Problems from jsonschema-rs errors."""
    for error in errors:
        rule = str(error.kind.name)
        schema_path: list[str | int] = list(error.schema_path)
        path: list[str | int] = list(error.instance_path)
        unexpected = getattr(error.kind, "unexpected", None) if rule == "additionalProperties" else None
        missing = getattr(error.kind, "property", None) if rule == "required" else None
        yield _problem(
            schema, tuple(path), tuple(schema_path), rule, missing=missing, unexpected=unexpected, value=value
        )


def slow_problems(schema: Json, value: Json) -> tuple[Problem, ...]:
    """Problems from the fallback validator."""
    return tuple(
        _problem(schema, path, where, rule, value=value) for path, where, rule in fallback_errors(schema, value)
    )


def _problem(
    schema: Json,
    path: Path,
    schema_path: Path,
    rule: str,
    *,
    missing: Any = None,
    unexpected: Any = None,
    value: Json = None,
) -> Problem:
    parent = value_at(schema, schema_path[:-1])
    if not is_object(parent):
        parent = {}
    limit = parent.get(rule)
    words = _words(rule, parent, missing=missing, unexpected=unexpected, value=value_at(value, path))
    fragment = {rule: limit} if rule in parent else {}
    if rule == "required" and isinstance(missing, str):
        properties = parent.get("properties")
        fragment = {missing: properties.get(missing, {})} if is_object(properties) else fragment
    elif rule in ("type", "enum", "const", "pattern", "minimum", "maximum", "format") and "description" in parent:
        fragment["description"] = parent["description"]
    text = dump(fragment)
    return Problem(
        _argument_path(path), rule, words, text if len(text) <= FRAGMENT_CHARS else text[:FRAGMENT_CHARS] + "…"
    )


def _argument_path(path: Path) -> str:
    return "arguments" if not path else f"arguments{'' if isinstance(path[0], int) else '.'}{format_path(path)}"


def _words(rule: str, parent: JsonObject, *, missing: Any, unexpected: Any, value: Any) -> str:
    limit = parent.get(rule)
    if rule == "required":
        names = [missing] if isinstance(missing, str) else _lacking(limit, value)
        return f"missing {', '.join(repr(name) for name in names)}" if names else "a required property is missing"
    if rule in ("additionalProperties", "unevaluatedProperties"):
        names = unexpected if is_array(unexpected) else _surplus(parent, value)
        properties = parent.get("properties")
        known = ", ".join(map(str, properties)) if is_object(properties) and properties else "none"
        return f"unexpected {', '.join(repr(str(name)) for name in names) or 'property'}; known: {known}"
    if rule == "type":
        return f"must be of type {' or '.join(map(str, limit)) if is_array(limit) else limit}"
    if rule in ("enum", "const"):
        return f"must be {'one of ' if rule == 'enum' else ''}{dump(limit)[:200]}"
    if rule == "pattern":
        return "must match the pattern"
    if rule in ("anyOf", "oneOf"):
        return "must match one of the alternatives" if rule == "anyOf" else "must match exactly one of the alternatives"
    return f"breaks {rule}{'' if limit is None or is_object(limit) else ' ' + dump(limit)[:80]}"


def _lacking(required: Json, value: Any) -> list[str]:
    if not is_array(required) or not is_object(value):
        return []
    return [str(name) for name in required if name not in value]


def _surplus(parent: JsonObject, value: Any) -> list[str]:
    properties = parent.get("properties")
    if not is_object(value) or not is_object(properties):
        return []
    return [name for name in value if name not in properties]
