"""Headings of a text (or its definitions, keys, elements) as lines that fit: whole levels, deeper ones joined below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from slimguard.views.model import Content

Heading = tuple[int, int, str]
"""Line (0-based; -1 when lines mean nothing), level from 1, text."""
TEXT_CHARS = 110
JOINED_CHARS = 48
LINES = 120
ENDS = 12


def heading_lines(headings: Sequence[Heading], content: Content, tokens: int) -> list[str]:
    """The headings down to the deepest level that fits into `tokens`, then the next level joined under each."""
    room = content.share(tokens)
    best: list[str] = []
    levels = sorted({level for _, level, _ in headings})
    counts = Counter(level for _, level, _ in headings)
    total = 0
    for deepest in levels:
        total += counts[deepest]
        if total > LINES:
            break
        runs = _runs(headings, deepest)
        lines = _joined(runs, 0)
        if not _fits(lines, content, room):
            break
        best = lines
        if deepest == levels[-1]:
            return best
        for joined in (40, 16, 6):
            fuller = _joined(runs, joined)
            if _fits(fuller, content, room):
                best = fuller
                break
    return best or _ends([heading for heading in headings if heading[1] == levels[0]])


def _ends(headings: Sequence[Heading]) -> list[str]:
    """The first and the last of too many headings."""
    if len(headings) <= 2 * ENDS:
        return [_line(heading) for heading in headings]
    between = f"… {len(headings) - 2 * ENDS:,} headings between"
    return [
        *(_line(heading) for heading in headings[:ENDS]),
        between,
        *(_line(heading) for heading in headings[-ENDS:]),
    ]


def _fits(lines: Sequence[str], content: Content, room: int) -> bool:
    return len(lines) <= LINES and content.counter.within("\n".join(lines), room)


def _runs(headings: Sequence[Heading], deepest: int) -> list[str | tuple[int, list[str]]]:
    """Lines of the headings down to `deepest`, and between them the level and the texts of what stands below."""
    runs: list[str | tuple[int, list[str]]] = []
    below: list[Heading] = []
    for heading in headings:
        if heading[1] > deepest:
            below.append(heading)
            continue
        if below:
            runs.append(_texts(below))
            below = []
        runs.append(_line(heading))
    if below:
        runs.append(_texts(below))
    return runs


def _texts(below: Sequence[Heading]) -> tuple[int, list[str]]:
    level = min([level for _, level, _ in below])
    return level, list(dict.fromkeys([_short(text) for _, depth, text in below if depth == level]))


def _joined(runs: Sequence[str | tuple[int, list[str]]], joined: int) -> list[str]:
    """The lines, with at most `joined` of the texts below each in one line; 0 leaves them out."""
    lines: list[str] = []
    for run in runs:
        if isinstance(run, str):
            lines.append(run)
        elif joined:
            level, texts = run
            more = f" · {len(texts) - joined} more" if len(texts) > joined else ""
            lines.append(f"{'  ' * (level - 1)}{' · '.join(texts[:joined])}{more}")
    return [line for line in lines if line]


def _short(text: str) -> str:
    return text if len(text) <= JOINED_CHARS else f"{text[:JOINED_CHARS]}…"


def _line(heading: Heading) -> str:
    place, level, text = heading
    number = f"L{place + 1} " if place >= 0 else ""
    return f"{number}{'  ' * (level - 1)}{text[:TEXT_CHARS]}"
