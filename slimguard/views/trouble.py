"""Signs of trouble in JSON: failed states, errors, exit codes, restarts; by path, with the records they stand in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from slimguard.canonical import dump
from slimguard.document.shapes import shape_of_object
from slimguard.model import Json, is_array, is_object
from slimguard.views.cells import IDENTITY, identity_of, short

NODES = 1_500_000
NAMED = 3
LINES = 8
FINE_KEPT = 20_000
"""Texts that were found to tell nothing, so that they are looked at once."""
SIGNS_A_LINE = 6
POSITIVE = ">0"
_STATE = re.compile(
    r"(?i)(?:status|state|phase|conclusion|result|outcome|level|severity|health|reason|verdict|resolution|type)$"
)
_GOOD = re.compile(r"(?i)^(?:ok|success|successful|passed|ready|healthy|available|valid|succeeded)$")
_BAD = re.compile(r"(?i)^(?:failed|error|errored|is_?error|has_?error|timed_?out|oom_?killed|crashed|broken|flaky)$")
_NUMBER = re.compile(
    r"(?i)^(?:exit_?(?:code|status)|restart_?count|restarts|(?:num_?)?(?:failures?|failed|errors?)(?:_?count)?|fail_?count|"
    r"error_?count|unhealthy.*|crash_?count|.*_failures|.*_errors)$"
)
_TEXT = re.compile(
    r"(?i)^(?:error|errors?_?message|failure|failure_?(?:message|reason)|exception|traceback|stack_?trace|last_?error)$"
)
_BAD_VALUE = re.compile(
    r"(?i)^(?:.*(?:error|fail|fatal|critical|crash|oom|panic|denied|unhealthy|evict|exception|backoff|back-off|timed?_?out|"
    r"expired|aborted|broken|blocked|rejected|degraded|unreachable|unavailable|emerg|severe|sev-?[01]\b).*|down|red|lost|"
    r"killed|stopped|unknown|cancelled|p0|blocker|warning|warn|alert|notready|pending)$"
)
_MILD = re.compile(r"(?i)^(?:warning|warn|unknown|cancelled|pending|stopped|blocked|expired|red|medium)$")
_MESSAGE_KEY = re.compile(r"(?i)^@?(?:message|msg|log|line|event|raw|summary)$")
_LOUD = re.compile(
    r"\W{0,3}(?:(?:\d{4}-\d\d-\d\d\S*|\d\d:\d\d:\d\d\S*)\s+)?\W{0,2}"
    r"(?:ERROR|FATAL|CRITICAL|PANIC|SEVERE|Traceback \(most|panic: |Unhandled |Uncaught |Exception in )"
    r"|[\w.]{1,60}(?:Error|Exception): "
)
_MESSAGES = ("message", "msg", "reason", "error", "detail", "details", "description", "summary", "title")
_CONTAINERS = frozenset((dict, list))
Category = Literal["", "state", "good", "bad", "number", "text", "message"]


@dataclass(slots=True)
class _Sign:
    """One kind of sign: where, what, how often, and the first records it stands in."""

    path: str
    value: str
    mild: bool
    count: int = 0
    peak: float = 0
    names: list[str] = field(default_factory=lambda: [])
    messages: list[str] = field(default_factory=lambda: [])

    @property
    def told(self) -> str:
        """`state.waiting.reason=CrashLoopBackOff`, or `restartCount up to 41`."""
        return f"{self.path} up to {dump(self.peak)}" if self.value == POSITIVE else f"{self.path}{self.value}"


def trouble_lines(value: Json) -> list[str]:
    """`items[].status: phase=Failed, ready=false ×2: web-1, web-7; message`, the rarest of the serious first."""
    if not is_object(value) and not is_array(value):
        return []
    signs: dict[tuple[str, str], _Sign] = {}
    totals: Counter[str] = Counter()
    fine: set[tuple[Category, str]] = set()
    for full, key, category, item, holder, record in _leaves(value, totals, fine):
        text = _sign(category, item)
        if text:
            _add(signs.setdefault((full, text), _Sign(full, text, _is_mild(text))), item, holder, key, record)
        elif isinstance(item, str) and len(fine) < FINE_KEPT:
            fine.add((category, item))
    return [_line(group) for group in _grouped(_kept(signs, totals))[:LINES]]


def _is_mild(text: str) -> bool:
    return bool(_MILD.match(text.removeprefix("=")))


def _add(sign: _Sign, item: Json, holder: dict[str, Json], key: str, record: tuple[dict[str, Json], ...]) -> None:
    sign.count += 1
    if sign.value == POSITIVE:
        sign.peak = max(sign.peak, item)
    if len(sign.names) < NAMED and (name := _named(record)) and name not in sign.names:
        sign.names.append(name)
    if len(sign.messages) < 1 and (message := _message(holder, key)):
        sign.messages.append(message)


def _kept(signs: dict[tuple[str, str], _Sign], totals: Counter[str]) -> list[_Sign]:
    """Signs that few records bear; what most of them bear is no sign, and what is mild must be rare."""
    told: dict[str, int] = {}
    for sign in signs.values():
        told[sign.path] = told.get(sign.path, 0) + sign.count
    kept = [sign for sign in signs.values() if told[sign.path] <= 5 or told[sign.path] * 2 <= totals[sign.path]]
    kept = [sign for sign in kept if not sign.mild or sign.count <= 5 or sign.count * 50 <= totals[sign.path]]
    return sorted(kept, key=lambda sign: (sign.mild, sign.count))


def _grouped(signs: list[_Sign]) -> list[list[_Sign]]:
    """Signs of the same records together."""
    groups: dict[tuple[int, tuple[str, ...], str], list[_Sign]] = {}
    for sign in signs:
        alone = "" if sign.names and sign.count <= NAMED else f"{sign.path}{sign.value}"
        groups.setdefault((sign.count, tuple(sign.names), alone), []).append(sign)
    return list(groups.values())


def _line(group: list[_Sign]) -> str:
    first = group[0]
    shared = _shared([sign.path for sign in group])
    told = ", ".join(sign.told.removeprefix(shared) for sign in group[:SIGNS_A_LINE])
    where = f"{shared.rstrip('.')}: " if len(group) > 1 and shared else shared
    names = f": {', '.join(first.names)}{' …' if first.count > len(first.names) else ''}" if first.names else ""
    messages = list(dict.fromkeys(message for sign in group for message in sign.messages))[:3]
    told_of = "".join(f"; {message}" for message in messages)
    return f"{where}{told} ×{first.count:,}{names}{told_of}"


def _shared(paths: list[str]) -> str:
    """What all paths begin with, whole steps only; with the dot behind it."""
    if len(paths) < 2:
        return ""
    steps = [path.split(".")[:-1] for path in paths]
    shared: list[str] = []
    for level in zip(*steps, strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return ".".join(shared) + "." if shared else ""


def _leaves(
    value: Json, totals: Counter[str], fine: set[tuple[Category, str]]
) -> Iterator[tuple[str, str, Category, Json, dict[str, Json], tuple[dict[str, Json], ...]]]:
    """Leaves under keys that can tell trouble: pattern of the path, key, category, value, holder, the records above.

    All are counted in `totals`; those in `fine` are passed over.
    """
    known: dict[tuple[str, tuple[str, ...]], list[tuple[str, Category, str]]] = {}
    categories: dict[str, Category] = {}
    stack: list[tuple[Json, str, tuple[dict[str, Json], ...]]] = [(value, "", ())]
    nodes = 0
    while stack and nodes < NODES:
        item, path, record = stack.pop()
        nodes += 1
        if item.__class__ is list:
            below = f"{path}[]"
            head = record[:1]
            for child in reversed(item):
                if child.__class__ is dict:
                    stack.append((child, below, (*head, child)))
                elif child.__class__ is list:
                    stack.append((child, below, record))
            continue
        keys = tuple(item)
        telling = known.get((path, keys))
        if telling is None:
            for key in keys:
                if key not in categories:
                    categories[key] = _category(key)
            telling = known[path, keys] = [
                (key, category, f"{path}.{key}" if path else key) for key in keys if (category := categories[key])
            ]
        for key, category, full in telling:
            child = item[key]
            if child is None or child.__class__ in _CONTAINERS:
                continue
            totals[full] += 1
            if child.__class__ is not str or (category, child) not in fine:
                yield full, key, category, child, item, record
        inner = [key for key, child in item.items() if child.__class__ in _CONTAINERS and child]
        if inner:
            outer = () if len(inner) == len(keys) and shape_of_object(item) == "keyed" else record
            stack.extend([(item[key], f"{path}.{key}" if path else key, outer) for key in reversed(inner)])


def _named(records: tuple[dict[str, Json], ...]) -> str:
    """The names of the outermost and the innermost record that a leaf stands in."""
    names = [name for record in records if (name := _name(record))]
    if len(names) > 1 and names[-1] not in names[0]:
        return f"{names[0]} › {names[-1]}"
    return names[0] if names else ""


def _name(item: dict[str, Json]) -> str:
    text = identity_of(item, IDENTITY)
    if text:
        return short(text, 40)
    for inner in item.values():
        if is_object(inner) and len(inner) < 40 and (text := identity_of(inner, IDENTITY)):
            return short(text, 40)
    return short(identity_of(item, ("id", "uid", "uuid", "code", "ts", "time", "timestamp", "date")), 50)


def _category(key: str) -> Category:
    if _STATE.search(key):
        return "state"
    if _GOOD.match(key):
        return "good"
    if _NUMBER.match(key):
        return "number"
    if _BAD.match(key):
        return "bad"
    if _TEXT.match(key):
        return "text"
    return "message" if _MESSAGE_KEY.match(key) else ""


def _sign(category: Category, item: Json) -> str:
    """What the sign says, such as `=Failed` or `>0`; empty when a leaf is fine."""
    if isinstance(item, bool):
        wrong = (category == "good" and not item) or (category in ("bad", "text") and item)
        return f"={dump(item)}" if wrong else ""
    if isinstance(item, int | float):
        return POSITIVE if category in ("number", "bad") and item > 0 else ""
    if not isinstance(item, str) or not item:
        return ""
    if category == "state":
        return f"={item}" if len(item) <= 48 and _BAD_VALUE.match(item) else ""
    if category == "message":
        return f"={short(item, 90)}" if _LOUD.match(item) else ""
    if category in ("text", "bad"):
        return f"={short(item, 90)}"
    return ""


def _message(holder: dict[str, Json], key: str) -> str:
    for other in _MESSAGES:
        item = holder.get(other)
        if other != key and isinstance(item, str) and len(item) > 12:
            return short(item, 120)
    return ""
