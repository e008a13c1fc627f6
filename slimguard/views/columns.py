"""Which columns of a table a reader wants first: ranked by what they tell, without links, hashes and copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from slimguard.document import Table
from slimguard.document.shapes import sample
from slimguard.model import Json
from slimguard.views.derived import UNION, member_columns, pair_columns, union_column, with_parts, with_series
from slimguard.views.labels import is_contained, labels_of, score_of
from slimguard.views.names import is_key, is_text, is_time, leaf_name, name_score
from slimguard.views.profile import Column, profile

TWIN_VALUES = 60
TWIN_ROWS = 12
PROFILED_AT_MOST = 160
"""Columns that are looked at; wider tables hold nested copies behind them."""
UNION_SCORE = 3.0


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
    inside: str = ""
    """The key under which the substance of the rows stands, with a dot; empty for rows that are flat."""

    @property
    def title(self) -> Column | None:
        """The label that names a row best when there is room for one only."""
        return max(self.labels, key=lambda column: score_of(column, self.inside), default=None)


def ranked(table: Table) -> Ranked:
    """Profile and rank the columns of `table`."""
    names = table.columns[:PROFILED_AT_MOST]
    profiled = [profile(name, cells) for name, cells in zip(names, table.cells, strict=False)]
    profiled = with_parts(with_series(profiled))
    union = union_column(profiled, table.count)
    if union is not None:
        profiled.append(union)
    profiled.extend(pair_columns(profiled))
    members = member_columns(profiled)
    profiled.extend(members)
    wrapped = _is_wrapped(profiled, table)
    constants: list[Column] = []
    kept: list[Column] = []
    dropped: list[str] = []
    expanded = {name.split(".", 1)[0] for name in table.columns[table.own :]}
    expanded |= {column.name.rsplit(".", 1)[0] for column in members}
    for column in profiled:
        if column.constant and table.count > 1:
            constants.append(column)
        elif column.name == "_parent" and column.distinct == table.count:
            dropped.append(column.name)  # one row in each record above: it only counts
        elif column.kind == "empty" or column.noise or (column.kind == "object" and column.name in expanded):
            dropped.append(column.name)
        else:
            kept.append(column)
    scores = {column.name: _score(column, table.count, wrapped=wrapped) for column in kept}
    kept = _without_copies(kept, dropped, scores)
    kept.sort(key=lambda column: -scores[column.name])
    kept = _without_twins(_without_parts(kept, dropped, scores), dropped)
    noise = [column for column in profiled if column.noise]
    if not kept:
        kept = noise[:3]
        scores = {column.name: 0.0 for column in kept}
    inside = _inside(kept) if wrapped else ""
    commits = [column for column in noise if "." not in column.name and column.distinct == table.count]
    return Ranked(
        tuple(kept),
        tuple(constants),
        tuple(dropped),
        labels_of(kept, commits, table.count, names, inside),
        table.count,
        tuple(names),
        scores,
        inside,
    )


def _is_wrapped(columns: Sequence[Column], table: Table) -> bool:
    """Whether the substance is nested (`properties`, `spec`, `node`): no scalar of the rows' own tells much."""
    own = [
        column
        for column in columns[: table.own]
        if column.kind not in ("object", "empty", "array", "series") and not column.constant and not column.noise
    ]
    return len(own) <= 2


def _inside(columns: Sequence[Column]) -> str:
    """The first step that most of the nested columns share."""
    steps = Counter(column.name.split(".", 1)[0] for column in columns if "." in column.name)
    return f"{steps.most_common(1)[0][0]}." if steps else ""


def _without_copies(columns: Sequence[Column], dropped: list[str], scores: dict[str, float]) -> list[Column]:
    """Without columns that hold the same as a better one."""
    best: dict[tuple[str, ...], Column] = {}
    keys: dict[str, tuple[str, ...]] = {}
    for column in columns:
        if column.kind in ("object", "array", "mixed") or column.distinct < 2:
            continue
        key = keys[column.name] = tuple(str(value) for value in sample(column.values, 48))
        known = best.get(key)
        if known is None or scores[column.name] > scores[known.name] + 0.5:
            best[key] = column
    gone = {name for name, key in keys.items() if best[key].name != name}
    dropped.extend(gone)
    return [column for column in columns if column.name not in gone]


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
        and is_contained(part, whole)
    }
    dropped.extend(gone)
    return [column for column in columns if column.name not in gone]


def _score(column: Column, count: int, *, wrapped: bool) -> float:
    last = leaf_name(column.name)
    depth = column.name.count(".")
    score = 1.0 + (UNION_SCORE if last == UNION else name_score(last))
    if column.kind == "number" and not is_key(last):
        score += 0.3
    if column.kind == "time":
        score += 0.3 if is_time(last) else 0.1
    if column.kind in ("object", "array", "mixed"):
        score -= 0.4
    if depth:
        score -= 0.2 * depth if wrapped else 0.7 * depth
    score -= min(0.5 if is_text(last) else 1.5, max(0.0, column.width - 24) / 80)
    if column.opaque:
        score -= 1.0
    if column.kind == "text" and column.distinct == count and column.width < 3:
        score -= 0.5
    return score * (0.25 + 0.75 * column.filled / max(1, count))
