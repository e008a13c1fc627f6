"""Signs of trouble in JSON: failed states, errors, exit codes, restarts; by path, with the records they stand in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from slimguard.canonical import dump
from slimguard.document.shapes import KEYED_LEAST, shape_of_object
from slimguard.model import Json, is_array, is_object
from slimguard.views.cells import IDENTITY, identity_of, short
from slimguard.views.loud import both_ends, is_loud, loud_texts

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
    r"(?i)^(?:error|errors?_?message|failure|failure_?(?:message|reason)|exception|traceback|stack_?trace|last_?error|"
    r"panic|root_?cause|deprecated)$"
)
_BAD_VALUE = re.compile(
    r"(?i)^(?:.*(?:error|fail|fatal|critical|crash|oom|panic|denied|unhealthy|evict|exception|backoff|back-off|timed?_?out|"
    r"expired|aborted|broken|blocked|rejected|degraded|unreachable|unavailable|emerg|severe|sev-?[01]\b).*|down|red|lost|"
    r"killed|stopped|unknown|cancelled|p0|blocker|warning|warn|alert|notready|pending)$"
)
_MILD = re.compile(r"(?i)^(?:warning|warn|unknown|cancelled|pending|stopped|blocked|expired|red|medium)$")
_MESSAGE_KEY = re.compile(r"(?i)^@?(?:message|msg|log|line|event|raw|summary)$")
_MESSAGES = ("message", "msg", "reason", "error", "detail", "details", "description", "summary", "title")
_CONTAINERS = frozenset((dict, list))
_SCALARS = (str, bool, int, float)
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


@dataclass(slots=True)
class _Kind:
    """Leaves of one key in objects of one shape at one place: how many there are, and which values tell nothing."""

    path: str
    key: str
    category: Category
    fine: dict[type, set[Json]]
    count: int = 0


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to look at in objects of the same keys at the same place, and the paths of the containers in them."""

    kinds: list[_Kind]
    paths: dict[str, str]


def trouble_lines(value: Json) -> list[str]:
    """`items[].status: phase=Failed, ready=false ×2: web-1, web-7; message`, the rarest of the serious first."""
    if not is_object(value) and not is_array(value):
        return []
    signs: dict[tuple[str, str], _Sign] = {}
    totals: Counter[str] = Counter()
    for kind, item, holder, record in _leaves(value, totals):
        text = sign_of(kind.category, item)
        if text:
            sign = signs.setdefault((kind.path, text), _Sign(kind.path, text, is_mild(text)))
            _add(sign, item, holder, kind.key, record)
        elif (fine := kind.fine.get(item.__class__)) is not None and len(fine) < FINE_KEPT:
            fine.add(item)
    groups = _grouped(_kept(signs, totals))
    more = [f"… {len(groups) - LINES:,} more kinds"] if len(groups) > LINES else []
    return [*(_line(group) for group in groups[:LINES]), *more]


def is_mild(text: str) -> bool:
    """Whether a sign tells trouble only where it is rare."""
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
    value: Json, totals: Counter[str]
) -> Iterator[tuple[_Kind, Json, dict[str, Json], tuple[dict[str, Json], ...]]]:
    """Leaves under keys that can tell trouble: their kind, value, holder, the records above.

    At the end all are counted in `totals` by the pattern of their path; those that are known to be fine are passed
    over.
    """
    plans: dict[tuple[str, tuple[str, ...]], _Plan] = {}
    fine: dict[str, dict[type, set[Json]]] = {}
    lined: Counter[str] = Counter()
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
                elif child.__class__ is list and _holds_containers(child):
                    stack.append((child, below, record))
            lined[below] += len(item)
            if texts := loud_texts(item):
                kind = _Kind(below, "", "message", {})
                yield from ((kind, text, {}, record) for text in texts)
            continue
        keys = tuple(item)
        plan = plans.get((path, keys))
        if plan is None:
            plan = plans[path, keys] = _plan(path, keys, fine)
        for kind in plan.kinds:
            child = item[kind.key]
            known = kind.fine.get(child.__class__)
            if known is None:
                continue
            kind.count += 1
            if child not in known:
                yield kind, child, item, record
        inner = [key for key, child in item.items() if child.__class__ in _CONTAINERS and child]
        if inner:
            outer = () if len(inner) == len(keys) and _is_keyed(item) else record
            stack.extend([(item[key], _below(plan, path, key), outer) for key in reversed(inner)])
    totals.update(lined)
    for plan in plans.values():
        for kind in plan.kinds:
            totals[kind.path] += kind.count


def _holds_containers(items: list[Json]) -> bool:
    """Whether a list is no mere row of scalars or list of texts within a list; judged by its two ends."""
    return bool(items) and (items[0].__class__ in _CONTAINERS or items[-1].__class__ in _CONTAINERS)


def _below(plan: _Plan, path: str, key: str) -> str:
    """The path of a container under `key`, made once a plan."""
    below = plan.paths.get(key)
    if below is None:
        below = plan.paths[key] = f"{path}.{key}" if path else key
    return below


def _plan(path: str, keys: tuple[str, ...], fine: dict[str, dict[type, set[Json]]]) -> _Plan:
    """What to look at in objects of these keys at this path; `fine` holds what was found to tell nothing so far."""
    kinds: list[_Kind] = []
    for key in keys:
        category = category_of(key)
        if category:
            known = fine.get(category)
            if known is None:
                known = fine[category] = {kind: set() for kind in _SCALARS}
            kinds.append(_Kind(f"{path}.{key}" if path else key, key, category, known))
    return _Plan(kinds, {})


def _is_keyed(item: dict[str, Json]) -> bool:
    """Whether an object of nothing but containers holds like records by key."""
    if len(item) < KEYED_LEAST or next(iter(item.values())).__class__ is not dict:
        return False
    return shape_of_object(item) == "keyed"


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


@lru_cache(4_096)
def category_of(key: str) -> Category:
    """What kind of trouble a value under `key` can tell; empty for keys that tell none."""
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


def sign_of(category: Category, item: Json) -> str:
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
        return f"={both_ends(item)}" if is_loud(item) else ""
    if category in ("text", "bad"):
        return f"={short(item, 90)}"
    return ""


def _message(holder: dict[str, Json], key: str) -> str:
    for other in _MESSAGES:
        item = holder.get(other)
        if other != key and isinstance(item, str) and len(item) > 12:
            return short(item, 120)
    return ""
