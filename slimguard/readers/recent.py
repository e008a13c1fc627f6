"""The caller's recent results as a list, newest first: what a model needs to find a result again; never content."""

from __future__ import annotations

from collections.abc import Sequence

from slimguard.frame import MARK, read_call, size_text
from slimguard.model import StoredCall
from slimguard.policy import RECENT_RESULTS


def recent(calls: Sequence[StoredCall], now: float) -> str:
    """One line a result: ref, tool, age, size, state; `now` in seconds since the epoch. `calls` are newest first."""
    if not calls:
        return f"{MARK}recent results: none yet; call_tool makes them]"
    shown = calls[:RECENT_RESULTS]
    lines = [_line(call, now) for call in shown]
    more = f" of {len(calls)}" if len(calls) > len(shown) else ""
    first = f"{MARK}recent results, newest first: {len(shown)}{more}]"
    readable = next((call for call in shown if call.state == "stored"), None)
    last = f"{MARK}next: {read_call(readable.ref, 'outline')}]" if readable is not None else f"{MARK}none is readable]"
    return "\n".join([first, *lines, last])


def _line(call: StoredCall, now: float) -> str:
    parts = [call.ref, f"{call.server}/{call.tool}", f"{age_text(max(0.0, now - call.created_at))} ago"]
    if call.size is not None:
        parts.append(size_text(call.size))
    parts.append("error" if call.is_error and call.state == "stored" else call.state)
    if call.note:
        parts.append(call.note)
    return "  ".join(parts)


def age_text(seconds: float) -> str:
    """`12 s`, `5 min`, `3 h`, `2 d`."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"
