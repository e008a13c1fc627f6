"""Find the references in an argument tree and put values in their place; bounded, and never into what was put in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from slimguard import policy
from slimguard.document import Path
from slimguard.errors import RequestRejected
from slimguard.model import Json, is_array, is_object
from slimguard.references.model import KEY, Found, Reference
from slimguard.references.parsing import part_of, refs_of, spec_of

_OTHER = f"{KEY}_"


class Attempt(NamedTuple):
    """Something in the arguments that is meant as a reference: where, and what is said."""

    path: Path
    spec: dict[str, Json]


def attempts(arguments: Json) -> list[Attempt]:
    """Everything in `arguments` that is meant as a reference, outermost only; raises `RequestRejected` at a limit."""
    found: list[Attempt] = []
    for path, item in _walk(arguments):
        spec = spec_of(item)
        if spec is None:
            continue
        found.append(Attempt(path, spec))
        if len(found) > policy.REFERENCES:
            raise _too_many()
    return found


def reference_of(attempt: Attempt, depth: int = 1) -> Reference:
    """The reference that is meant, with those in its edits; raises `RequestRejected`."""
    if depth > policy.REFERENCE_DEPTH:
        raise RequestRejected(
            f"references are nested deeper than {policy.REFERENCE_DEPTH}",
            next_call="give the inner value itself, or make the change in several calls",
            code="too_deep",
        )
    part = part_of(attempt.spec)
    inner = tuple(Found(item.path, reference_of(item, depth + 1)) for item in attempts(part.edits))
    reference = Reference(refs_of(attempt.spec), part, inner)
    if count(reference) > policy.REFERENCES:
        raise _too_many()
    return reference


def count(reference: Reference) -> int:
    """How many references it is, with those inside."""
    return 1 + sum(count(item.reference) for item in reference.inner)


def replaced(tree: Json, values: Mapping[Path, Json]) -> Json:
    """A copy of `tree` along the paths of `values`, with these values there; nothing else is copied."""
    if () in values:
        return values[()]
    if not values:
        return tree
    by_step: dict[str | int, dict[Path, Json]] = {}
    for path, value in values.items():
        by_step.setdefault(path[0], {})[path[1:]] = value
    if is_object(tree):
        return {key: replaced(item, by_step[key]) if key in by_step else item for key, item in tree.items()}
    if is_array(tree):
        return [replaced(item, by_step[at]) if at in by_step else item for at, item in enumerate(tree)]
    return tree


def renamed(tree: Json, paths: Sequence[Path]) -> Json:
    """`tree` with another key for `$result` at these paths: what a schema thinks of that tells what it really takes."""
    values: dict[Path, Json] = {}
    for path in paths:
        here = tree
        for step in path:
            here = here[step]
        if is_object(here):
            values[path] = {(_OTHER if key == KEY else key): item for key, item in here.items()}
        else:
            values[path] = str(here).replace(KEY, _OTHER)
    return replaced(tree, values)


def _walk(tree: Json) -> Iterator[tuple[Path, Json]]:
    """What may be or hold a reference, in document order, by a stack; not into what is meant as one, not too deep."""
    stack: list[tuple[Path, Json]] = [((), tree)]
    while stack:
        path, item = stack.pop()
        yield path, item
        if len(path) > policy.ARGUMENT_DEPTH:
            raise RequestRejected(f"arguments are nested deeper than {policy.ARGUMENT_DEPTH}", code="too_deep")
        if is_object(item) and spec_of(item) is None:
            stack.extend(((*path, key), child) for key, child in reversed(item.items()) if _may_hold(child))
        elif is_array(item):
            stack.extend(((*path, at), item[at]) for at in range(len(item) - 1, -1, -1) if _may_hold(item[at]))


def _may_hold(value: Json) -> bool:
    """Whether a value is worth a look: large arguments are mostly numbers and texts."""
    return isinstance(value, dict | list) or (isinstance(value, str) and KEY in value)


def _too_many() -> RequestRejected:
    return RequestRejected(
        f"more than {policy.REFERENCES} references in one call",
        next_call="put the parts together with one select:, or make several calls",
        code="too_many",
    )
