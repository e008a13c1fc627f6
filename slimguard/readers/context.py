"""What belongs to a hit in a text: its stack trace, its paragraph, what is under it and above it; never the search.

Works on offsets of one text between two bounds, so that a string inside JSON is treated like a text of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

Style = Literal["log", "diff", "tree", "rows", "prose"]
Line = tuple[int, int]
"""Offsets of the start and the end of a line, or of a text in a larger one."""

STAMP = re.compile(
    r"[\[(<]?(?:\d{4}-\d\d-\d\d[T ]|\d{4}/\d\d/\d\d |\d\d-\d\d \d\d:\d\d|\d\d:\d\d:\d\d|"
    r"[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d|\d{9,13}[.\s]|[A-Z]\d{4} \d\d:|(?:time|ts|timestamp|level|lvl)=|"
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE)\b)"
)
"""How an entry of a log begins: a time, or a level."""
_DIFF = re.compile(r"(?:diff --git |@@ -\d|\+\+\+ |--- )")
_LISTED = re.compile(r"\s*(?:[-*+•]|\d+[.)]|[\w.\"'$@-]+:(?:\s|$))\s*")
_RUN = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")
_SHAPE_CHARS, _SHAPE_RUNS = 60, 7
_SECTION_CHARS = 20_000
_SAMPLE_CHARS = 24_000
ENTRY_LINES = 40
"""Lines of one log entry that are shown; of a longer stack trace the head and the tail."""
ANCESTORS = 3
_LOOK_BACK_LINES = 2_000


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines to show for a hit: `above` are enclosing lines further up, `start` to `end` is one run of whole lines, of
    which lines from `first` to `last` (offsets) hold the hit; `gap` is a part in the middle that is left out."""

    above: tuple[tuple[int, int], ...]
    start: int
    end: int
    gap: tuple[int, int] | None = None


def style_of(text: str, low: int, high: int) -> Style:
    """How the text is built, from samples at its start and in its middle."""
    sample = text[low : min(high, low + _SAMPLE_CHARS)]
    middle = (low + high) // 2
    if high - low > 4 * _SAMPLE_CHARS:
        sample += text[middle : middle + _SAMPLE_CHARS]
    lines = [line for line in sample.split("\n") if line.strip()]
    if len(lines) < 3:
        return "prose"
    if sum(1 for line in lines if STAMP.match(line.lstrip())) * 2 > len(lines):
        return "log"
    if any(line.startswith(("diff --git ", "@@ -")) for line in lines):
        return "diff"
    if _alike_rows(lines):
        return "rows"
    indents = {len(line) - len(line.lstrip()) for line in lines}
    indented = sum(1 for line in lines if line[0] in " \t")
    if len(indents) >= 3 and indented * 5 > len(lines) * 2:
        return "tree"
    return "prose"


def _shape(line: str) -> str:
    """How a line begins, whatever its words and numbers are."""
    return _RUN.sub("a", _DIGITS.sub("0", line[:_SHAPE_CHARS]))[:_SHAPE_RUNS]


def _is_row(text: str, line: Line, bounds: Line) -> bool:
    """Whether a line begins as the one above or below it does."""
    (start, end), (low, high) = line, bounds
    shape = _shape(text[start:end])
    if start > low and shape == _shape(text[slice(*line_span(text, start - 1, low, high))]):
        return True
    return end + 1 < high and shape == _shape(text[slice(*line_span(text, end + 1, low, high))])


def _heading_above(text: str, start: int, low: int) -> tuple[Line, ...]:
    """The nearest markdown heading above a line that is none itself."""
    if text.startswith("#", start):
        return ()
    place = text.rfind("\n#", max(low, start - _SECTION_CHARS), start)
    if place < 0:
        return ()
    end = text.find("\n", place + 1)
    return ((place + 1, end),) if end >= 0 and text[place + 1 : end].lstrip("#").startswith(" ") else ()


def _alike_rows(lines: list[str]) -> bool:
    """Whether most lines begin alike, with digits or marks: then each is a record of its own."""
    shapes = Counter(map(_shape, lines))
    shape, count = shapes.most_common(1)[0]
    return count * 2 > len(lines) and count > 3 and any(char not in "a .,'" for char in shape)


def line_span(text: str, offset: int, low: int, high: int) -> tuple[int, int]:
    """Start and end of the line that holds `offset`, without its line end."""
    start = text.rfind("\n", low, offset) + 1 or low
    end = text.find("\n", offset, high)
    return max(start, low), high if end < 0 else end


def excerpt(text: str, span: tuple[int, int], low: int, high: int, *, style: Style, room: int) -> Excerpt:
    """The lines around the hit at `span`, with about `room` characters of context."""
    start, end = line_span(text, span[0], low, high)
    last = line_span(text, max(span[0], span[1] - 1), low, high)[1]
    end = min(last, end + 2_000)
    if style == "log":
        return _entry(text, (start, end), (low, high), room)
    if style == "diff":
        return Excerpt(_diff_above(text, start, low), *_around(text, (start, end), (low, high), room))
    if style == "rows":
        if _is_row(text, (start, end), (low, high)):
            return Excerpt((), start, end)
        style = "prose"
    above = _ancestors(text, start, low) if style == "tree" else ()
    if style == "prose" and room:
        above = _heading_above(text, start, low)
    spent = sum(min(120, last - first) for first, last in above)
    return Excerpt(above, *_belonging(text, (start, end), (low, high), max(0, room - spent), style))


def _entry(text: str, line: Line, bounds: Line, room: int) -> Excerpt:
    """A log entry whole: from the line with the time stamp to before the next one."""
    (start, end), (low, high) = line, bounds
    first = start
    for _ in range(400):
        if first <= low or STAMP.match(text, _text_start(text, first)):
            break
        first = text.rfind("\n", low, first - 1) + 1 or low
    if not STAMP.match(text, _text_start(text, first)):
        first = start
    last = end
    lines = 1
    while last < high and lines < 400:
        following = last + 1
        if following >= high or STAMP.match(text, _text_start(text, following)):
            break
        last = line_span(text, following, low, high)[1]
        lines += 1
    while last > end and not text[text.rfind("\n", start, last) + 1 : last].strip():
        last = text.rfind("\n", start, last)
    if last - first <= max(room, end - start):
        return Excerpt((), first, last)
    head = _whole_lines(text, first, first + room // 2, last)
    tail = text.find("\n", max(head, last - room // 2), last) + 1 or last
    if head < start < tail:  # the hit is in the middle: head, hit, and what follows it
        tail = start
        last = _whole_lines(text, end, end + room // 2, last)
    head = max(head, end) if start <= head else head
    return Excerpt((), first, last, (head, tail)) if tail > head + 1 else Excerpt((), first, last)


def _whole_lines(text: str, start: int, wanted: int, high: int) -> int:
    """The last line's end up to `wanted`, or the first one after `start` when there is none."""
    place = text.rfind("\n", start, wanted)
    place = place if place > start else text.find("\n", start, high)
    return high if place < 0 else place


def _text_start(text: str, start: int) -> int:
    return start + 1 if text[start : start + 1] in (" ", "\t", "\x1b") else start


def _indent(text: str, start: int, end: int) -> int:
    line = text[start:end]
    return len(line) - len(line.lstrip())


def _ancestors(text: str, start: int, low: int) -> tuple[tuple[int, int], ...]:
    """The nearest lines above with less indentation, outermost first."""
    end = text.find("\n", start)
    level = _indent(text, start, len(text) if end < 0 else end)
    found: list[tuple[int, int]] = []
    position = start
    for _ in range(_LOOK_BACK_LINES):
        if position <= low or level == 0:
            break
        above = text.rfind("\n", low, position - 1) + 1 or low
        line = text[above : position - 1]
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent < level:
            found.append((above, position - 1))
            level = indent
        position = above
    if len(found) > ANCESTORS:
        found = [*found[: ANCESTORS - 1], found[-1]]
    return tuple(reversed(found))


def _diff_above(text: str, start: int, low: int) -> tuple[tuple[int, int], ...]:
    """The file and the hunk of a line in a diff."""
    end = text.find("\n", start)
    if _DIFF.match(text, start):
        return ()
    found: list[tuple[int, int]] = []
    for mark in ("\n@@ ", "\n+++ "):
        place = text.rfind(mark, low, start)
        if place >= 0 and (not found or place < found[-1][0]):
            end = text.find("\n", place + 1)
            found.append((place + 1, len(text) if end < 0 else end))
    return tuple(reversed(found))


def _around(text: str, line: Line, bounds: Line, room: int) -> Line:
    """A third of the room above, the rest below."""
    (start, end), (low, high) = line, bounds
    first = start
    while first > low and start - first < room // 3:
        above = text.rfind("\n", low, first - 1) + 1 or low
        if start - above > room // 2 + 40 or _DIFF.match(text, above):
            break
        first = above
    return first, _below(text, end, high, room - (start - first))


def _below(text: str, end: int, high: int, room: int) -> int:
    last = end
    while last < high:
        following = text.find("\n", last + 1, high)
        following = high if following < 0 else following
        if following - end > room:
            break
        last = following
    return last


def _belonging(text: str, line: Line, bounds: Line, room: int, style: Style) -> Line:
    """The hit with the rest of its paragraph, or what is indented under it."""
    (start, end), (low, high) = line, bounds
    level = _indent(text, start, end)
    listed = _LISTED.match(text, start) is not None
    last = end
    lines = 0
    below = room * 2 // 3 if style == "prose" and start > low and text[start - 2 : start - 1].strip() else room
    while last < high:
        following, stop = line_span(text, last + 1, low, high) if last + 1 < high else (high, high)
        if stop - end > below:
            break
        if not text[following:stop].strip():
            ahead = text[stop : stop + 200].lstrip("\n")
            deeper = len(ahead) - len(ahead.lstrip(" \t")) > level
            if lines > 1 and not deeper:
                break
        elif style == "tree" and (listed or lines) and _indent(text, following, stop) <= level and listed:
            break
        last = stop
        lines += 1
    while last > end and not text[text.rfind("\n", start, last) + 1 : last].strip():
        last = text.rfind("\n", start, last)
    first = start
    if style == "prose":
        while first > low and start - first < (room - (last - end)) // 2:
            above = text.rfind("\n", low, first - 1) + 1 or low
            if not text[above : first - 1].strip() or start - above > room - (last - end):
                break
            first = above
    return first, last
