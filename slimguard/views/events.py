"""Events of a log: a line of a level with the lines that belong to it, grouped by what they say; order is kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slimguard.views.levels import STAMP

EVENT_LINES = 400
TEMPLATE_CHARS = 200
"""Messages that differ further right are told apart by nothing else."""
FRAMES_KEPT = 3
"""Frames shown of each exception of a long trace."""
_FRAME = re.compile(r"\s+(?:at |File \"|\d+: |\.\.\. \d+ )")
LINE_READ = 300
"""Characters of a line that are looked at to tell what it is."""
_PARTS = re.compile(
    r"(?=[\"'/0-9a-fA-Fh])(?:\"[^\"]{0,80}\"|'[^']{0,80}'|(?<=\s)/[\w./%-]+|https?://\S+|0x[0-9a-fA-F]+"
    r"|\b(?:[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}\b|(?=[0-9a-f]*\d)[0-9a-f]{7,}\b)|\d+(?:[.,:]\d+)*)"
)
"""What varies between like messages; the first look-ahead passes over most characters quickly."""
_PLACE = re.compile(r"(?:\./|/)?[\w.@/\\-]{1,200}\.\w{1,8}(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\)):?\s*(?:-\s+)?")
_CONTINUED = re.compile(
    r"\s+\S|Traceback \(most|Caused by|Suppressed:|\tat |\.\.\. \d+ more|During handling|The above exception|"
    r"[\w.$]+(?:Error|Exception|Warning|Failure|Exit|Interrupt)\b[:\s]?|[\w.]+\.[A-Z]\w+: |goroutine \d+|\s*\^|#\d+ "
    r"|stack backtrace|note: |\d+ +\| "
)
_EXCEPTION = re.compile(
    r"^\s*(?:E\s+)?([\w.$]*[A-Z][\w$]*(?:Error|Exception|Failure|Exit|Interrupt|Fault|Panic|Timeout))\b"
)


@dataclass(frozen=True, slots=True)
class Event:
    """A line and those that follow it up to `end` (exclusive), both 0-based."""

    start: int
    end: int
    severity: int
    key: str


@dataclass(frozen=True, slots=True)
class Group:
    """Events that say the same: the first one, how many there are, and where the last one is."""

    first: Event
    count: int
    last: Event


def template_of(line: str) -> str:
    """A message with its numbers, identifiers and quoted parts replaced, so that like messages are equal; without the
    place in a file that a compiler puts before it.
    """
    match = STAMP.match(line) or _PLACE.match(line)
    rest = line[match.end() :] if match else line
    return _PARTS.sub("#", rest[:TEMPLATE_CHARS]).strip()


def event_at(
    lines: Sequence[str],
    start: int,
    severity: int,
    *,
    stamped: bool,
    begins: Callable[[int], bool | None] = lambda _: None,
) -> Event:
    """The event that begins at line `start`: up to the next record when lines are stamped, else while lines look
    continued; a blank line ends it unless a trace goes on. `begins` says of lines whether they begin a record, where
    that is known.
    """
    end = start + 1
    limit = min(len(lines), start + EVENT_LINES)
    while end < limit:
        line = lines[end]
        if stamped:
            if STAMP.match(line) or (not line.strip() and end + 1 < limit and STAMP.match(lines[end + 1])):
                break
        elif (known := begins(end)) is not None:
            if known:
                break
        elif not _CONTINUED.match(line[:LINE_READ]) and not (
            not line.strip() and end + 1 < limit and _is_trace(lines[end + 1])
        ):
            break
        end += 1
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return Event(start, end, severity, _key(lines, start, end))


def grouped(events: Sequence[Event]) -> list[Group]:
    """Events by what they say; the severest first, then the rarest, then the earliest."""
    groups: dict[str, list[Event]] = {}
    for event in events:
        groups.setdefault(event.key, []).append(event)
    found = [Group(members[0], len(members), members[-1]) for members in groups.values()]
    return sorted(found, key=lambda group: (-group.first.severity, group.count, group.first.start))


def telling_lines(lines: Sequence[str], start: int, end: int) -> list[int]:
    """Of a long trace the lines that tell: exceptions, the frames where each was raised, and how it begins and ends."""
    kept: set[int] = {*range(start, min(end, start + 2)), end - 1}
    places = [place for place in range(start, end) if lines[place].strip()]
    frames = {place for place in places if _FRAME.match(lines[place][:LINE_READ])}
    for order, place in enumerate(places):
        if place in frames or (order and places[order - 1] in frames and lines[place].startswith("    ")):
            continue  # a frame, or the source line that Python prints under one
        kept.add(place)
        below = [other for other in places[order + 1 : order + 1 + FRAMES_KEPT] if other in frames]
        is_java = bool(below) and not lines[below[0]].lstrip().startswith("File ")
        kept.update(below if is_java else places[max(0, order - FRAMES_KEPT - 1) : order])
    return sorted(kept)


def exception_in(lines: Sequence[str], start: int, end: int) -> int | None:
    """The line of the exception that a trace ends with (the innermost cause), or None."""
    for place in range(end - 1, start, -1):
        if _EXCEPTION.match(lines[place][:LINE_READ]):
            return place
    return None


def _key(lines: Sequence[str], start: int, end: int) -> str:
    place = exception_in(lines, start, end) if end - start > 1 else None
    if place is None:
        return template_of(lines[start])
    return f"{template_of(lines[start])}\n{template_of(lines[place])}"


def _is_trace(line: str) -> bool:
    return line.startswith(("Traceback", "Caused by", "During handling", "The above exception", "\tat ", "goroutine "))
