"""Plans of Terraform and OpenTofu: what is destroyed or replaced and why, then the rest by action, the sum, errors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from slimguard.query import Query, print_query
from slimguard.views.model import Content, Part, Sketch

_ACTION = re.compile(r"\s*# ([^(\s].{0,200}?) (will be|must be|has been|has|is) ([a-z][a-z -]{2,40})\b(.*)\Z")
_WHY = re.compile(r"\s*[-+~/]+ .*# forces replacement")
_SUM = re.compile(r"(?:Plan: |No changes\.|Changes to Outputs:|Apply complete!|Destroy complete!)")
_LOUD = re.compile(r"[│╷|\s]*(?:Error|Warning): ")
SEVERE = ("destroyed", "replaced", "deleted")
DANGER_TOKENS = 420
REST_TOKENS = 420
LEAST = 1
NAMES_A_LINE = 8
WHY_LINES = 40


def looks_like_plan(lines: Sequence[str]) -> bool:
    """Whether a text is a plan: it says so, and resources have actions."""
    if not any(_ACTION.match(line) for line in lines[:2_000]):
        return False
    return any("execution plan" in line or "will perform the following" in line for line in lines[:60]) or any(
        _SUM.match(line) for line in lines[-60:]
    )


def plan_view(content: Content) -> Sketch:
    """The view of a plan."""
    lines = content.lines
    actions: dict[str, list[tuple[int, str]]] = {}
    for place, line in enumerate(lines):
        match = _ACTION.match(line[:400]) if "# " in line[:12] else None
        if match:
            actions.setdefault(match.group(3).strip(), []).append((place, match.group(1)))
    counted = ", ".join(f"{action} {len(found):,}" for action, found in actions.items())
    severe = [action for action in actions if any(word in action for word in SEVERE)]
    danger = [
        line for action in severe for place, name in actions[action] for line in _told(lines, place, name, action)
    ]
    rest = [line for action in actions if action not in severe for line in _names(action, actions[action])]
    sums = [f"L{place + 1}: {line.strip()}" for place, line in enumerate(lines) if _SUM.match(line)]
    loud = [f"L{place + 1}: {line.strip()[:240]}" for place, line in enumerate(lines) if _LOUD.match(line)]
    parts = [
        Part((f"actions: {counted}",), rank=0),
        Part(sums[:6], rank=0, more=""),
        Part(loud, rank=1, tokens=content.share(200), more="… {n} more"),
        Part(danger, rank=1, tokens=content.share(DANGER_TOKENS), more="… {n} more lines", counted=True),
        Part(rest, rank=2, tokens=content.share(REST_TOKENS), more="… {n} more lines of names", counted=True),
    ]
    place = next((place for action in (severe or actions) for place, _ in actions[action]), 0)
    hint = print_query(Query("lines", first=place + 1, last=min(len(lines), place + 60)))
    total = sum(len(found) for found in actions.values())
    return Sketch("plan", parts, f"{total:,} resources, {len(lines):,} lines", "outline", (hint,))


def _told(lines: Sequence[str], place: int, name: str, action: str) -> list[str]:
    """A resource that goes, with what forces it and the remark below it."""
    shown = [f"L{place + 1}: {name}: {action}"]
    for line in lines[place + 1 : place + WHY_LINES]:
        if not line.strip() or _ACTION.match(line):
            break
        if (_WHY.match(line) or line.strip().startswith("# (")) and "unchanged" not in line:
            shown.append(f"  {line.strip()[:200]}")
    return shown


def _names(action: str, found: Sequence[tuple[int, str]]) -> list[str]:
    """The resources of an action, several a line."""
    names = [name for _, name in found]
    rows = [", ".join(names[place : place + NAMES_A_LINE]) for place in range(0, len(names), NAMES_A_LINE)]
    return [f"{action}: {rows[0]}", *(f"  {row}" for row in rows[1:])] if rows else []
