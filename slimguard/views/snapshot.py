"""Accessibility snapshots (`- button "Save" [ref=e12]`): roles counted, headings and controls with their refs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class _Found:
    """The lines of a snapshot by what they are."""

    roles: Counter[str] = field(default_factory=Counter[str])
    before: list[str] = field(default_factory=list[str])
    headings: list[str] = field(default_factory=list[str])
    controls: list[str] = field(default_factory=list[str])
    loud: list[str] = field(default_factory=list[str])
    after: list[str] = field(default_factory=list[str])


def snapshot_view(content: Content) -> Sketch:
    """The view of an accessibility snapshot."""
    lines = content.lines
    found = _sorted(lines)
    counted = ", ".join(f"{role} {count:,}" for role, count in found.roles.most_common(16))
    before = [line for line in found.before if line.strip() and not line.startswith("```")]
    texts = [
        f"L{n + 1} {line.strip()[:160]}"
        for n, line in enumerate(lines[:60])
        if "- text:" in line or "- paragraph" in line
    ]
    last = [f"L{len(lines) - 2 + n} {line.strip()[:160]}" for n, line in enumerate(lines[-3:]) if NODE.match(line)]
    parts = [
        Part(before, rank=1, tokens=content.share(200)),
        Part((f"nodes: {counted}",), rank=0),
        Part(found.loud, rank=1, tokens=content.share(160)),
        Part(found.after, rank=1, tokens=content.share(AFTER_TOKENS), ends=True),
        Part(found.headings, rank=2, tokens=content.share(HEADING_TOKENS), more="… {n} more headings: find:heading"),
        Part(found.controls, rank=2, tokens=content.share(CONTROL_TOKENS), more="… {n} more controls"),
        Part(texts, rank=4, tokens=content.share(TEXT_TOKENS), more=""),
        Part(last, rank=4, tokens=content.share(60), more=""),
    ]
    said = (print_query(Query("words", _looked_for(found))),)
    return Sketch("accessibility snapshot", parts, f"{sum(found.roles.values()):,} nodes", "outline", said)


def _sorted(lines: Sequence[str]) -> _Found:
    """The nodes by role, with their line numbers, and what stands before and behind the tree."""
    found = _Found()
    for place, line in enumerate(lines):
        match = NODE.match(line) if not (found.roles and line.startswith("- [")) else None
        if match is None:
            if not found.roles:
                found.before.append(line)
            elif line[:1].strip() and not line.startswith(("```", "#")):
                found.after.append(f"L{place + 1} {line[:200]}")
            continue
        role = match.group(1)
        found.roles[role] += 1
        shown = f"L{place + 1} {_CURSOR.sub('', line.strip()[2:]).rstrip(':')[:160]}"
        if role == "heading":
            found.headings.append(shown)
        elif role in _CONTROLS:
            found.controls.append(shown)
        elif role in _LOUD:
            found.loud.append(shown)
    return found


def _looked_for(found: _Found) -> str:
    """A role that the tree has: headings, else controls, else the commonest."""
    if found.headings:
        return "heading"
    roles = [role for role, _ in found.roles.most_common()]
    return next((role for role in roles if role in _CONTROLS), roles[0] if roles else "ref")
