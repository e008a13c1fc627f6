"""How a hit in a text is written: `12: line` for a hit, `13- line` for its context, long lines cut around the hit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from slimguard.readers.context import Excerpt

Span = tuple[int, int]

_UNDERLINE = re.compile(r"[\s^~]*\^[\s^~]*\Z")
"""The carets under a line of a stack trace: left out, since they cost as much as the line."""
LINE_BEFORE = 80
LINE_AFTER = 240
ABOVE_CHARS = 120


def clipped(text: str, line: Span, spans: Sequence[Span], before: int, after: int) -> str:
    """The line; a long one is cut to what is around the first hit in it, `…` marking the cuts."""
    start, end = line
    if end - start <= before + after:
        return text[start:end]
    inside = [span for span in spans if span[0] < end and span[1] > start]
    first = inside[0][0] if inside else start
    last = max(first, min(end, inside[0][1])) if inside else start
    low = max(start, first - before) if inside else start
    high = min(end, max(last, first + after // 4) + after)
    low = _at_space(text, low, min(first, low + 20)) if low > start else low
    return f"{'…' if low > start else ''}{text[low:high]}{'…' if high < end else ''}"


def _at_space(text: str, low: int, limit: int) -> int:
    place = text.find(" ", low, limit)
    return low if place < 0 else place + 1


def written(
    text: str,
    shown: Excerpt,
    spans: Sequence[Span],
    number: Callable[[int], int] | None,
    *,
    before: int = LINE_BEFORE,
    after: int = LINE_AFTER,
    seen: set[int] | None = None,
) -> str:
    """The lines of an excerpt; `number` gives a line's number from an offset, None when lines have no numbers.

    Enclosing lines in `seen` are left out, and those written are added to it.
    """
    out: list[str] = []
    for start, end in shown.above:
        if seen is not None and start in seen:
            continue
        if seen is not None:
            seen.add(start)
        line = text[start : min(end, start + ABOVE_CHARS)] + ("…" if end - start > ABOVE_CHARS else "")
        out.append(f"{number(start)}- {line}" if number else line)
    position = shown.start
    count = number(position) if number else 0
    while position <= shown.end:
        end = text.find("\n", position, shown.end)
        end = shown.end if end < 0 else end
        if shown.gap and shown.gap[0] <= position < shown.gap[1]:
            left = text.count("\n", position, shown.gap[1])
            out.append(f"… {left} lines")
            count += left
            position = shown.gap[1]
            continue
        if _UNDERLINE.match(text, position, end):
            count += 1
            position = end + 1
            continue
        is_hit = any(span[0] <= end and span[1] > position for span in spans)
        line = clipped(text, (position, end), spans, before, after).rstrip("\r")
        out.append(f"{count}{':' if is_hit else '-'} {line}" if number else line)
        count += 1
        position = end + 1
    return "\n".join(out)
