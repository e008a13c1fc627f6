"""Other readings of an expression that does not parse or finds nothing: repairs, literals, another root."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from slimguard.document import format_path, walk
from slimguard.errors import QueryRejected
from slimguard.model import Json, is_array, is_object
from slimguard.readers.jmes import evaluate, is_empty, leading_keys, outside_quotes, parsed, repaired, with_literals

Root = tuple[str, Json]
"""A JSON value that expressions run on, and what answers call it."""
_PIPED = re.compile(r"\|\s*(length|keys|values|sort|max|min|sum|avg|reverse|type|to_string|to_number)(?=\s*(?:\||\Z))")
_BY_KEY = re.compile(r"(\b(?:sort_by|max_by|min_by)\([^,()]+,\s*)(?=[A-Za-z_\"])")
_KEYED = re.compile(r"\A((?:\w+|\"[^\"]+\")(?:\.(?:\w+|\"[^\"]+\"))*)\[(?=[?*\]])")
_PLAIN = re.compile(r"[A-Za-z_]\w*\Z")
_DEPTH, _WALKED = 8, 4_000
_LOOKED_AT = 400
_MAIN_NAMES = frozenset(("rows", "data", "result", "results", "items", "records", "list", "root"))
"""What people call the main array when they have not seen its name."""


def readable(expression: str) -> tuple[str, tuple[str, ...]]:
    """The expression, repaired when only the repair parses."""
    try:
        parsed(expression)
    except QueryRejected as error:
        if error.code != "select_syntax":
            raise
        fixed = repaired(expression)
        try:
            parsed(fixed)
        except QueryRejected:
            raise error from None
        return fixed, (f"read as {fixed}",)
    return expression, ()


def with_quotes(expression: str, roots: Sequence[Root]) -> str:
    """The expression with keys that are no plain names, such as `app.kubernetes.io/name`, in quotes."""
    odd = {
        step
        for _, root in roots
        for path, _ in walk(root, depth=_DEPTH, limit=_WALKED)
        for step in path[-1:]
        if isinstance(step, str) and not _PLAIN.match(step)
    }
    for key in sorted(odd, key=len, reverse=True):
        if key and key in expression:
            written = json.dumps(key, ensure_ascii=False)
            expression = outside_quotes(expression, lambda part, key=key, written=written: part.replace(key, written))
    return expression


def evaluated(
    expression: str, roots: Sequence[Root], monotonic: Callable[[], float]
) -> tuple[list[Root], QueryRejected | None]:
    """The values on all roots that have one, and the error of the first that has none."""
    found: list[Root] = []
    first: QueryRejected | None = None
    for name, value in roots:
        try:
            found.append((name, evaluate(expression, value, monotonic)))
        except QueryRejected as error:
            if error.code == "select_bound":
                raise
            first = first or error
    return found, None if found else first


def second_reading(
    expression: str, roots: Sequence[Root], monotonic: Callable[[], float]
) -> tuple[str, list[Root]] | None:
    """Another reading of an expression that found nothing, when it finds something: literals, or another root."""
    candidates = [with_literals(expression), *_rewritten(expression)]
    start, keys = leading_keys(expression)
    if keys:
        for _, value in roots:
            candidates.extend(
                f"{expression[:start]}{prefix}{expression[start:]}" for prefix in _prefixes(value, keys[0])
            )
            candidates.extend(_renamed(expression, start, keys[0], value))
    elif expression[start : start + 1] == "[":
        arrays = [format_path(path) for path in _array_paths(roots)]
        candidates.extend(f"{expression[:start]}{path}{expression[start:]}" for path in arrays)
    for candidate in dict.fromkeys([*candidates, *map(with_literals, candidates)]):
        if candidate == expression:
            continue
        try:
            found, _ = evaluated(candidate, roots, monotonic)
        except QueryRejected:
            continue
        full = [item for item in found if not is_empty(item[1])]
        if full:
            return candidate, full
    return None


def _rewritten(expression: str) -> list[str]:
    """What people mean by writings of other languages: `| length`, `.*` over an array, `[?…]` over a keyed map."""
    piped = _PIPED.sub(r"| \1(@)", expression)
    referred = _BY_KEY.sub(r"\1&", piped)
    listed = re.sub(r"\.\*(?=\.|\[|\Z|\s)", "[*]", referred)
    keyed = _KEYED.sub(r"values(\1)[", referred)
    return [piped, referred, listed, keyed]


def _renamed(expression: str, start: int, key: str, value: Json) -> list[str]:
    """The expression with its first key, which does not exist, read as a name for the only array of objects."""
    if expression[start : start + len(key)] != key or (is_object(value) and key in value):
        return []
    rest = expression[start + len(key) :]
    if is_array(value):
        return [f"{expression[:start]}{rest.lstrip('.') if rest.startswith('.') else rest or '@'}"]
    if key.lower() not in _MAIN_NAMES:
        return []
    return [f"{expression[:start]}{format_path(path)}{rest}" for path in _array_paths([("", value)])]


def _prefixes(value: Json, key: str) -> list[str]:
    """Prefixes under which `key` exists: of the elements of a root array, or in an object further in, when unique."""
    if is_array(value):
        return ["[]."] if any(is_object(item) and key in item for item in value[:50]) else []
    if not is_object(value) or key in value:
        return []
    found: list[str] = []
    level: list[tuple[str, Json]] = [(format_path((name,)), item) for name, item in value.items()]
    for _ in range(3):
        below: list[tuple[str, Json]] = []
        for path, item in level[:_LOOKED_AT]:
            if is_object(item):
                if key in item:
                    found.append(f"{path}.")
                below.extend((f"{path}.{format_path((name,))}", child) for name, child in item.items())
            elif is_array(item) and any(is_object(child) and key in child for child in item[:50]):
                found.append(f"{path}[].")
        level = below
    return found[:1] if len(found) == 1 else []


def _array_paths(roots: Sequence[Root]) -> list[tuple[str | int, ...]]:
    """Where the only array of objects of a root object stands, for `[?…]` written at the wrong root."""
    for _, value in roots:
        if is_object(value):
            arrays = [(key,) for key, item in value.items() if is_array(item) and item and is_object(item[0])]
            if len(arrays) == 1:
                return list(arrays)
    return []
