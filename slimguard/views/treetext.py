"""Trees drawn in text (`├── src`): the upper levels with how much stands below, and the kinds of files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from slimguard.query import Query, print_query
from slimguard.views.model import Content, Part, Sketch
from slimguard.views.treeview import Nodes, outline_lines

_NODE = re.compile(r"([│┃| \u00a0]*)(?:[├└┣┗]─*|\+--+|(?<=\|)--+|[`\\]--+)[ \u00a0](.+)\Z")
_END = re.compile(r"[A-Za-z][A-Za-z0-9]{0,7}\Z")
STEP = 4
"""Characters of one level, as all programs that draw such trees have it."""
PROBE_LINES = 300
ENDS = 12


def looks_like_tree(lines: Sequence[str]) -> bool:
    """Whether most lines are nodes of a drawn tree."""
    some = [line for line in lines[:PROBE_LINES] if line.strip()]
    return len(some) >= 8 and sum(1 for line in some if _NODE.match(line)) * 10 >= len(some) * 8


def tree_text_view(content: Content) -> Sketch:
    """The view of a drawn tree."""
    lines = content.lines
    nodes, around = _nodes(lines)
    names = [nodes.name(place) for place in nodes.order]
    folders = sum(1 for count in nodes.below if count)
    first = (
        f"{len(names):,} nodes, {folders:,} with nodes below, depth {max(nodes.depths, default=0)}; [n]: nodes below"
    )
    parts = [
        Part([line[:200] for line in around[:3]], rank=1, more=""),
        Part((first,), rank=0),
        Part(outline_lines(nodes, content), rank=1, more="… {n} more"),
    ]
    ends = Counter(
        name.rpartition(".")[2] for name, below in zip(names, nodes.below, strict=True) if "." in name and not below
    )
    told = [f".{end} {count:,}" for end, count in ends.most_common(ENDS) if _END.match(end)]
    if told:
        parts.append(Part((f"files end in: {', '.join(told)}",), rank=1))
    parts.append(Part([line[:200] for line in around[3:][-3:]], rank=2, more=""))
    hint = print_query(Query("lines", first=1, last=min(len(lines), 120)))
    return Sketch("drawn tree", parts, f"{len(names):,} nodes", "outline", (hint,))


def _nodes(lines: Sequence[str]) -> tuple[Nodes, list[str]]:
    """The nodes in their order, and the lines that are none."""
    names: list[str] = []
    depths: list[int] = []
    around: list[str] = []
    for line in lines:
        match = _NODE.match(line)
        if match is None:
            if line.strip():
                around.append(line.strip())
            continue
        names.append(match.group(2).strip())
        depths.append(len(match.group(1)) // STEP)
    below = [0] * len(names)
    open_nodes: list[int] = []
    for place, depth in enumerate(depths):
        while open_nodes and depths[open_nodes[-1]] >= depth:
            open_nodes.pop()
        for above in open_nodes:
            below[above] += 1
        open_nodes.append(place)
    return Nodes(lambda place: names[place][:56], range(len(names)), depths, below), around
