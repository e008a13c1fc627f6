"""Prose, markdown and manual pages: the headings with their lines, then the beginning and the end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from slimguard.query import Query, print_query
from slimguard.views.headings import Heading, heading_lines
from slimguard.views.model import Content, Part, Sketch

HEADING_TOKENS = 420
HEAD_TOKENS = 300
SHORT_HEAD_TOKENS = 190
"""The beginning of a text whose headings are listed."""
TAIL_TOKENS = 90
HEAD_LINES = 36
"""Lines of the beginning, however short they are."""
LINE_CHARS = 240
FEW_LINES = 3
LONG_LINE = 2_000
HEAD_CHARS = 700
TAIL_CHARS = 300
"""Of a text of a few lines, which are long, the beginning and the end of each are shown."""
ALIKE = 2
"""A beginning or an end shows so many lines that differ in their numbers only: one more of them tells nothing."""
ALIKE_CHARS = 16
"""Shorter lines (rules, bullets, blanks) repeat in any text."""
_DIGITS = re.compile(r"\d+")
_MARKDOWN = re.compile(r"(#{1,6}) +\S")
_SECTION = re.compile(r"\[+[^\[\]]{1,120}\]+\s*\Z")
SECTIONS_LEAST = 3
_UNDERLINE = re.compile(r"(=+|-+|~+|\^+)\s*\Z")
_NUMBERED = re.compile(r"(?:\d+\.)+\d*\s+\S|第.{1,6}[章节節]")


def headings_of(lines: Sequence[str]) -> list[Heading]:
    """Headings as (line 0-based, level from 1, text): markdown, underlined, or standing out before indented text."""
    return _sections(lines) or _markdown(lines) or _outdented(lines)


def _sections(lines: Sequence[str]) -> list[Heading]:
    """The sections of a configuration, whose comments look like headings of markdown."""
    found = [
        (place, 1, line.strip()) for place, line in enumerate(lines) if line[:1] == "[" and _SECTION.match(line[:200])
    ]
    if len(found) < SECTIONS_LEAST or sum(1 for line in lines if "=" in line[:80]) < len(found):
        return []
    return found


def prose_view(content: Content) -> Sketch:
    """The view of running text."""
    lines = content.lines
    return outlined("text", lines, headings_of(lines), content)


def outlined(kind: str, lines: Sequence[str], headings: Sequence[Heading], content: Content) -> Sketch:
    """A text as its headings (or definitions, or keys) with their lines, its beginning and its end."""
    parts: list[Part] = []
    if len(headings) > 1:
        parts.append(Part(heading_lines(headings, content, HEADING_TOKENS), rank=1, more="… {n} more", ends=True))
    head = HEAD_TOKENS if len(headings) < 3 else SHORT_HEAD_TOKENS
    parts.extend(head_and_tail(lines, content, head=head, alike=ALIKE if kind == "text" else len(lines)))
    shown = "the ends" if _has_few_long(lines) else ""
    return Sketch(kind, parts, _size(lines), shown, hints=(_hint(lines, headings),))


def _size(lines: Sequence[str]) -> str:
    """How many lines there are, and that long ones are cut where all of them may be shown."""
    count = f"{len(lines):,} line{'s' * (len(lines) != 1)}"
    if _has_few_long(lines) or len(lines) > HEAD_LINES or max(map(len, lines), default=0) <= LINE_CHARS:
        return count
    return f"{count}, long ones cut"


def _has_few_long(lines: Sequence[str]) -> bool:
    return 0 < len(lines) <= FEW_LINES and max(map(len, lines)) > LONG_LINE


def head_and_tail(
    lines: Sequence[str], content: Content, *, head: int = HEAD_TOKENS, tail: int = TAIL_TOKENS, alike: int = ALIKE
) -> list[Part]:
    """The first lines and the last ones, told apart by their line numbers."""
    if content.counter.within("\n".join(lines[:400]), content.share(head + tail)) and len(lines) <= 400:
        return [Part([clipped(line) for line in lines], rank=1, counted=True)]
    if _has_few_long(lines):
        return _ends_of_lines(lines, content)
    first = _take(lines, content, content.share(head), alike)
    last = _take(lines[len(first) :][::-1], content, content.share(tail), alike)[::-1]
    start = len(lines) - len(last) + 1
    parts = _ranged(first, 1)
    return parts + _ranged(last, start) if last else parts


def _ends_of_lines(lines: Sequence[str], content: Content) -> list[Part]:
    """A text of a few long lines: how each begins and ends."""
    shown: list[str] = []
    for place, line in enumerate(lines):
        shown.append(f"L{place + 1}: {line[:HEAD_CHARS]}")
        if len(line) > HEAD_CHARS:
            end = line[max(HEAD_CHARS, len(line) - TAIL_CHARS) :]
            shown.append(f"… {len(line) - HEAD_CHARS - len(end):,} characters between")
            shown.append(end)
    return [Part(shown, rank=1, tokens=content.share(HEAD_TOKENS + TAIL_TOKENS), more="", ends=True, counted=True)]


def _ranged(lines: Sequence[str], start: int) -> list[Part]:
    """Lines under a line that says which they are."""
    label = f"{_range(start, start + len(lines) - 1)}:"
    return [Part((label,), rank=2), Part([clipped(line) for line in lines], rank=2, more="", counted=True)]


def _range(first: int, last: int) -> str:
    return f"L{first}" if first == last else f"L{first}-{last}"


def clipped(line: str) -> str:
    """A line of the text, cut with a flag when it is very long."""
    line = line.rstrip()
    return line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…(+{len(line) - LINE_CHARS})"


def _take(lines: Sequence[str], content: Content, tokens: int, alike: int) -> list[str]:
    """Lines from the first on, for so many tokens, and at most `alike` that differ in their numbers only."""
    taken: list[str] = []
    seen: Counter[str] = Counter()
    used = 0
    for line in lines:
        used += content.tokens(clipped(line)) + 1
        shape = _DIGITS.sub("0", line)
        seen[shape] += 1
        same = seen[shape] > alike and len(shape) >= ALIKE_CHARS
        if taken and (used > tokens or same or len(taken) >= HEAD_LINES):
            break
        taken.append(line)
    return taken


def _markdown(lines: Sequence[str]) -> list[Heading]:
    found: list[Heading] = []
    fenced = False
    for place, line in enumerate(lines):
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        if fenced:
            continue
        match = _MARKDOWN.match(line)
        if match:
            found.append((place, len(match.group(1)), line.strip("# ").strip()))
        elif place and _UNDERLINE.match(line) and len(line.strip()) >= 3 and _is_title(lines, place):
            found.append((place - 1, 1 if line[0] == "=" else 2, lines[place - 1].strip()))
    return found


def _is_title(lines: Sequence[str], place: int) -> bool:
    above = lines[place - 1]
    blank = place < 2 or not lines[place - 2].strip()
    return bool(above.strip()) and not above.startswith((" ", "|", "-")) and len(above) <= 100 and blank


def _outdented(lines: Sequence[str]) -> list[Heading]:
    """Lines at the margin above indented text (manual pages), else numbered headings on lines of their own."""
    found: list[Heading] = []
    indented = sum(1 for line in lines[:2_000] if line.startswith(("  ", "\t")))
    manual = indented * 2 > sum(1 for line in lines[:2_000] if line.strip())
    for place, line in enumerate(lines):
        text = line.strip()
        if not text or len(text) > 110 or line[:1].isspace():
            continue
        below = next((item for item in lines[place + 1 : place + 3] if item.strip()), "")
        above = lines[place - 1].strip() if place else ""
        if manual and not above and (below[:1].isspace() or "  " in text):
            found.append((place, 1 if "  " in text else 2, re.sub(r"\s{2,}", "  ", text)))
        elif not manual and not above and _NUMBERED.match(text) and not text.endswith("."):
            found.append((place, min(4, text.split()[0].count(".") + 1), text))
    return found


def _hint(lines: Sequence[str], headings: Sequence[Heading]) -> str:
    if len(headings) > 2:
        middle = headings[len(headings) // 2]
        following = next((item for item in headings if item[0] > middle[0]), None)
        last = max(middle[0] + 40, min(following[0] if following else len(lines), middle[0] + 120))
        return print_query(Query("lines", first=middle[0] + 1, last=min(len(lines), last)))
    return print_query(Query("lines", first=1, last=min(len(lines), 120)))
