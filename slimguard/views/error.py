"""Error texts and stack traces: how they begin, every exception in the chain with its cause, and how they end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from slimguard.query import Query, print_query
from slimguard.views.model import Content, Part, Sketch
from slimguard.views.prose import clipped

HEAD_LINES = 4
TAIL_LINES = 8
TAIL_TOKENS = 260
CHAIN_TOKENS = 420
_CHAIN = re.compile(
    r"^(?:[\w.$]+(?:Error|Exception|Failure|Exit|Interrupt|Warning|Fault)\b|Caused by: |Suppressed: "
    r"|During handling|The above exception|"
    r"[\w.]+\.[A-Z]\w+: |panic: |Error: |error(?:\[\w+\])?: |fatal|FATAL|thread '"
    r"|Uncaught |Unhandled |Traceback \(most recent)"
)
_FRAME = re.compile(r"\s+(?:File \"|at [\w.$<]|\d+: |\S+:\d+ \+0x)|\t/")
_TRACE = re.compile(
    r"^Traceback \(most recent call last\)|^[ \t]+at [\w.$<>/]+\(|^Exception in thread|^panic: |^goroutine \d+",
    re.MULTILINE,
)


def looks_like_trace(text: str) -> bool:
    """Whether a text is mostly a stack trace, and no log that holds some."""
    lines = text[:60_000].split("\n")
    if len(lines) < 10 or not _TRACE.search(text[:60_000]):
        return False
    frames = sum(1 for line in lines if _FRAME.match(line))
    return frames * 4 >= len(lines)


def error_view(content: Content) -> Sketch:
    """The view of a long error text."""
    lines = content.lines
    chain = [place for place, line in enumerate(lines) if _CHAIN.match(line) and place >= HEAD_LINES]
    head = [f"L{place + 1}: {clipped(line)}" for place, line in enumerate(lines[:HEAD_LINES])]
    listed = [line for place in chain for line in _link(lines, place)]
    tail = [clipped(line) for line in lines[-TAIL_LINES:]]
    parts = [
        Part(head, rank=0, counted=True),
        Part(listed, rank=1, tokens=content.share(CHAIN_TOKENS), more="… {n} more", ends=True, counted=True),
        Part((f"L{max(1, len(lines) - TAIL_LINES + 1)}-{len(lines)}:",), rank=1),
        Part(tail, rank=1, tokens=content.share(TAIL_TOKENS), more="", ends=True, counted=True),
    ]
    place = chain[-1] if chain else len(lines) - 1
    hint = print_query(Query("lines", first=max(1, place - 30), last=min(len(lines), place + 10)))
    return Sketch("error", parts, f"{len(lines):,} lines", hints=(hint,))


def _link(lines: Sequence[str], place: int) -> list[str]:
    """One exception of the chain, with the frame above it, which is where it was raised."""
    shown = [f"L{place + 1}: {clipped(lines[place])}"]
    if lines[place].startswith(("Traceback", "The above", "During", "Caused by", "Suppressed")):
        return shown
    for above in range(place - 1, max(-1, place - 5), -1):
        if lines[above].lstrip().startswith(("File ", "at ")):
            return [clipped(lines[above].strip()), *shown]
    return shown
