"""The one reading of what a host sent as arguments that validates; decided before anything is sent, never guessed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slimguard.canonical import dump
from slimguard.model import Json, is_array, is_object
from slimguard.schema.checker import Checker
from slimguard.schema.problems import Problem


@dataclass(frozen=True, slots=True)
class Reading:
    """What `read_arguments` made of the given arguments.

    `arguments` is set when exactly one reading validates; `repaired` says in words how it differs from what was given.
    Otherwise `problems` explain the most literal reading.
    """

    arguments: dict[str, Any] | None
    repaired: str = ""
    problems: tuple[Problem, ...] = ()


def read_arguments(checker: Checker, given: Json, beside: Mapping[str, Json], *, absent: bool) -> Reading:
    """Find the one reading of what the host sent that validates, before anything is sent (DESIGN §3).

    `given` is the value of `arguments` (anything when `absent`), `beside` the unknown top-level keys that stood next to
    it. Readings, tried in this order: as given; a JSON string of an object; the whole envelope inside `arguments`; keys
    beside `arguments` moved into it; containers written as JSON strings where the schema wants a container.
    """
    literal: Json = {} if absent or given is None else given
    if is_object(literal) and not beside and checker.valid(literal):
        return Reading(literal)
    valid: list[tuple[dict[str, Any], str]] = []
    for candidate, how in _readings(checker, literal, beside):
        if checker.valid(candidate) and all(dump(candidate) != dump(other) for other, _ in valid):
            valid.append((candidate, how))
    if len(valid) == 1:
        return Reading(valid[0][0], valid[0][1])
    shown = _as_object(literal)
    problems = checker.problems(literal if shown is None else shown)
    if len(valid) > 1:
        words = f"can be read in {len(valid)} ways; give it as one JSON object inside `arguments`"
        problems = (Problem("arguments", "ambiguous", words, ""),)
    if not problems and beside:
        words = f"{', '.join(map(repr, beside))} stood beside `arguments`; put it inside `arguments`"
        problems = (Problem("arguments", "misplaced", words, ""),)
    return Reading(None, "", problems)


def _readings(checker: Checker, literal: Json, beside: Mapping[str, Json]) -> Iterator[tuple[dict[str, Any], str]]:
    bases: list[tuple[dict[str, Any], str]] = []
    direct = _as_object(literal)
    if direct is not None:
        bases.append((direct, "" if is_object(literal) else "arguments were a JSON string"))
        inner = _as_object(direct.get("arguments")) if set(direct) <= _ENVELOPE else None
        if inner is not None:
            bases.append((inner, "arguments were nested one level too deep"))
    for base, how in bases:
        value, note = base, how
        if beside:
            if not set(beside) <= _named(checker.schema) or set(base) & set(beside):
                continue
            value, note = {**base, **beside}, "keys beside arguments were moved into it"
        yield value, note
        unpacked = _unpacked(checker, value)
        if unpacked is not None:
            yield unpacked, "; ".join(filter(None, (note, "a JSON string was read as the container it holds")))


def _named(schema: Json) -> set[str]:
    properties = schema.get("properties") if is_object(schema) else None
    return set(properties) if is_object(properties) else set()


_ENVELOPE = frozenset({"arguments", "tool_ref", "name", "tool", "result_query"})


def _as_object(value: Json) -> dict[str, Any] | None:
    if is_object(value):
        return value
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return None
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return parsed if is_object(parsed) else None


def _unpacked(checker: Checker, value: dict[str, Any]) -> dict[str, Any] | None:
    """`value` with top-level JSON strings parsed where the schema wants a container and no string; None if none was."""
    properties = checker.schema.get("properties") if is_object(checker.schema) else None
    if not is_object(properties):
        return None
    out = dict(value)
    changed = False
    for key, item in value.items():
        if not isinstance(item, str) or item.lstrip()[:1] not in ("{", "["):
            continue
        if _wants_container(properties.get(key)):
            try:
                out[key] = json.loads(item)
            except (ValueError, RecursionError):
                continue
            changed = True
    return out if changed else None


def _wants_container(schema: Json) -> bool:
    if not is_object(schema):
        return False
    kind = schema.get("type")
    kinds: Sequence[Any] = kind if is_array(kind) else [kind]
    if "string" in kinds:
        return False
    if "object" in kinds or "array" in kinds or "$ref" in schema:
        return True
    groups = (schema.get(key) for key in ("anyOf", "oneOf", "allOf"))
    alternatives: list[Any] = [item for group in groups if is_array(group) for item in group]
    strings = any(is_object(item) and item.get("type") == "string" for item in alternatives)
    return not strings and any(_wants_container(item) for item in alternatives)
