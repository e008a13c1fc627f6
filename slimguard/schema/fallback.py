"""Validation in pure Python for schemas that jsonschema-rs cannot compile; patterns run on RE2, nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from slimguard.document.paths import Path
from slimguard.model import Json, is_object


def fallback_valid(schema: Json, value: Json) -> bool:
    """Whether `value` validates; raises ValueError or RecursionError when the schema itself cannot be used."""
    return next(fallback_errors(schema, value), None) is None


def fallback_errors(schema: Json, value: Json) -> Iterator[tuple[Path, Path, str]]:
    """Path in the value, path in the schema, and keyword of each broken rule."""
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - a heavy import, rarely needed
    from referencing.exceptions import Unresolvable  # noqa: PLC0415

    validator = _validator(schema)
    try:
        for error in validator.iter_errors(value):
            yield tuple(error.absolute_path), tuple(error.absolute_schema_path), str(error.validator)
    except (Unresolvable, SchemaError) as error:
        raise ValueError("the schema cannot be used") from error


def _validator(schema: Json) -> Any:
    import jsonschema  # noqa: PLC0415
    import jsonschema.validators  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415

    library: Any = jsonschema.validators
    base: Any = library.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        base.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ValueError("no valid schema") from error
    empty: Any = Registry
    kind: Any = library.extend(base, {"pattern": _pattern, "patternProperties": _pattern_properties})
    return kind(schema, registry=empty())


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:
    import re2  # noqa: PLC0415

    engine: Any = re2
    options = engine.Options()
    options.log_errors = False
    try:
        return engine.compile(pattern, options)
    except engine.error:
        return None


def _pattern(_validator: Any, pattern: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError  # noqa: PLC0415

    if not isinstance(instance, str):
        return
    compiled = _compiled(pattern)
    if compiled is not None and compiled.search(instance) is None:
        yield ValidationError("does not match the pattern")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if not is_object(instance):
        return
    for pattern, subschema in patterns.items():
        compiled = _compiled(pattern)
        for key, value in instance.items():
            if compiled is not None and compiled.search(key) is not None:
                yield from validator.descend(value, subschema, path=key, schema_path=pattern)
