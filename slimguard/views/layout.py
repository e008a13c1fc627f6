"""Fit the parts of a view into a budget of tokens, bytes, lines and line length; keeps whole lines, never overruns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from slimguard.model import Budget
from slimguard.ports import TokenCounter
from slimguard.views.model import Part

CUT = "…"


@dataclass(slots=True)
class Room:
    """What is left of a budget while lines are taken."""

    tokens: int
    bytes: int
    lines: int

    def take(self, tokens: int, size: int) -> bool:
        """Take one line's cost if there is room for it."""
        if tokens > self.tokens or size > self.bytes or self.lines < 1:
            return False
        self.tokens -= tokens
        self.bytes -= size
        self.lines -= 1
        return True


def fit(parts: Sequence[Part], budget: Budget, counter: TokenCounter) -> tuple[str, int]:
    """The text of the parts within the budget, and how many counted lines it holds."""
    room = Room(budget.tokens, budget.bytes, budget.lines if budget.lines is not None else 1 << 30)
    kept: dict[int, list[str]] = {}
    shown = 0
    for place in sorted(range(len(parts)), key=lambda place: (parts[place].rank, place)):
        part = parts[place]
        lines, count = _fit_part(part, room, budget, counter)
        kept[place] = lines
        shown += count if part.counted else 0
    body = "\n".join(line for place in range(len(parts)) for line in kept[place])
    return trimmed(body, budget, counter), shown


def _fit_part(part: Part, room: Room, budget: Budget, counter: TokenCounter) -> tuple[list[str], int]:
    limit = min(room.tokens, part.tokens if part.tokens is not None else room.tokens)
    most = part.most if part.most is not None else room.lines
    cap = Room(limit, room.bytes, min(room.lines, most))
    total = len(part.lines)
    more = part.more.replace("{n}", str(total))
    reserve = counter.count(more) + 1 if more and total > 1 else 0
    first, costs = _run(part.lines, cap, reserve, budget, counter, reverse=False)
    last: list[str] = []
    if part.ends and len(first) < total:
        half = sum(costs) // 2
        while len(first) > 1 and (sum(costs) > half or len(first) > (most + 1) // 2):
            cap.tokens += costs.pop()
            cap.bytes += _size(first[-1])
            cap.lines += 1
            first.pop()
        last, more_costs = _run(part.lines, cap, reserve, budget, counter, reverse=True, start=len(first))
        costs += more_costs
    left = total - len(first) - len(last)
    lines = list(first)
    if left and part.more and (first or last or part.rank <= 1):
        line = clip(part.more.replace("{n}", f"{left:,}"), budget.line_chars)
        cost = counter.count(line) + 1
        if cost <= room.tokens - sum(costs) and _size(line) <= cap.bytes and room.lines > len(first) + len(last):
            lines.append(line)
            costs.append(cost)
    lines += last
    for line, cost in zip(lines, costs + [0] * len(lines), strict=False):
        room.take(min(cost, room.tokens), min(_size(line), room.bytes))
    return lines, sum(1 for line in (*first, *last) if not line.startswith(f"{CUT} "))


def _run(
    lines: Sequence[str],
    cap: Room,
    reserve: int,
    budget: Budget,
    counter: TokenCounter,
    *,
    reverse: bool,
    start: int = 0,
) -> tuple[list[str], list[int]]:
    taken: list[str] = []
    costs: list[int] = []
    places = range(len(lines) - 1, start - 1, -1) if reverse else range(start, len(lines))
    for done, place in enumerate(places):
        line = clip(lines[place], budget.line_chars)
        cost = counter.count(line) + 1
        spare = reserve if done + 1 < len(places) else 0
        if cost + spare > cap.tokens or not cap.take(cost, _size(line)):
            break
        taken.append(line)
        costs.append(cost)
    if reverse:
        taken.reverse()
    return taken, costs


def clip(line: str, limit: int | None) -> str:
    """`line` in at most `limit` characters, with a mark where it was cut."""
    if limit is None or len(line) <= limit:
        return line
    return line[: max(0, limit - 1)] + CUT


def _size(line: str) -> int:
    return len(line.encode("utf-8", "surrogatepass")) + 1


def trimmed(body: str, budget: Budget, counter: TokenCounter) -> str:
    """The last guard: the whole text counted, lines dropped from the middle until it fits."""
    lines = body.split("\n")
    while lines and not (
        len(body.encode("utf-8", "surrogatepass")) <= budget.bytes and counter.within(body, budget.tokens)
    ):
        middle = len(lines) // 2
        del lines[middle : middle + max(1, len(lines) // 12)]
        body = "\n".join(lines)
    return body
