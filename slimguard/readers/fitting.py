"""How much of an answer fits: units of text in order within a budget; never splits a character, always advances."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from slimguard.frame import printable
from slimguard.model import Budget
from slimguard.ports import TokenCounter

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fitted:
    """A body of units `first` to before `end`; `offset` is where in unit `end` the next answer starts (0: at its
    start), `more` whether there is a next answer."""

    body: str
    end: int
    offset: int
    more: bool

    @property
    def position(self) -> tuple[int, ...] | None:
        """The cursor position after this body: unit and, inside a unit, the character."""
        if not self.more:
            return None
        return (self.end, self.offset) if self.offset else (self.end,)


def less(budget: Budget, *, tokens: int = 0, size: int = 0, lines: int = 0) -> Budget:
    """`budget` after so much of it is spent, never below what makes progress."""
    return replace(
        budget,
        tokens=max(16, budget.tokens - tokens),
        bytes=max(64, budget.bytes - size),
        lines=None if budget.lines is None else max(1, budget.lines - lines),
    )


def capped(budget: Budget, tokens: int) -> Budget:
    """`budget` with at most `tokens` tokens."""
    return replace(budget, tokens=min(budget.tokens, tokens))


def fit(
    units: Sequence[T],
    budget: Budget,
    counter: TokenCounter,
    start: tuple[int, ...] = (),
    *,
    render: Callable[[T], str] = str,
) -> Fitted:
    """The longest run of units, each on lines of its own, from position `start` that fits `budget`.

    A unit that does not fit alone is shown in part and goes on at the next position. Only what is shown is rendered.
    """
    first = start[0] if start else 0
    offset = start[1] if len(start) > 1 else 0
    taken: list[str] = []
    ends: list[int] = []
    size = lines = 0
    for unit in islice(units, first, None):
        text = render(unit)
        text = text[offset:] if not taken else text
        rows = text.count("\n") + 1
        over = size + len(text) > budget.bytes or (budget.lines is not None and lines + rows > budget.lines)
        if over and taken:
            break
        taken.append(text)
        size += len(text) + 1
        lines += rows
        ends.append(size)
        if over:
            break
    body = printable("\n".join(taken))
    end = counter.page_end(body, 0, budget.tokens, cut_lines=False, max_bytes=budget.bytes, max_lines=budget.lines)
    if end >= len(body):
        return Fitted(body, first + len(taken), 0, more=first + len(taken) < len(units))
    whole = bisect_right(ends, end + 1)
    if whole:
        return Fitted(body[: ends[whole - 1] - 1], first + whole, 0, more=True)
    return Fitted(body[:end], first, offset + end, more=True)
