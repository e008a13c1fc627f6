"""Recursive JSON (directories, design documents, threads): the upper levels as an indented outline with counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slimguard.document import Table
from slimguard.model import Json
from slimguard.views.cells import cell
from slimguard.views.columns import Ranked
from slimguard.views.model import Content, Part
from slimguard.views.profile import Column

OUTLINE_TOKENS = 420
CHILDREN_SHOWN = 12
ROOTS_SHOWN = 36
OUTLINE_NODES = 400
NAME_CHARS = 56


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a tree in document order: how to name one, their depths, and how many nodes stand below each."""

    name: Callable[[int], str]
    order: Sequence[int]
    depths: Sequence[int]
    below: Sequence[int]


def tree_parts(table: Table, columns: Ranked, content: Content, roots: Table | None, rank: int) -> list[Part]:
    """The outline of a `tree` table down to the depth that fits; `roots` holds the records above its first level."""
    nodes = _nodes(table, columns, roots)
    lines = outline_lines(nodes, content)
    sizes = Counter(nodes.depths)
    deepest = max(nodes.depths, default=0)
    levels = ", ".join(f"{depth}: {count:,}" for depth, count in sorted(sizes.items())[:10])
    first = f"{len(nodes.order):,} nodes, depth {deepest}, nodes by depth {levels}; [n]: nodes below"
    return [Part((first,), rank=rank), Part(lines, rank=rank, tokens=content.share(OUTLINE_TOKENS), more="… {n} more")]


def outline_lines(nodes: Nodes, content: Content) -> list[str]:
    """The outline of nodes down to the depth that fits."""
    lines: list[str] = []
    sizes = Counter(nodes.depths)
    for depth in range(12):
        if sum(count for level, count in sizes.items() if level < depth) > OUTLINE_NODES:
            break
        more = _outline(nodes, depth, CHILDREN_SHOWN if depth else ROOTS_SHOWN)
        if lines and (more == lines or not content.counter.within("\n".join(more), content.share(OUTLINE_TOKENS))):
            break
        lines = more
    return lines


def _nodes(table: Table, columns: Ranked, roots: Table | None) -> Nodes:
    parent_at = table.columns.index("_parent") if "_parent" in table.columns else 0
    depth_at = table.columns.index("_depth")
    labels = _labels(columns)
    kinds = [column for column in columns.columns if column.name.lower() in ("type", "kind", "role")]
    extra = kinds[0] if kinds and kinds[0].distinct > 2 else None
    base = list(roots.rows) if roots is not None else []
    shift = len(base)

    def name(place: int) -> str:
        if place < shift:
            return _root_name(roots, base[place])
        label = " ".join(cell(column.values[place - shift], NAME_CHARS) for column in labels)
        kind = cell(extra.values[place - shift], 20) if extra is not None else ""
        return f"{label} ({kind})" if kind and kind not in label else label

    cells = table.cells
    deeper = 1 if shift else 0
    depths = [0] * shift + [depth + deeper for depth in cells[depth_at]]
    pairs = zip(cells[parent_at], cells[depth_at], strict=True)
    parents = [-1] * shift + [_parent(parent, top=depth == 0, shift=shift) for parent, depth in pairs]
    return _linked(name, depths, parents)


def _labels(columns: Ranked) -> list[Column]:
    """The column that names a node: a label that is no bare number, else the best text, else what there is."""
    named = [column for column in columns.labels if column.name not in ("_parent", "_depth", "id")]
    texts = [
        column for column in columns.columns if column.kind == "text" and not column.opaque and column.distinct > 3
    ]
    return (named or texts or [column for column in columns.labels if column.name == "id"])[:1]


def _parent(value: Json, *, top: bool, shift: int) -> int:
    if not isinstance(value, int):
        return -1
    if top:
        return value if shift else -1
    return value + shift


def _root_name(roots: Table | None, row: Sequence[Json]) -> str:
    if roots is None:
        return ""
    for name in ("name", "title", "label", "path", "id"):
        if name in roots.columns:
            return cell(row[roots.columns.index(name)], NAME_CHARS)
    return cell(row[0], NAME_CHARS)


def _linked(name: Callable[[int], str], depths: list[int], parents: list[int]) -> Nodes:
    """Counts below each node; the nodes in document order, those of roots before what stands under them."""
    below = [0] * len(depths)
    under: dict[int, list[int]] = {}
    for place in range(len(depths) - 1, -1, -1):
        parent = parents[place]
        under.setdefault(parent, []).append(place)
        if 0 <= parent < len(depths) and parent != place:
            below[parent] += below[place] + 1
    order: list[int] = []
    stack = under.get(-1, [])
    while stack:
        place = stack.pop()
        order.append(place)
        stack.extend(under.get(place, ()))
    return Nodes(name, order, depths, below)


def _outline(nodes: Nodes, deepest: int, children: int) -> list[str]:
    """Lines of the nodes above `deepest` with how many nodes stand below; those at it, and leaves, side by side."""
    lines: list[str] = []
    side: list[str] = []
    level = 0

    def close() -> None:
        if side:
            more = f" … {len(side) - children} more" if len(side) > children else ""
            lines.append(f"{'  ' * level}{' · '.join(side[:children])}{more}")
            side.clear()

    for place in nodes.order:
        depth, below = nodes.depths[place], nodes.below[place]
        if depth > deepest:
            continue
        name = nodes.name(place)
        if below == 0 or depth == deepest:
            if depth != level:
                close()
            level = depth
            side.append(f"{name} [{below:,}]" if below else name)
            continue
        close()
        lines.append(f"{'  ' * depth}{name}: {below:,} below")
    close()
    return lines
