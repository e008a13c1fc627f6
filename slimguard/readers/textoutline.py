"""The outline of a text: levels and time span of a log, headings of prose, files of a diff; with line numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from slimguard.readers.context import STAMP, style_of
from slimguard.readers.summaries import clip

_LEVEL = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|SEVERE|PANIC|EMERG|ALERT)\b", re.IGNORECASE
)
_HEADING = re.compile(r"#{1,6} +\S|<h[1-6][ >]")
_HEADING_TEXT = re.compile(r"<[^>]+>")
_UNDERLINED = re.compile(r"(?:={3,}|-{3,}|~{3,})\s*\Z")
_CAPITALS = re.compile(r"[A-ZΑ-Ω0-9][A-ZΑ-Ω0-9 _().,'/&-]{2,60}\Z")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?|\d\d:\d\d:\d\d(?:[.,]\d+)?|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d"
)
_TOP_TEMPLATES = 8
_VARIES = re.compile(r"[0-9a-f]{6,}|[A-Za-z]*\d[A-Za-z\d]*")
_LINES_LOOKED_AT = 400_000


def text_lines(text: str) -> Iterator[str]:
    """Lines about `text`, by how it is built."""
    style = style_of(text, 0, len(text))
    lines = text.split("\n", _LINES_LOOKED_AT)
    yield f"longest line {max(map(len, lines[:_LINES_LOOKED_AT]))} characters"
    if style == "log":
        yield from _log(lines)
    elif style == "diff":
        yield from _diff(lines)
    else:
        yield from _headings(lines)


def _log(lines: list[str]) -> Iterator[str]:
    levels: Counter[str] = Counter()
    first: dict[str, int] = {}
    templates: Counter[str] = Counter()
    times: list[str] = []
    for number, line in enumerate(lines, 1):
        stamp = STAMP.match(line.lstrip())
        if stamp is None:
            continue
        level = _LEVEL.search(line[:120])
        name = level.group(1).upper() if level else "no level"
        levels[name] += 1
        first.setdefault(name, number)
        time = _TIME.search(line[:60])
        if time is not None:
            times = [times[0] if times else time.group(), time.group()]
        templates[_VARIES.sub("#", line[level.end() if level else stamp.end() :][:80])] += 1
    if times:
        yield f"time: {times[0]} … {times[-1]}"
    yield "levels: " + ", ".join(f"{name} {count} (first line {first[name]})" for name, count in levels.most_common())
    yield f"templates: {len(templates)} distinct"
    for template, count in templates.most_common(_TOP_TEMPLATES):
        yield f"  ×{count}{clip(template, 80)}"
    rare = [template for template, count in templates.items() if count == 1]
    if rare and len(templates) > _TOP_TEMPLATES:
        yield f"  once: {len(rare)}, such as{clip(rare[0], 80)}"


def _diff(lines: list[str]) -> Iterator[str]:
    name, start, added, removed = "", 0, 0, 0
    for number, line in enumerate([*lines, "diff --git end"], 1):
        if line.startswith("diff --git "):
            if name:
                yield f"{start}: {name} +{added} -{removed}"
            name, start, added, removed = line.rpartition(" b/")[2], number, 0, 0
        elif line.startswith("+") and not line.startswith("+++"):
            added += 1
        elif line.startswith("-") and not line.startswith("---"):
            removed += 1


def _headings(lines: list[str]) -> Iterator[str]:
    found: list[tuple[int, str]] = []
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            fenced = not fenced
        if fenced or not line or len(line) > 400:
            continue
        if _HEADING.match(line):
            found.append((number, _HEADING_TEXT.sub("", line)))
        elif _UNDERLINED.match(line) and number > 1 and 0 < len(lines[number - 2]) <= 100:
            found.append((number - 1, lines[number - 2]))
        elif _CAPITALS.match(line) and (number == 1 or not lines[number - 2].strip()):
            found.append((number, line))
    if found:
        yield f"headings ({len(found)}), by line:"
        yield from (f"{number}: {clip(text.strip(), 100)}" for number, text in found)
        return
    start = next((line for line in lines if line.strip()), "")
    end = next((line for line in reversed(lines) if line.strip()), "")
    yield f"first line: {clip(start, 160)}"
    if end is not start:
        yield f"last line: {clip(end, 160)}"
