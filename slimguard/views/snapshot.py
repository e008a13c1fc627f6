"""Accessibility snapshots (`- button "Save" [ref=e12]`): roles counted, headings and controls with their refs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from slimguard.query import Query, print_query
from slimguard.views.model import Content, Part, Sketch

NODE = re.compile(r"\s*- '?([a-z]+)(?: \"((?:[^\"\\]|\\.)*)\")?(?= |:|\[|$|')")
HEADING_TOKENS = 420
CONTROL_TOKENS = 260
TEXT_TOKENS = 120
AFTER_TOKENS = 160
"""What stands behind the tree: events of the page, console messages."""
_CONTROLS = frozenset(
    (
        "button", "textbox", "combobox", "checkbox", "radio", "switch", "slider", "searchbox", "spinbutton",
        "menuitem", "tab", "option", "listbox",
    )
)  # fmt: skip
_LOUD = frozenset(["alert", "dialog", "alertdialog", "status"])
_CURSOR = re.compile(r" \[cursor=\w+\]")


def looks_like_snapshot(lines: Sequence[str]) -> bool:
    """Whether a good part of the lines are nodes of an accessibility tree with refs."""
    some = lines[:400]
    nodes = sum(1 for line in some if NODE.match(line))
    return nodes >= 5 and nodes * 3 >= len(some) and any("[ref=" in line or "[level=" in line for line in some)


def snapshot_view(content: Content) -> Sketch:
    """The view of an accessibility snapshot."""
    lines = content.lines
    roles: Counter[str] = Counter()
    before: list[str] = []
    headings: list[str] = []
    controls: list[str] = []
    loud: list[str] = []
    after: list[str] = []
    for place, line in enumerate(lines):
        match = NODE.match(line) if not (roles and line.startswith("- [")) else None
        if match is None:
            if not roles:
                before.append(line)
            elif line[:1].strip() and not line.startswith(("```", "#")):
                after.append(f"L{place + 1} {line[:200]}")
            continue
        role = match.group(1)
        roles[role] += 1
        shown = f"L{place + 1} {_CURSOR.sub('', line.strip()[2:]).rstrip(':')[:160]}"
        if role == "heading":
            headings.append(shown)
        elif role in _CONTROLS:
            controls.append(shown)
        elif role in _LOUD:
            loud.append(shown)
    counted = ", ".join(f"{role} {count:,}" for role, count in roles.most_common(16))
    parts = [
        Part(
            [line for line in before if line.strip() and not line.startswith("```")], rank=1, tokens=content.share(200)
        ),
        Part((f"nodes: {counted}",), rank=0),
        Part(loud, rank=1, tokens=content.share(160)),
        Part(after, rank=1, tokens=content.share(AFTER_TOKENS), ends=True),
        Part(headings, rank=2, tokens=content.share(HEADING_TOKENS), more="… {n} more headings: find:heading"),
        Part(controls, rank=2, tokens=content.share(CONTROL_TOKENS), more="… {n} more controls"),
    ]
    texts = [
        f"L{n + 1} {line.strip()[:160]}"
        for n, line in enumerate(lines[:60])
        if "- text:" in line or "- paragraph" in line
    ]
    parts.append(Part(texts, rank=4, tokens=content.share(TEXT_TOKENS), more=""))
    last = [f"L{len(lines) - 2 + n} {line.strip()[:160]}" for n, line in enumerate(lines[-3:]) if NODE.match(line)]
    parts.append(Part(last, rank=4, tokens=content.share(60), more=""))
    return Sketch(
        "accessibility snapshot",
        parts,
        f"{sum(roles.values()):,} nodes",
        "outline",
        (print_query(Query("words", "heading")),),
    )
