"""References in arguments: read the parts, edit them, and put them in before validation; never logged, never partly.

What is put in is not looked into again, so nothing that a server returned can refer to anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slimguard import policy, readers
from slimguard.canonical import digest_of, dump
from slimguard.document import Path
from slimguard.edits import apply_edits, edits_of
from slimguard.edits.spelled import loads
from slimguard.errors import RequestRejected, SlimguardError
from slimguard.guard.masking import argument_path, has_problem, masked
from slimguard.guard.reading import Reader, opened
from slimguard.guard.services import Services
from slimguard.model import Caller, Json, Tool, is_object
from slimguard.references import KEY, Attempt, Reference, attempts, may_flow, reference_of, renamed, replaced
from slimguard.schema import Checker, Reading, read_arguments


@dataclass(frozen=True, slots=True)
class Flow:
    """One value that goes from a stored result into a call: names, size and digest, never content."""

    source: str
    target: str
    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class Expansion:
    """The reading of the arguments with every reference replaced, and the flows that sending it means."""

    reading: Reading
    flows: tuple[Flow, ...] = ()
    spelled: Mapping[Path, str] = field(default_factory=lambda: {}, repr=False)
    """JSON of values in the arguments, by path, whose numbers Python would spell otherwise."""


@dataclass(frozen=True, slots=True)
class _Value:
    """What a reference stands for: its text, or the JSON of a value."""

    text: str = field(repr=False)
    is_json: bool
    flows: tuple[Flow, ...]

    @property
    def value(self) -> Json:
        return json.loads(self.text) if self.is_json else self.text

    @property
    def spelled(self) -> Json:
        """The value, whose numbers remember their digits."""
        return loads(self.text) if self.is_json else self.text


async def expand(
    services: Services,
    caller: Caller,
    tool: Tool,
    checker: Checker,
    given: Json,
    *,
    beside: Mapping[str, Json] | None = None,
    absent: bool = False,
) -> Expansion:
    """The one reading of `given` (and what stood beside it) that validates, with the values of its references.

    Raises `RequestRejected` for a reference that cannot be read, edited or sent, unless the tool's schema really takes
    that very object; nothing was sent then. Without references it is `read_arguments`.
    """
    tree: dict[str, Any] = {"arguments": _object_in(given), "beside": dict(beside or {})}
    found = attempts(tree)

    def read(candidate: Json) -> Reading:
        return read_arguments(checker, candidate["arguments"], candidate["beside"], absent=absent)

    if not found:
        return Expansion(read_arguments(checker, given, beside or {}, absent=absent))
    expander = _Expander(services, caller, tool)
    failures: dict[Path, RequestRejected] = {}
    values: dict[Path, _Value] = {}
    for attempt in found:
        try:
            values[attempt.path] = await expander.value(attempt)
        except RequestRejected as error:
            failures[attempt.path] = error
    return await services.compute.run(lambda: _decided(tree, values, failures, read, checker))


def record_flows(services: Services, flows: Sequence[Flow]) -> None:
    """Write down what is about to go from one tool's result into another's call, before it is sent."""
    for flow in flows:
        services.audit.record("flow", **{"from": flow.source, "to": flow.target}, bytes=flow.bytes, digest=flow.digest)


def _object_in(given: Json) -> Json:
    """Arguments that came as a JSON string, when there are references in them; else as they are."""
    if not isinstance(given, str) or KEY not in given:
        return given
    try:
        parsed: Json = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return parsed if is_object(parsed) else given


def _decided(
    tree: dict[str, Any],
    values: Mapping[Path, _Value],
    failures: Mapping[Path, RequestRejected],
    read: Callable[[Json], Reading],
    checker: Checker,
) -> Expansion:
    """The reading to send. A reference stays as it is written only where exactly that validates."""
    flows = tuple(flow for value in values.values() for flow in value.flows)
    plain = {path: value.value for path, value in values.items()}
    expanded = replaced(tree, plain)
    if failures:
        if _really_taken(expanded, list(failures), read):
            return Expansion(read(expanded), flows)
        raise next(iter(failures.values()))
    reading = read(expanded)
    if reading.arguments is not None:
        if KEY in dump(checker.schema):
            _refuse_two_readings(tree, plain, read)
        parsed = [path for path, value in values.items() if not value.is_json and _is_parsed(reading, path)]
        retyped = _retyped(tree, values, parsed, read) if parsed else None
        final, spelled = retyped or (reading, _spelled(reading, values))
        return Expansion(final, flows, spelled)
    wrong = [path for path in values if argument_path(path) in {problem.path for problem in reading.problems}]
    retyped = _retyped(tree, values, wrong, read) if wrong else None
    if retyped is not None:
        return Expansion(retyped[0], flows, retyped[1])
    left = {path: value for path, value in plain.items() if not has_problem(path, reading)}
    literal = [path for path in plain if path not in left]
    if literal and _really_taken(replaced(tree, left), literal, read):
        kept = tuple(flow for path in left for flow in values[path].flows)
        return Expansion(read(replaced(tree, left)), kept)
    return Expansion(replace(reading, problems=tuple(masked(item, list(values)) for item in reading.problems)), ())


def _is_parsed(reading: Reading, path: Path) -> bool:
    """Whether the text that a reference gave was read as the JSON in it."""
    if not reading.repaired or path[0] != "arguments":
        return False
    here: Any = reading.arguments
    try:
        for step in path[1:]:
            here = here[step]
    except (KeyError, IndexError, TypeError):
        return False
    return not isinstance(here, str)


def _retyped(
    tree: dict[str, Any], values: Mapping[Path, _Value], paths: Sequence[Path], read: Callable[[Json], Reading]
) -> tuple[Reading, dict[Path, str]] | None:
    """The reading with the values at `paths` as the other type, JSON for a text and a text for JSON, if it fits."""
    other = {path: _other_type(values[path]) for path in paths}
    reading = read(replaced(tree, {path: value.value for path, value in values.items()} | other))
    if reading.arguments is None:
        return None
    now = {
        path: replace(value, is_json=not isinstance(other[path], str)) if path in other else value
        for path, value in values.items()
    }
    why = "a reference was read as the type that the schema wants"
    return replace(reading, repaired=why), _spelled(reading, now)


def _spelled(reading: Reading, values: Mapping[Path, _Value]) -> dict[Path, str]:
    """What must be sent as it is spelled; nothing when the arguments were taken apart, where paths may not hold."""
    if reading.repaired:
        return {}
    found = {path[1:]: value.text for path, value in values.items() if value.is_json and path[0] == "arguments"}
    return {path: text for path, text in found.items() if path and _loses_digits(text)}


def _loses_digits(text: str) -> bool:
    other: list[str] = []

    def number(digits: str) -> float:
        value = float(digits)
        if repr(value) != digits:
            other.append(digits)
        return value

    json.loads(text, parse_float=number)
    return bool(other)


def _really_taken(tree: Json, paths: Sequence[Path], read: Callable[[Json], Reading]) -> bool:
    """Whether the schema takes the objects at `paths` as they are, and because they have just this key."""
    return read(tree).arguments is not None and read(renamed(tree, paths)).arguments is None


def _refuse_two_readings(tree: Json, plain: Mapping[Path, Json], read: Callable[[Json], Reading]) -> None:
    for path in plain:
        literal = replaced(tree, {other: value for other, value in plain.items() if other != path})
        if _really_taken(literal, [path], read):
            raise RequestRejected(
                f"{argument_path(path)} can be read as a reference and as the object that the schema takes",
                next_call="give the value itself there",
                code="ambiguous_reference",
            )


def _other_type(value: _Value) -> Json:
    """The JSON value for a text, the JSON text for a value: for a schema that wants the other."""
    if value.is_json:
        return value.text
    try:
        return json.loads(value.text)
    except (ValueError, RecursionError):
        return value.text


class _Expander:
    """Reads the references of one call: each ref is opened once, and all of them share one limit of bytes."""

    def __init__(self, services: Services, caller: Caller, tool: Tool) -> None:
        self._services = services
        self._caller = caller
        self._tool = tool
        self._sources: dict[str, readers.Source] = {}
        self._count = 0
        self._bytes = 0

    async def value(self, attempt: Attempt) -> _Value:
        """What one reference stands for; raises `RequestRejected`."""
        return await self._value(reference_of(attempt))

    async def _value(self, reference: Reference) -> _Value:
        self._count += 1
        if self._count > policy.REFERENCES:
            raise RequestRejected(
                f"more than {policy.REFERENCES} references in one call",
                next_call="put the parts together with one select:, or make several calls",
                code="too_many",
            )
        inner = {item.path: await self._value(item.reference) for item in reference.inner}
        sources = [await self._source(ref) for ref in dict.fromkeys(reference.refs)]
        context = await Reader(self._services, self._caller).context()

        def work() -> tuple[str, bool]:
            part = readers.read_exact(sources, reference.part.query, context)
            if reference.part.edits is None:
                return part.text, part.is_json
            edits = edits_of(replaced(reference.part.edits, {path: item.spelled for path, item in inner.items()}))
            return apply_edits(part.text, edits, is_json=part.is_json, keep_steps=False).text, part.is_json

        text, is_json = await self._services.compute.run(work)
        data = text.encode("utf-8", "surrogatepass")
        self._bytes += len(data)
        if self._bytes > policy.REFERENCE_BYTES:
            raise RequestRejected(
                f"the references put more than {policy.REFERENCE_BYTES // 2**20} MiB into one call",
                next_call="refer to a part: select, lines, items or bytes",
                code="too_large",
            )
        names = dict.fromkeys(f"{source.call.server}/{source.call.tool}" for source in sources)
        flows = tuple(Flow(name, self._tool.id, len(data), digest_of(data)) for name in names)
        return _Value(text, is_json, (*(flow for item in inner.values() for flow in item.flows), *flows))

    async def _source(self, ref: str) -> readers.Source:
        """A stored result of this caller that may flow to this tool; what it says of refs, reading says too."""
        known = self._sources.get(ref)
        if known is not None:
            return known
        try:
            stored, document = await opened(self._services, self._caller, ref)
        except RequestRejected:
            raise
        except SlimguardError as error:
            raise RequestRejected(error.message, next_call=error.next_call, code=error.code) from None
        self._permit((stored.server, stored.tool))
        source = self._sources[ref] = readers.Source(ref, document, stored)
        return source

    def _permit(self, source: tuple[str, str]) -> None:
        settings = self._services.settings()
        if may_flow(source, (self._tool.server, self._tool.name), settings.flows_allow, settings.flows_deny):
            return
        name = f"{source[0]}/{source[1]}"
        self._services.audit.record("flow refused", **{"from": name, "to": self._tool.id})
        denied = source[0] == self._tool.server or may_flow(
            source, (self._tool.server, self._tool.name), settings.flows_allow, ()
        )
        rule = f'"{source[0]} -> {self._tool.server}"'
        setting = "slimguard.flows.deny forbids it" if denied else f"slimguard.flows.allow: [{rule}] would allow it"
        raise RequestRejected(
            f"a result of {name} may not go to {self._tool.id}: {setting}",
            next_call="ask the user to change that setting, or give the value itself where that is right",
            code="flow_refused",
        )
