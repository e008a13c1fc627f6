"""Whether what one server returned may go into a call of another: a pure decision from the settings."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

ARROW = "->"


def may_flow(source: tuple[str, str], target: tuple[str, str], allow: Sequence[str], deny: Sequence[str]) -> bool:
    """Whether a result of `source` (server, tool) may go to `target`; within one server by default, a deny wins."""
    if any(matches(rule, source, target) for rule in deny):
        return False
    return source[0] == target[0] or any(matches(rule, source, target) for rule in allow)


def matches(rule: str, source: tuple[str, str], target: tuple[str, str]) -> bool:
    """Whether `FROM -> TO` covers the flow; each side is a glob on the server, or with a `/` on `server/tool`."""
    left, arrow, right = rule.partition(ARROW)
    return bool(arrow) and _side(left.strip(), source) and _side(right.strip(), target)


def wrong_rule(rule: str) -> str:
    """What is wrong with a rule, or an empty text."""
    left, arrow, right = rule.partition(ARROW)
    if not arrow or not left.strip() or not right.strip() or ARROW in right:
        return 'must be "FROM -> TO", each a glob on a server or on server/tool, such as "wiki -> mail/send_*"'
    return ""


def _side(glob: str, tool: tuple[str, str]) -> bool:
    return fnmatchcase(f"{tool[0]}/{tool[1]}" if "/" in glob else tool[0], glob)
