"""Recursive JSON (directories, design documents, comment threads): the upper levels as an indented outline with counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from slimguard.document import Table
from slimguard.model import Json
from slimguard.views.cells import cell
from slimguard.views.columns import Ranked
from slimguard.views.model import Content, Part

OUTLINE_TOKENS = 420
CHILDREN_SHOWN = 12
NAME_CHARS = 56


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a tree in document order: their names, depths, parents and how many nodes stand below each."""

    names: Sequence[str]
    depths: Sequence[int]
    below: Sequence[int]
    children: Sequence[int]


def tree_parts(table: Table, columns: Ranked, content: Content, roots: Table | None, rank: int) -> list[Part]:
    """The outline of a `tree` table down to the depth that fits; `roots` holds the records above its first level."""
    nodes = _nodes(table, columns, roots)
    lines: list[str] = []
    for depth in range(12):
        more = _outline(nodes, depth)
        if lines and (more == lines or not content.counter.within("\n".join(more), content.share(OUTLINE_TOKENS))):
            break
        lines = more
    deepest = max(nodes.depths, default=0)
    levels = ", ".join(f"{depth}: {count:,}" for depth, count in sorted(Counter(nodes.depths).items())[:10])
    first = f"{len(nodes.names):,} nodes, depth {deepest}, nodes by depth {levels}; [n]: nodes below"
    return [Part((first,), rank=rank), Part(lines, rank=rank, tokens=content.share(OUTLINE_TOKENS), more="… {n} more")]


def _nodes(table: Table, columns: Ranked, roots: Table | None) -> Nodes:
    parent_at = table.columns.index("_parent") if "_parent" in table.columns else 0
    depth_at = table.columns.index("_depth")
    rows = table.rows
    labels = [column for column in columns.labels if column.name not in ("_parent", "_depth", "id")][:1]
    kinds = [column for column in columns.columns if column.name.lower() in ("type", "kind", "role")]
    extra = kinds[0] if kinds and kinds[0].distinct > 2 else None
    base = list(roots.rows) if roots is not None else []
    shift = len(base)
    names = [_root_name(roots, row) for row in base] if roots is not None else []
    depths = [0] * shift
    parents = [-1] * shift
    for place, row in enumerate(rows):
        label = " ".join(cell(column.values[place], NAME_CHARS) for column in labels)
        kind = cell(extra.values[place], 20) if extra is not None else ""
        names.append(f"{label} ({kind})" if kind and kind not in label else label)
        top = row[depth_at] == 0
        depths.append(int(row[depth_at]) + (1 if shift else 0))
        parents.append(_parent(row[parent_at], top=top, shift=shift))
    return _linked(names, depths, parents)


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


def _linked(names: list[str], depths: list[int], parents: list[int]) -> Nodes:
    """Counts below each node; the nodes in document order, those of roots before what stands under them."""
    below = [0] * len(names)
    children = [0] * len(names)
    for place in range(len(names) - 1, -1, -1):
        parent = parents[place]
        if 0 <= parent < len(names) and parent != place:
            below[parent] += below[place] + 1
            children[parent] += 1
    order: list[int] = []
    under: dict[int, list[int]] = {}
    for place, parent in enumerate(parents):
        under.setdefault(parent, []).append(place)
    stack = list(reversed(under.get(-1, [])))
    while stack:
        place = stack.pop()
        order.append(place)
        stack.extend(reversed(under.get(place, [])))
    return Nodes(
        [names[place] for place in order],
        [depths[place] for place in order],
        [below[place] for place in order],
        [children[place] for place in order],
    )


def _outline(nodes: Nodes, deepest: int) -> list[str]:
    """Lines of the nodes above `deepest` with how many nodes stand below; those at it, and leaves, side by side."""
    lines: list[str] = []
    side: list[str] = []
    level = 0

    def close() -> None:
        if side:
            more = f" … {len(side) - CHILDREN_SHOWN} more" if len(side) > CHILDREN_SHOWN else ""
            lines.append(f"{'  ' * level}{' · '.join(side[:CHILDREN_SHOWN])}{more}")
            side.clear()

    for name, depth, below in zip(nodes.names, nodes.depths, nodes.below, strict=True):
        if depth > deepest:
            continue
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
