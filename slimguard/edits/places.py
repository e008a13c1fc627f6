"""Which places of a JSON value a JSON pointer or a JMESPath expression addresses; paths, never values.

JMESPath says values; an edit needs to know where they stand. So the part of the language that addresses (fields,
indexes, slices, filters, flattening) is walked here with paths; what computes (functions outside of filters,
multi-selects) addresses nothing and is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jmespath import exceptions, parser, visitor
from rapidfuzz import process

from slimguard import policy
from slimguard.document import MISSING, Path, format_path, parse_path, value_at
from slimguard.edits.model import failed
from slimguard.model import Json, is_array, is_object

_MANY = ("projection", "filter_projection", "value_projection", "flatten", "slice")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


class Place(NamedTuple):
    """A path and what stands there: `MISSING` for a key that the object has not, or the end of an array."""

    path: Path
    value: Json


class NoPlace(Exception):
    """The expression computes a value that stands nowhere, or is no expression."""


class _Conditions(visitor.TreeInterpreter):
    """Evaluates the conditions of filters within a number of steps."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        self.steps += 1
        if self.steps > policy.EDIT_STEPS:
            raise NoPlace("it looks at too much")
        if node["type"] in ("multi_select_list", "multi_select_dict"):
            raise NoPlace("a condition cannot build lists or objects")
        return super().visit(node, *args, **kwargs)


def places(expression: str, value: Json) -> list[Place]:
    """Every place that `expression` addresses, in order; raises `QueryRejected` when that is none, or too many."""
    try:
        found, _ = addressed(expression, value)
    except NoPlace as error:
        raise failed(
            f"{expression!r} addresses no place: {error}",
            next_call='write a JSON pointer such as "/items/0/name", or JMESPath such as "items[?id==\'7\'].name"',
        ) from None
    if not found:
        raise failed(f"there is nothing at {expression!r}", next_call=_nearest(expression, value))
    if len(found) > policy.EDIT_PLACES:
        raise failed(f"{expression!r} addresses {len(found)} places; at most {policy.EDIT_PLACES:,} at once")
    return list({place.path: place for place in found}.values())


def addressed(expression: str, value: Json) -> tuple[list[Place], bool]:
    """The places, and whether the expression makes a list of them; raises `NoPlace`."""
    if expression == "" or expression.startswith("/"):
        return _pointed(expression, value), False
    try:
        tree = parser.Parser().parse(re.sub(r"^\$\.?", "", expression) or "@").parsed
    except (exceptions.JMESPathError, RecursionError):
        path = parse_path(expression)
        if path is None:
            raise NoPlace("it is neither a JSON pointer nor JMESPath") from None
        found = value_at(value, path)
        return ([] if found is MISSING else [Place(path, found)]), False
    try:
        return _Walk().visit(tree, [Place((), value)]), _is_many(tree)
    except (exceptions.JMESPathError, RecursionError, TypeError, ValueError) as error:
        raise NoPlace(str(error).split("\n")[0][:120]) from None


def _pointed(pointer: str, value: Json) -> list[Place]:
    """RFC 6901; the last key may be new, and `-` is the end of an array."""
    path: list[str | int] = []
    here = value
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    for number, step in enumerate(steps, 1):
        last = number == len(steps)
        if is_object(here):
            path.append(step)
            if step not in here:
                return [Place(tuple(path), MISSING)] if last else []
            here = here[step]
        elif is_array(here):
            index = len(here) if step == "-" else int(step) if _INDEX.fullmatch(step) else -1
            path.append(index)
            if not 0 <= index < len(here):
                return [Place(tuple(path), MISSING)] if last and index == len(here) else []
            here = here[index]
        else:
            return []
    return [Place(tuple(path), here)]


def _is_many(node: Any) -> bool:
    """Whether an expression makes a list of several places."""
    kind, children = node["type"], node["children"]
    if kind in _MANY:
        return True
    if kind in ("subexpression", "index_expression", "pipe") and children:
        return _is_many(children[-1])
    return False


class _Walk:
    """Walks an expression's tree with places instead of values."""

    def __init__(self) -> None:
        self._conditions = _Conditions()
        self._visits: dict[str, Callable[[Any, list[Place]], list[Place]]] = {
            "identity": lambda _, spots: spots,
            "current": lambda _, spots: spots,
            "field": self._field,
            "index": self._index,
            "slice": self._slice,
            "subexpression": self._steps,
            "index_expression": self._steps,
            "projection": self._projection,
            "filter_projection": self._filter,
            "value_projection": self._values,
            "flatten": self._flatten,
            "pipe": self._pipe,
        }

    def visit(self, node: Any, spots: list[Place]) -> list[Place]:
        visit = self._visits.get(node["type"])
        if visit is None:
            raise NoPlace(f"{node['type'].replace('_', ' ')} makes a new value")
        self._conditions.steps += len(spots)
        if self._conditions.steps > policy.EDIT_STEPS:
            raise NoPlace("it looks at too much")
        return visit(node, spots)

    def _field(self, node: Any, spots: list[Place]) -> list[Place]:
        key: str = node["value"]
        return [
            Place((*path, key), value.get(key, MISSING))
            for path, value in spots
            if is_object(value)
        ]  # fmt: skip

    def _index(self, node: Any, spots: list[Place]) -> list[Place]:
        out: list[Place] = []
        for path, value in spots:
            if is_array(value) and -len(value) <= node["value"] < len(value):
                index: int = node["value"] % len(value)
                out.append(Place((*path, index), value[index]))
        return out

    def _slice(self, node: Any, spots: list[Place]) -> list[Place]:
        bounds = slice(*node["children"])
        return [
            Place((*path, index), value[index])
            for path, value in spots
            if is_array(value)
            for index in range(*bounds.indices(len(value)))
        ]

    def _steps(self, node: Any, spots: list[Place]) -> list[Place]:
        for child in node["children"]:
            spots = self.visit(child, spots)
        return spots

    def _elements(self, node: Any, spots: list[Place]) -> list[Place]:
        """The elements of what `node` is: of each array, or the several places themselves."""
        found = self.visit(node, spots)
        return found if _is_many(node) else _children(found)

    def _projection(self, node: Any, spots: list[Place]) -> list[Place]:
        left, right = node["children"]
        return self.visit(right, _present(self._elements(left, spots)))

    def _filter(self, node: Any, spots: list[Place]) -> list[Place]:
        left, right, condition = node["children"]
        kept = [
            place
            for place in _present(self._elements(left, spots))
            if _is_true(self._conditions.visit(condition, place.value))
        ]
        return self.visit(right, kept)

    def _values(self, node: Any, spots: list[Place]) -> list[Place]:
        left, right = node["children"]
        inside = [
            Place((*path, key), child)
            for path, value in self.visit(left, spots)
            if is_object(value)
            for key, child in value.items()
        ]
        return self.visit(right, inside)

    def _flatten(self, node: Any, spots: list[Place]) -> list[Place]:
        out: list[Place] = []
        for place in self._elements(node["children"][0], spots):
            out.extend(_children([place]) if is_array(place.value) else [place])
        return out

    def _pipe(self, node: Any, spots: list[Place]) -> list[Place]:
        left, right = node["children"]
        found = self.visit(left, spots)
        if not _is_many(left):
            return self.visit(right, found)
        steps = _chain(right)
        if len(steps) < 2 or steps[0]["type"] != "identity" or steps[1]["type"] != "index":
            raise NoPlace("behind | only an index such as [0] picks one of several places")
        found = _present(found)
        chosen: int = steps[1]["value"]
        picked = [found[chosen]] if -len(found) <= chosen < len(found) else []
        for step in steps[2:]:
            picked = self.visit(step, picked)
        return picked


def _chain(node: Any) -> list[Any]:
    """The steps of an expression such as `[0].a.b`, one after the other."""
    if node["type"] not in ("subexpression", "index_expression"):
        return [node]
    first, *rest = node["children"]
    return [*_chain(first), *rest]


def _present(spots: Sequence[Place]) -> list[Place]:
    return [place for place in spots if place.value is not MISSING]


def _children(spots: Sequence[Place]) -> list[Place]:
    return [
        Place((*path, index), child)
        for path, value in spots
        if is_array(value)
        for index, child in enumerate(value)
    ]  # fmt: skip


def _is_true(value: Json) -> bool:
    """Truth as JMESPath has it: everything but null, false, and what is empty."""
    return not (value is None or value is False or (isinstance(value, str | list | dict) and not value))


def _nearest(expression: str, value: Json) -> str:
    """The keys that exist where a plain path stops, the nearest first."""
    path = parse_path(expression.strip("/").replace("/", ".")) if expression.startswith("/") else parse_path(expression)
    here, walked = value, list[str | int]()
    for step in path or ():
        inner = value_at(here, (int(step) if isinstance(step, str) and is_array(here) and step.isdecimal() else step,))
        if inner is MISSING:
            break
        here, walked = inner, [*walked, step]
    where = format_path(tuple(walked)) if walked else "the root"
    if is_object(here):
        keys = [str(key) for key in here]
        missing = str((path or ("",))[len(walked)]) if path and len(walked) < len(path) else ""
        near = process.extractOne(missing, keys, score_cutoff=60) if missing else None
        told = f"nearest: {near[0]}; " if near else ""
        return f"{told}keys of {where}: {', '.join(keys[:20])}{', …' if len(keys) > 20 else ''}"
    if is_array(here):
        return f"{where} is an array of {len(here)}"
    return f"{where} is no object and no array"
