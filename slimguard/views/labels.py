"""Which columns name a row to a reader: a short identifier and a title, where rows have them; never invented ones."""

from __future__ import annotations

from collections.abc import Sequence

from slimguard.document.shapes import sample
from slimguard.views.derived import UNION
from slimguard.views.names import is_commit, is_identifier, is_person, is_text, is_title, label_score, leaf_name
from slimguard.views.profile import Column

WIDTH = 120
TEXT_WIDTH = 400
SHORT = 20
"""Identifiers up to this length stand beside a title."""
LEAST_WIDTH = 4
"""Shorter values are codes, which name nothing to most readers."""
FIRST = 1.0
"""What standing first in a row is worth to a label."""
OTHERS = 2.0
"""The name of a person in a row is not the row's."""
TEXT_COUNTED = 44
"""Running text costs a label no more than this, since it is cut."""
MEASURES = ("number", "object", "array", "series")
NAMED = 1.4
"""A text with this score names rows better than a point in time."""


def labels_of(
    columns: Sequence[Column], commits: Sequence[Column], count: int, order: Sequence[str], inside: str
) -> tuple[Column, ...]:
    """One or two columns that name a row. `commits` are hashes that may do so where nothing shorter does; `inside` is
    the key under which the substance of the rows stands, with a dot, or empty.
    """
    union = [column for column in columns if column.name == UNION]
    if union:
        return tuple(union)
    key = [column for column in columns if column.name == "_key"]
    if key:
        return tuple(key)
    unique = [column for column in columns if _is_unique(column, count)]
    unique = [column for column in unique if column.kind != "number" or _names_by_number(column, order)]
    if not unique:
        return tuple([column for column in columns if column.kind not in MEASURES][:1] or columns[:1])

    def scored(column: Column) -> float:
        leads = column.name == next(iter(order), "") and column.kind == "text" and column.width >= LEAST_WIDTH
        first = FIRST if leads else 0.0
        return score_of(column, inside) + first

    unique.sort(key=lambda column: order.index(column.name) if column.name in order else len(order))
    texts = [column for column in unique if column.kind == "text"]
    short = [column for column in unique if column.width <= SHORT and is_identifier(leaf_name(column.name))]
    short = [column for column in short if "." not in column.name.removeprefix(inside)]
    named = [column for column in texts if not column.opaque and column.width <= WIDTH and scored(column) >= NAMED]
    times = [column for column in unique if column.kind == "time" and column.distinct == count]
    hashes = [column for column in commits if not short and is_commit(leaf_name(column.name))][:1]
    first = hashes[0] if hashes else max(short or named or times or texts or unique, key=scored)
    if is_title(leaf_name(first.name)) and not first.opaque:
        return (first,)
    titles = [column for column in texts if column.width > 2 and column is not first and not column.opaque]
    if not titles and (first.opaque or first.noise):
        titles = [column for column in columns if _may_name(column, count)][:1]
    best = max(titles, key=scored) if titles else first
    if best is first or (scored(best) < 1 <= scored(first) and not first.opaque and not first.noise):
        return (first,)
    return (best,) if is_contained(first, best) else (first, best)


def score_of(column: Column, inside: str) -> float:
    """How well a column names rows whose substance stands under `inside`."""
    steps = column.name.removeprefix(inside).split(".")
    last = leaf_name(column.name)
    width = min(column.width, TEXT_COUNTED) if is_text(last) else column.width
    score = label_score(last, opaque=column.opaque) - 0.6 * (len(steps) - 1) - max(0.0, width - 24) / 40
    return score - (OTHERS if any(is_person(step) for step in steps[:-1]) else 0.0)


def is_contained(part: Column, whole: Column) -> bool:
    """Whether the cells of one column stand in those of the other, as a file's name in its path."""
    if part.filled == whole.filled == len(part.values) == len(whole.values):
        some = list(zip(sample(part.values), sample(whole.values), strict=True))
    else:
        pairs = zip(part.values, whole.values, strict=True)
        some = sample([(a, b) for a, b in pairs if a is not None and b is not None])
    hits = sum(1 for a, b in some if isinstance(a, str) and isinstance(b, str) and (a in b))
    return len(some) > 3 and hits * 10 >= len(some) * 9


def _names_by_number(column: Column, order: Sequence[str]) -> bool:
    """Whether numbers name rows: as an identifier, or first in each row; others are measures."""
    return is_identifier(leaf_name(column.name)) or column.name == next(iter(order), "")


def _is_unique(column: Column, count: int) -> bool:
    """Whether a column's values are nearly all different, and short enough for a label."""
    if column.counts is None or column.kind not in ("text", "number", "time", "mixed"):
        return False
    if column.name in ("_parent", "_depth") or column.distinct * 10 < count * 8:
        return False
    return column.width <= (TEXT_WIDTH if is_text(leaf_name(column.name)) else WIDTH)


def _may_name(column: Column, count: int) -> bool:
    return (
        column.kind in ("time", "text")
        and column.distinct * 2 >= count
        and not column.opaque
        and column.width <= TEXT_WIDTH
    )
