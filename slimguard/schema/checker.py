"""A compiled input schema. jsonschema-rs decides: linear-time patterns, no recursion limit, nothing fetched.

Where it cannot compile a schema, jsonschema does, with `pattern` on RE2. A schema that neither can compile only demands
an object.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from slimguard.model import Json, JsonObject, is_array, is_object
from slimguard.schema.fallback import fallback_valid
from slimguard.schema.problems import Problem, fast_problems, slow_problems

_MASK = "[value]"


@dataclass(frozen=True, slots=True)
class Checker:
    """A compiled input schema. `note` says when it could not be compiled and only an object is demanded."""

    schema: Json
    valid: Callable[[Json], bool]
    problems: Callable[[Json], tuple[Problem, ...]]
    note: str = ""


def checker_for(schema: Json) -> Checker:
    """The checker of a schema; compiled once, kept for the most used schemas."""
    try:
        return _cached(json.dumps(schema, sort_keys=False))
    except (ValueError, RecursionError):
        return _object_only(schema)


@lru_cache(maxsize=256)
def _cached(text: str) -> Checker:
    return _compile(json.loads(text))


def _compile(schema: Json) -> Checker:
    if schema is True or schema in ({}, None):
        return _object_only(schema, "")
    if schema is False:
        nothing = Problem("arguments", "false", "this tool's schema admits no arguments at all", "false")
        return Checker(schema, lambda _: False, lambda _: (nothing,))
    if not is_object(schema):
        return _object_only(schema)
    try:
        return _compile_fast(schema)
    except (ValueError, RecursionError, TypeError):
        pass
    try:
        fallback_valid(schema, {})
    except (ValueError, RecursionError):
        return _object_only(schema)
    return _compile_slow(schema)


def _compile_slow(schema: dict[str, Any]) -> Checker:
    """The fallback; where a value reaches a part of the schema that cannot be used, only an object is demanded."""
    rest = _object_only(schema)

    def valid(value: Json) -> bool:
        try:
            return fallback_valid(schema, value)
        except (ValueError, RecursionError):
            return rest.valid(value)

    def problems(value: Json) -> tuple[Problem, ...]:
        try:
            return slow_problems(schema, value)
        except (ValueError, RecursionError):
            return rest.problems(value)

    return Checker(schema, valid, problems)


def _compile_fast(schema: dict[str, Any]) -> Checker:
    import jsonschema_rs as rs  # noqa: PLC0415 - 10 MB of library that no start needs

    drafts: Mapping[str, Any] = {
        "draft-04": rs.Draft4Validator,
        "draft-06": rs.Draft6Validator,
        "draft-07": rs.Draft7Validator,
        "2019-09": rs.Draft201909Validator,
        "2020-12": rs.Draft202012Validator,
    }
    plain = {key: value for key, value in schema.items() if key != "$schema"}
    try:
        validator = drafts[dialect_of(schema)](plain, offline=True, mask=_MASK, validate_formats=False)
    except rs.ValidationError as error:
        raise ValueError("no valid schema") from error
    except rs.ReferencingError as error:
        raise ValueError("a reference leads outside the schema") from error

    def problems(value: Json) -> tuple[Problem, ...]:
        return tuple(fast_problems(schema, validator.iter_errors(value), value))

    return Checker(schema, validator.is_valid, problems)


def dialect_of(schema: JsonObject) -> str:
    """The draft a schema is read by: its `$schema`, else 2020-12, but draft-07 where `items` is a list (FACTS §2)."""
    declared = str(schema.get("$schema", ""))
    for name in ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12"):
        if name in declared:
            return name
    return "draft-07" if _has_tuple_items(schema) else "2020-12"


def _has_tuple_items(schema: Json) -> bool:
    stack: list[Json] = [schema]
    while stack:
        item = stack.pop()
        if is_object(item):
            if is_array(item.get("items")):
                return True
            stack.extend(item.values())
        elif is_array(item):
            stack.extend(item)
    return False


def _object_only(
    schema: Json, note: str = "the tool's input schema cannot be compiled; only checked for an object"
) -> Checker:
    def valid(value: Json) -> bool:
        return is_object(value)

    def problems(value: Json) -> tuple[Problem, ...]:
        return (
            () if is_object(value) else (Problem("arguments", "type", "must be of type object", '{"type":"object"}'),)
        )

    return Checker(schema, valid, problems, note)
