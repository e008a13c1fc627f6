"""Logs and command output: levels, time span, what failed with its stack trace whole, warnings by template, both ends.

Lines are shown with their numbers, as `lines:` takes them; colours and overwritten progress are gone from the view only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from slimguard.query import Query, print_query
from slimguard.views.cells import one_line
from slimguard.views.events import Event, Group, event_at, exception_in, grouped, template_of
from slimguard.views.failures import failing_lines
from slimguard.views.levels import ERROR, FATAL, STAMP, WARN, levels_of, stamp_of
from slimguard.views.lines import shown_lines
from slimguard.views.model import Content, Part, Sketch

LINE_CHARS = 400
FATAL_TOKENS = 700
ERROR_TOKENS = 800
TEST_TOKENS = 600
WARN_TOKENS = 180
END_LINES = 3
TRACE_LINES = 24
WARNINGS_SHOWN = 8
EVENTS_AT_MOST = 20_000
GROUPS_AT_MOST = 40


def looks_like_log(lines: Sequence[str]) -> bool:
    """Whether many lines carry a time stamp or a level, or test runners speak in it."""
    count = len(lines)
    if count < 4:
        return False
    step = max(1, count // 200)
    some = [line for line in lines[::step][:220] if line.strip()]
    stamped = sum(1 for line in some if stamp_of(line))
    if stamped * 4 >= len(some):
        return True
    text = "\n".join(some)
    starts = _starts(some)
    if len(levels_of(some, text, starts)) * 5 >= len(some):
        return True
    failed, summary, exits = failing_lines([*lines[:2_000], *lines[-2_000:]] if count > 4_000 else lines)
    return bool((failed and (summary or exits)) or (summary and count > 20) or (exits and failed) or len(failed) >= 3)


def log_view(content: Content) -> Sketch:
    """The view of a log."""
    lines = shown_lines(content.text)
    levels = levels_of(lines, "\n".join(lines), _starts(lines))
    stamped = _is_stamped(lines)
    failed, summary, exits = failing_lines(lines)
    parts = [Part(_overview(lines, levels), rank=0)]
    parts.extend(_test_parts(lines, failed, summary, exits, content))
    events = _events(lines, levels, stamped=stamped)
    parts.extend(_event_parts(lines, events, content))
    parts.extend(_warning_parts(lines, levels, content))
    parts.extend(_ends(lines, content))
    hint = _hint(lines, events, failed)
    return Sketch("log", parts, f"{len(lines):,} lines", hints=(hint,))


def _starts(lines: Sequence[str]) -> list[int]:
    starts: list[int] = []
    position = 0
    for line in lines:
        starts.append(position)
        position += len(line) + 1
    return starts


def _is_stamped(lines: Sequence[str]) -> bool:
    step = max(1, len(lines) // 200)
    some = [line for line in lines[::step][:220] if line.strip() and not line.startswith((" ", "\t"))]
    return bool(some) and sum(1 for line in some if STAMP.match(line)) * 2 >= len(some)


def _overview(lines: Sequence[str], levels: dict[int, tuple[int, str]]) -> list[str]:
    counts = Counter(word.upper() for _, word in levels.values() if len(word) < 12)
    ranks = {word.upper(): rank for rank, word in levels.values()}
    ordered = sorted(counts, key=lambda word: (-ranks[word], word))
    text = [f"levels: {', '.join(f'{word} {counts[word]:,}' for word in ordered)}"] if ordered else []
    first = next((stamp for line in lines[:200] if (stamp := stamp_of(line))), "")
    last = next((stamp for line in reversed(lines[-200:]) if (stamp := stamp_of(line))), "")
    if first and last:
        text.append(f"time: {first} … {last}")
    return text


def _events(lines: Sequence[str], levels: dict[int, tuple[int, str]], *, stamped: bool) -> list[Event]:
    events: list[Event] = []
    end = -1
    for place in sorted(place for place, (rank, _) in levels.items() if rank >= ERROR):
        if place < end:
            continue
        event = event_at(lines, place, levels[place][0], stamped=stamped)
        events.append(event)
        end = event.end
        if len(events) >= EVENTS_AT_MOST:
            break
    return events


def _event_parts(lines: Sequence[str], events: Sequence[Event], content: Content) -> list[Part]:
    """One part for each kind of error: in short for all that fit, then whole, the severest and rarest first."""
    groups = grouped(events)
    room = content.share(ERROR_TOKENS)
    shown: list[list[str]] = []
    for group in groups[:GROUPS_AT_MOST]:
        body = _event_lines(lines, group, whole=group.first.severity >= FATAL)
        cost = _cost(body, content)
        if cost > room and group.first.severity < FATAL:
            break
        room -= cost
        shown.append(body)
    for place, group in enumerate(groups[: len(shown)]):
        body = _event_lines(lines, group, whole=True)
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


def _event_lines(lines: Sequence[str], group: Group, *, whole: bool) -> list[str]:
    event = group.first
    again = f" (×{group.count:,}, last L{group.last.start + 1})" if group.count > 1 else ""
    shown = [f"L{event.start + 1}: {_line(lines[event.start])}{again}"]
    trace = range(event.start + 1, event.end)
    if not trace:
        return shown
    if whole and len(trace) <= TRACE_LINES:
        return shown + [_line(lines[place]) for place in trace]
    if whole:
        head = [_line(lines[place]) for place in trace[: TRACE_LINES // 3]]
        tail = [_line(lines[place]) for place in trace[-2 * TRACE_LINES // 3 :]]
        return [*shown, *head, f"… {len(trace) - len(head) - len(tail)} lines", *tail]
    cause = exception_in(lines, event.start, event.end)
    return shown if cause is None else [*shown, f"L{cause + 1}: {_line(lines[cause])}"]


def _test_parts(
    lines: Sequence[str], failed: Sequence[int], summary: Sequence[int], exits: Sequence[int], content: Content
) -> list[Part]:
    parts: list[Part] = []
    if failed:
        names = list(dict.fromkeys(one_line(lines[place]) for place in failed))
        first = {one_line(lines[place]): place for place in reversed(failed)}
        shown = [f"L{first[name] + 1}: {name[:LINE_CHARS]}" for name in names]
        parts.append(
            Part(shown, rank=1, tokens=content.share(TEST_TOKENS), more="… {n} more failing", ends=True, counted=True)
        )
    closing = sorted({*summary[-4:], *exits[-3:]})
    if closing:
        parts.append(Part([f"L{place + 1}: {_line(lines[place])}" for place in closing], rank=1, counted=True))
    return parts


def _warning_parts(lines: Sequence[str], levels: dict[int, tuple[int, str]], content: Content) -> list[Part]:
    places: dict[str, list[int]] = {}
    for place, (rank, _) in levels.items():
        if rank == WARN:
            places.setdefault(template_of(lines[place]), []).append(place)
    if not places:
        return []
    ordered = sorted(places.values(), key=lambda found: (-len(found), found[0]))
    shown = [f"×{len(found):,} L{found[0] + 1}: {_line(lines[found[0]])[:200]}" for found in ordered[:WARNINGS_SHOWN]]
    more = len(ordered) - len(shown)
    head = f"warnings: {sum(len(found) for found in ordered):,} of {len(ordered):,} {'kind' if len(ordered) == 1 else 'kinds'}"
    return [
        Part(
            [head, *shown, *([f"… {more:,} more kinds of warnings"] if more else [])],
            rank=4, tokens=content.share(WARN_TOKENS), more="… {n} more",
        )
    ]  # fmt: skip


def _ends(lines: Sequence[str], content: Content) -> list[Part]:
    if len(lines) <= 2 * END_LINES:
        return [Part([_line(line) for line in lines], rank=3, counted=True)]
    first = [f"L{place + 1}: {_line(lines[place])}" for place in range(2)]
    places = range(len(lines) - END_LINES, len(lines))
    last = [f"L{place + 1}: {_line(lines[place])}" for place in places]
    return [
        Part(["first and last lines:", *first], rank=3, tokens=content.share(150), more=""),
        Part(last, rank=2, tokens=content.share(220), more="", counted=True),
    ]


def _line(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…(+{len(line) - LINE_CHARS})"


def _hint(lines: Sequence[str], events: Sequence[Event], failed: Sequence[int]) -> str:
    if failed:
        place = failed[0]
    elif events:
        place = min(events, key=lambda event: (-event.severity, event.start)).start
    else:
        return print_query(Query("last", last=60))
    return print_query(Query("lines", first=max(1, place - 9), last=min(len(lines), place + 31)))
