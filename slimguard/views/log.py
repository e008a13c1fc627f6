"""Logs and command output: levels, time span, what failed with its stack trace whole, warnings by template, both ends.

Lines are shown with their numbers, as `lines:` takes them; colours and overwritten progress are gone from the view.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from slimguard.query import Query, print_query
from slimguard.views.events import Event, Group, event_at, exception_in, grouped, telling_lines, template_of
from slimguard.views.failures import Failure, failing_lines, failures_of
from slimguard.views.levels import ERROR, FATAL, STAMP, WARN, levels_of, stamp_of
from slimguard.views.lines import line_starts
from slimguard.views.model import Content, Part, Sketch

LINE_CHARS = 400
ERROR_TOKENS = 800
TEST_TOKENS = 700
WARN_TOKENS = 180
END_LINES = 3
EXIT_LINES = 30
"""An exit status within so many lines of the end makes a text the output of a command."""
TRACE_LINES = 24
WARNINGS_SHOWN = 8
EVENTS_AT_MOST = 20_000
GROUPS_AT_MOST = 40
FAILURES_AT_MOST = 60
_STATUS = re.compile(r"\" (\d{3}) (?:\d+|-)(?: |$)")


CARETS = re.compile(r"\s*[~^]+\s*$")
"""Lines that only point at the line above; they go, for the room they take."""


@dataclass(frozen=True, slots=True)
class _Log:
    """The lines of a log: as shown, without their time stamps where every line has one, and their levels."""

    lines: Sequence[str]
    bare: Sequence[str]
    levels: dict[int, tuple[int, str]]
    stamped: bool
    """Whether records begin with a stamp and what belongs to them does not."""

    def begins(self, place: int) -> bool | None:
        """Whether a line begins a record: it has a level below an error's; or not, for want of the stamp of all others.
        None when that does not tell.
        """
        if self.levels.get(place, (ERROR, ""))[0] < ERROR:
            return True
        if self.bare is self.lines:
            return None
        return None if STAMP.match(self.lines[place]) else False


def looks_like_log(lines: Sequence[str]) -> bool:
    """Whether many lines carry a time stamp or a level, or test runners speak in it."""
    count = len(lines)
    if count < 4:
        return False
    step = max(1, count // 200)
    some = [line for line in lines[::step][:220] if line.strip()]
    if not some:
        return False
    stamped = sum(1 for line in some if stamp_of(line))
    if stamped * 4 >= len(some):
        return True
    if len(levels_of(some, "\n".join(some), line_starts(some))) * 5 >= len(some):
        return True
    failed, summary, exits = failing_lines([*lines[:2_000], *lines[-2_000:]] if count > 4_000 else lines)
    ended = count > 20 and any(place >= min(count, 4_000) - EXIT_LINES for place in exits) and len(exits) < 3
    return bool((failed and (summary or exits)) or (summary and exits) or len(failed) >= 3 or ended)


def log_view(content: Content) -> Sketch:
    """The view of a log."""
    log = _read(content.lines)
    failed, summary, exits = failing_lines(log.bare)
    failures = failures_of(log.bare, failed)
    told = {place for failure in failures for place in (failure.line, *failure.reason)} | set(failed)
    closing = sorted({*summary[-4:], *exits[-3:]})
    parts = [Part(_overview(log), rank=0)]
    parts.extend(_failure_parts(log, failures, content))
    parts.append(Part([_numbered(log, place) for place in closing], rank=1, counted=True))
    events = _events(log, told | set(closing))
    parts.extend(_event_parts(log, events, content))
    parts.extend(_warning_parts(log, content))
    parts.extend(_ends(log, told | set(closing), content))
    return Sketch("log", parts, f"{len(log.lines):,} lines", hints=(_hint(log, events, failures),))


def _read(lines: Sequence[str]) -> _Log:
    filled = [line for line in lines[:: max(1, len(lines) // 400)][:440] if line.strip()]
    own = sum(1 for line in filled if STAMP.match(line))
    bare: Sequence[str] = lines
    stamped = own * 2 >= sum(1 for line in filled if not line.startswith((" ", "\t")))
    if filled and own * 100 >= len(filled) * 97:
        bare = [_without_stamp(line) for line in lines]
        stamped = False
    return _Log(lines, bare, levels_of(bare, "\n".join(bare), line_starts(bare)), stamped)


def _without_stamp(line: str) -> str:
    match = STAMP.match(line)
    return line[match.end() :].removeprefix("]").removeprefix("Z").removeprefix(" ") if match else line


def _overview(log: _Log) -> list[str]:
    counts = Counter(word.upper() for _, word in log.levels.values() if len(word) < 12)
    ranks = {word.upper(): rank for rank, word in log.levels.values()}
    ordered = sorted(counts, key=lambda word: (-ranks[word], word))
    text = [f"levels: {', '.join(f'{word} {counts[word]:,}' for word in ordered)}"] if ordered else []
    first = next((stamp for line in log.lines[:200] if (stamp := stamp_of(line))), "")
    last = next((stamp for line in reversed(log.lines[-200:]) if (stamp := stamp_of(line))), "")
    if first and last:
        text.append(f"time: {first} … {last}")
    statuses = Counter(match.group(1) for line in _requests(log) if (match := _STATUS.search(line)))
    if sum(statuses.values()) * 2 > len(log.lines):
        text.append(f"HTTP status: {', '.join(f'{code} {count:,}' for code, count in sorted(statuses.items()))}")
    return text


def _requests(log: _Log) -> Sequence[str]:
    """The lines of an access log; of another log none."""
    some = log.lines[:: max(1, len(log.lines) // 100)][:120]
    return log.lines if sum(1 for line in some if _STATUS.search(line)) * 2 > len(some) else ()


def _events(log: _Log, told: set[int]) -> list[Event]:
    """Errors with what belongs to them, those left out that stand in `told` already; failed requests as well."""
    severities = {place: rank for place, (rank, _) in log.levels.items() if rank >= ERROR}
    for place, line in enumerate(_requests(log)):
        if place not in log.levels and (match := _STATUS.search(line)) and match.group(1)[0] == "5":
            severities[place] = ERROR
    events: list[Event] = []
    end = -1
    for place in sorted(severities):
        if place < end or place in told:
            continue
        lines = log.lines if log.stamped else log.bare
        event = event_at(lines, place, severities[place], stamped=log.stamped, begins=log.begins)
        events.append(event)
        end = event.end
        if len(events) >= EVENTS_AT_MOST:
            break
    return events


def _event_parts(log: _Log, events: Sequence[Event], content: Content) -> list[Part]:
    """One part for each kind of error: in short for all that fit, then whole, the severest and rarest first."""
    groups = grouped(events)
    room = content.share(ERROR_TOKENS)
    shown: list[list[str]] = []
    for group in groups[:GROUPS_AT_MOST]:
        body = _event_lines(log, group, whole=group.first.severity >= FATAL)
        cost = _cost(body, content)
        if cost > room and group.first.severity < FATAL:
            break
        room -= cost
        shown.append(body)
    for place, group in enumerate(groups[: len(shown)]):
        body = _event_lines(log, group, whole=True)
        extra = _cost(body, content) - _cost(shown[place], content)
        if 0 < extra <= room:
            room -= extra
            shown[place] = body
    parts = [
        Part(body, rank=1 if groups[place].first.severity >= FATAL or place < 3 else 2, ends=True, counted=True)
        for place, body in enumerate(shown)
    ]
    if len(groups) > len(shown):
        parts.append(Part((f"… {len(groups) - len(shown):,} more kinds of errors",), rank=2, more=""))
    return parts


def _cost(body: Sequence[str], content: Content) -> int:
    return content.tokens("\n".join(body)) + 1


def _event_lines(log: _Log, group: Group, *, whole: bool) -> list[str]:
    event = group.first
    again = f" (×{group.count:,}, last L{group.last.start + 1})" if group.count > 1 else ""
    shown = [f"{_numbered(log, event.start)}{again}"]
    lines = log.lines if log.stamped else log.bare
    trace = range(event.start + 1, event.end)
    if not trace:
        return shown
    if whole and len(trace) <= TRACE_LINES:
        return shown + [_line(lines[place]) for place in trace if not CARETS.match(lines[place])]
    if whole:
        return [*shown, *_gapped(lines, telling_lines(lines, event.start + 1, event.end))]
    cause = exception_in(lines, event.start, event.end)
    return shown if cause is None else [*shown, f"L{cause + 1}: {_line(lines[cause])}"]


def _gapped(lines: Sequence[str], places: Sequence[int]) -> list[str]:
    """Lines with how many were left out between them; of too many the first and the last."""
    if len(places) > TRACE_LINES:
        places = [*places[: TRACE_LINES // 3], *places[-2 * TRACE_LINES // 3 :]]
    shown: list[str] = []
    for order, place in enumerate(places):
        if order and place > places[order - 1] + 1:
            shown.append(f"… {place - places[order - 1] - 1} lines")
        if not CARETS.match(lines[place]):
            shown.append(_line(lines[place]))
    return shown


def _failure_parts(log: _Log, failures: Sequence[Failure], content: Content) -> list[Part]:
    """Failing tests with their reasons; without them when there are too many."""
    if not failures:
        return []
    whole = [line for failure in failures[:FAILURES_AT_MOST] for line in _failure_lines(log, failure)]
    if len(failures) > FAILURES_AT_MOST or not content.counter.within("\n".join(whole), content.share(TEST_TOKENS)):
        first = _failure_lines(log, failures[0])
        whole = [*first, *(_numbered(log, failure.line) for failure in failures[1:])]
    head = [Part((f"failing: {len(failures):,}",), rank=1)] if len(failures) > 3 else []
    more = "… {n} more lines of failing tests"
    return [*head, Part(whole, rank=1, tokens=content.share(TEST_TOKENS), more=more, ends=True, counted=True)]


def _failure_lines(log: _Log, failure: Failure) -> list[str]:
    return [
        _numbered(log, failure.line),
        *(_line(log.bare[place]) for place in failure.reason if not CARETS.match(log.bare[place])),
    ]


def _warning_parts(log: _Log, content: Content) -> list[Part]:
    places: dict[str, list[int]] = {}
    for place, (rank, _) in log.levels.items():
        if rank == WARN:
            places.setdefault(template_of(log.bare[place]), []).append(place)
    if not places:
        return []
    ordered = sorted(places.values(), key=lambda found: (-len(found), found[0]))
    shown = [
        f"×{len(found):,} L{found[0] + 1}: {_line(log.bare[found[0]])[:200]}" for found in ordered[:WARNINGS_SHOWN]
    ]
    more = [f"… {len(ordered) - len(shown):,} more kinds of warnings"] if len(ordered) > len(shown) else []
    kinds = "kind" if len(ordered) == 1 else "kinds"
    head = f"warnings: {sum(len(found) for found in ordered):,} of {len(ordered):,} {kinds}"
    return [Part([head, *shown, *more], rank=4, tokens=content.share(WARN_TOKENS), more="… {n} more")]


def _ends(log: _Log, told: set[int], content: Content) -> list[Part]:
    """The first and the last lines, those left out that were shown above."""
    count = len(log.lines)
    if count <= 2 * END_LINES:
        return [Part([_line(line) for line in log.lines], rank=3, counted=True)]
    first = [_numbered(log, place) for place in range(2) if place not in told]
    last = [_numbered(log, place) for place in range(count - END_LINES, count) if place not in told]
    return [
        Part(["first and last lines:", *first], rank=3, tokens=content.share(150), more=""),
        Part(last, rank=2, tokens=content.share(220), more="", counted=True),
    ]


def _numbered(log: _Log, place: int) -> str:
    return f"L{place + 1}: {_line(log.lines[place])}"


def _line(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…(+{len(line) - LINE_CHARS})"


def _hint(log: _Log, events: Sequence[Event], failures: Sequence[Failure]) -> str:
    if failures:
        place = failures[0].line
    elif events:
        place = min(events, key=lambda event: (-event.severity, event.start)).start
    else:
        return print_query(Query("last", last=60))
    return print_query(Query("lines", first=max(1, place - 9), last=min(len(log.lines), place + 31)))
