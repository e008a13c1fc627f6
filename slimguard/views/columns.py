"""Which columns of a table a reader wants first: ranked by what they tell, without links, hashes and copies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from slimguard.document import Table
from slimguard.document.shapes import sample
from slimguard.model import Json
from slimguard.views.derived import UNION, pair_columns, union_column, with_series
from slimguard.views.profile import Column, profile

TWIN_VALUES = 60
TWIN_ROWS = 12
PROFILED_AT_MOST = 160
"""Columns that are looked at; wider tables hold nested copies behind them."""

_TITLE = re.compile(r"(?i)^(?:title|name|subject|summary|headline|full_?name|display_?name|place)$")
_IDENT = re.compile(r"(?i)^(?:number|identifier|key|_key|iid|no|path|file|file_?name|file_?path|line|slug|sku|symbol)$")
_ID = re.compile(r"(?i)^(?:.*_)?(?:id|uid|uuid|guid|sha|hash|oid)$|^.+(?:Id|ID)$")
_STATE = re.compile(
    r"(?i)(?:status|state|phase|conclusion|outcome|result|level|severity|priority|type|kind|reason|draft|category|"
    r"environment|error|failed|passed|ready|restart.*|enabled|active|success)$"
)
_PERSON = re.compile(r"(?i)(?:user|author|assignee|owner|login|from|to|email|team|sender|creator|reporter|customer)$")
_PLACE = re.compile(
    r"(?i)(?:ref|branch|version|tag|target|source|namespace|host|node|region|language|country|city|service)$"
)
_NAMED = re.compile(
    r"(?i)^(?:pod|container|hostname|repo|repository|project|product|function|class|test|job|task|step|module|package|"
    r"rule|metric|endpoint|route|command|event|city|station|company|account|user|username|login|email)$"
)
_TEXT = re.compile(
    r"(?i)^(?:message|msg|description|body|text|content|plain_text|observations?|snippet|value|note|detail)s?$"
)
_TIME = re.compile(r"(?i)(?:created|updated|start|time|date|last)")
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_COMMON = re.compile(
    r"(?i)^(?:has_|is_|can_|allow|default|locked|site_admin|fork$|private$|archived$|disabled$|score$)"
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The profiled columns of a table, the most telling first, and what was left out of them."""

    columns: tuple[Column, ...]
    constants: tuple[Column, ...]
    dropped: tuple[str, ...]
    """Names of columns that are noise, empty, or copies of others."""
    labels: tuple[Column, ...]
    """One or two columns that name a row to a reader."""
    count: int
    names: tuple[str, ...]
    """Names of all columns in their own order."""
    scores: dict[str, float] = field(repr=False)

    @property
    def title(self) -> Column | None:
        """The label that names a row best when there is room for one only."""
        return max(self.labels, key=_label_score, default=None)


def ranked(table: Table) -> Ranked:
    """Profile and rank the columns of `table`."""
    names = table.columns[:PROFILED_AT_MOST]
    profiled = with_series([profile(name, cells) for name, cells in zip(names, table.cells, strict=False)])
    union = union_column(profiled, table.count)
    if union is not None:
        profiled.append(union)
    profiled.extend(pair_columns(profiled))
    wrapped = _is_wrapped(profiled, table)
    constants: list[Column] = []
    kept: list[Column] = []
    dropped: list[str] = []
    expanded = {name.split(".", 1)[0] for name in table.columns[table.own :]}
    for column in profiled:
        if column.constant and table.count > 1:
            constants.append(column)
        elif column.kind == "empty" or column.noise or (column.kind == "object" and column.name in expanded):
            dropped.append(column.name)
        else:
            kept.append(column)
    kept = _without_copies(kept, dropped)
    scores = {column.name: _score(column, table.count, wrapped=wrapped) for column in kept}
    kept.sort(key=lambda column: -scores[column.name])
    kept = _without_twins(_without_parts(kept, dropped, scores), dropped)
    if not kept:
        kept = [column for column in profiled if column.noise][:3]
        scores = {column.name: 0.0 for column in kept}
    return Ranked(
        tuple(kept),
        tuple(constants),
        tuple(dropped),
        _labels(kept, table.count, names),
        table.count,
        tuple(names),
        scores,
    )


def _is_wrapped(columns: Sequence[Column], table: Table) -> bool:
    """Whether the substance is nested (`properties`, `spec`, `node`): no scalar of the rows' own tells much."""
    own = [
        column
        for column in columns[: table.own]
        if column.kind not in ("object", "empty", "array", "series") and not column.constant and not column.noise
    ]
    return len(own) <= 2


def _without_copies(columns: Sequence[Column], dropped: list[str]) -> list[Column]:
    seen: set[tuple[str, ...]] = set()
    kept: list[Column] = []
    for column in columns:
        if column.kind in ("object", "array", "mixed") or column.distinct < 2:
            kept.append(column)
            continue
        key = tuple(str(value) for value in sample(column.values, 48))
        if key in seen:
            dropped.append(column.name)
            continue
        seen.add(key)
        kept.append(column)
    return kept


def _without_twins(columns: Sequence[Column], dropped: list[str]) -> list[Column]:
    """Without columns that divide the rows just as a better one does (`priority.value` beside `priority.name`)."""
    seen: set[tuple[int, ...]] = set()
    kept: list[Column] = []
    for column in columns:
        few = 3 <= column.distinct <= min(TWIN_VALUES, len(column.values) // 2)
        if column.counts is None or not few or len(column.values) < TWIN_ROWS:
            kept.append(column)
            continue
        codes: dict[Json, int] = {}
        key = tuple(codes.setdefault(value, len(codes)) for value in sample(column.values, 400))
        if key in seen:
            dropped.append(column.name)
            continue
        seen.add(key)
        kept.append(column)
    return kept


def _without_parts(columns: Sequence[Column], dropped: list[str], scores: dict[str, float]) -> list[Column]:
    """Without text columns that a better one contains (`name` in `path`)."""
    texts = [column for column in columns if column.kind == "text" and column.distinct > 3 and column.width <= 200][:12]
    gone = {
        part.name
        for place, part in enumerate(texts)
        for other, whole in enumerate(texts)
        if place != other
        and part.distinct * 2 >= part.filled
        and part.width < whole.width
        and scores[whole.name] >= 2
        and _contained(part, whole)
    }
    dropped.extend(gone)
    return [column for column in columns if column.name not in gone]


def _score(column: Column, count: int, *, wrapped: bool) -> float:
    last = column.name.rsplit(".", 1)[-1]
    depth = column.name.count(".")
    score = 1.0 + _name_score(last)
    if column.kind == "number" and not _ID.match(last):
        score += 0.3
    if column.kind == "time":
        score += 0.3 if _TIME.search(last) else 0.1
    if column.kind in ("object", "array", "mixed"):
        score -= 0.4
    if depth:
        score -= 0.2 * depth if wrapped else 0.7 * depth
    score -= min(0.5 if _TEXT.match(last) else 1.5, max(0.0, column.width - 24) / 80)
    if column.opaque:
        score -= 1.0
    if column.kind == "text" and column.distinct == count and column.width < 3:
        score -= 0.5
    return score * (0.25 + 0.75 * column.filled / max(1, count))


def _name_score(last: str) -> float:
    if last == UNION:
        return 3.0
    if _TITLE.match(last):
        return 3.0
    if _IDENT.match(last):
        return 2.6
    if _COMMON.match(last):
        return -0.8
    if _ID.match(last):
        return -0.4
    long = 0.4 * max(0, len(_WORDS.findall(last)) - 2)
    if _STATE.search(last):
        return 1.8 - long
    if _PERSON.search(last):
        return 2.0 - long
    if _PLACE.search(last):
        return (1.1 if len(last) < 10 else 0.4) - long
    if _TEXT.match(last):
        return 1.2
    return 0.0


def _labels(columns: Sequence[Column], count: int, order: Sequence[str]) -> tuple[Column, ...]:
    """A short identifier and a title, where rows have them; they are nearly unique."""
    union = [column for column in columns if column.name == UNION]
    if union:
        return tuple(union)
    key = [column for column in columns if column.name == "_key"]
    if key:
        return tuple(key)
    unique = [
        column
        for column in columns
        if column.counts is not None and column.kind in ("text", "number", "time", "mixed")
        and column.distinct * 10 >= count * 8 and column.width <= 120
    ]  # fmt: skip
    if not unique:
        return tuple(columns[:1])
    unique.sort(key=lambda column: order.index(column.name) if column.name in order else len(order))
    texts = [column for column in unique if column.kind == "text"]
    short = [column for column in unique if column.width <= 16 and _is_identifier(column)]
    times = [column for column in unique if column.kind == "time" and column.distinct == count]
    first = max(short or times or texts or unique, key=_label_score)
    last = first.name.rsplit(".", 1)[-1]
    if _TITLE.match(last) and not first.opaque:
        return (first,)
    titles = [column for column in texts if column.width > 2 and column is not first and not column.opaque]
    if not titles and first.opaque:
        titles = [
            column
            for column in columns
            if column.kind in ("time", "text")
            and column.distinct * 2 >= count
            and not column.opaque
            and column.width <= 400
        ][:1]
    best = max(titles, key=_label_score) if titles else first
    if best is first or (_label_score(best) < 1 <= _label_score(first) and not first.opaque):
        return (first,)
    return (best,) if _contained(first, best) else (first, best)


def _contained(part: Column, whole: Column) -> bool:
    """Whether the cells of one column stand in those of the other, as a file's name in its path."""
    if part.filled == whole.filled == len(part.values) == len(whole.values):
        some = list(zip(sample(part.values), sample(whole.values), strict=True))
    else:
        pairs = zip(part.values, whole.values, strict=True)
        some = sample([(a, b) for a, b in pairs if a is not None and b is not None])
    hits = sum(1 for a, b in some if isinstance(a, str) and isinstance(b, str) and (a in b))
    return len(some) > 3 and hits * 10 >= len(some) * 9


def _is_identifier(column: Column) -> bool:
    last = column.name.rsplit(".", 1)[-1]
    return bool(_IDENT.match(last) or _ID.match(last) or column.name == "_key")


def _label_score(column: Column) -> float:
    last = column.name.rsplit(".", 1)[-1]
    score = 3.0 if _TITLE.match(last) else 2.5 if _IDENT.match(last) else 1.5 if _ID.match(last) else 0.5
    if _TEXT.match(last):
        score = 1.2
    if _NAMED.match(last):
        score = 1.6
    elif column.opaque or _PLACE.search(last):
        score -= 1.5
    return score - 0.6 * column.name.count(".") - max(0.0, column.width - 24) / 40
