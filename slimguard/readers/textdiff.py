"""Which lines of two texts differ: by lines that are unique in both, in linear time; never a quadratic search."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple


class Change(NamedTuple):
    """Lines `old_start` to before `old_end` (0-based) became lines `new_start` to before `new_end`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """The changes that make `new` of `old`, in order; correct, if not always the fewest."""
    found: list[Change] = []
    stack = [(0, len(old), 0, len(new))]
    while stack:
        low, high, first, last = stack.pop()
        while low < high and first < last and old[low] == new[first]:
            low, first = low + 1, first + 1
        while low < high and first < last and old[high - 1] == new[last - 1]:
            high, last = high - 1, last - 1
        if low == high and first == last:
            continue
        anchors = _anchors(old, new, (low, high), (first, last)) if low < high and first < last else []
        if not anchors:
            found.append(Change(low, high, first, last))
            continue
        for left, right in [*anchors, (high, last)]:
            stack.append((low, left, first, right))
            low, first = left, right
    found.sort()
    return found


def _anchors(
    old: Sequence[str], new: Sequence[str], here: tuple[int, int], there: tuple[int, int]
) -> list[tuple[int, int]]:
    """Pairs of equal lines that are unique on both sides and in the same order, as many as possible."""
    old_count = Counter(old[here[0] : here[1]])
    new_count = Counter(new[there[0] : there[1]])
    places = {line: place for place, line in enumerate(new[there[0] : there[1]], there[0]) if new_count[line] == 1}
    pairs = [
        (place, places[line])
        for place, line in enumerate(old[here[0] : here[1]], here[0])
        if old_count[line] == 1 and line in places
    ]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        spot = bisect_left(tails, place)
        tails[spot : spot + 1] = [place]
        ends[spot : spot + 1] = [index]
        before.append(ends[spot - 1] if spot else -1)
    chain: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]
