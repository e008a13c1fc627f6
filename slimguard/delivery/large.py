"""The first answer about a result that is too large to parse, from its two ends; never decodes or scans all of it."""

from __future__ import annotations

import re

from slimguard import frame
from slimguard.canonical import dump
from slimguard.document import Document
from slimguard.model import Budget, StoredCall
from slimguard.policy import ESTIMATE_WINDOW_CHARS, ESTIMATE_WINDOWS
from slimguard.ports import TokenCounter

HEAD_BYTES = 5_000
TAIL_BYTES = 1_500
LINE_CHARS = 240
_LINE_END = re.compile(r"(?<!\\)\\n")
"""A line end as JSON writes it inside of a string."""


def large_text(document: Document, call: StoredCall, budget: Budget, counter: TokenCounter) -> str:
    """Header, beginning, end and footer, within the budget of a view as it goes over the wire."""
    raw = document.raw
    head = _lines(raw[:HEAD_BYTES])
    tail = _lines(raw[-TAIL_BYTES:])
    text = ""
    while True:
        left = f"… {len(raw) - HEAD_BYTES - TAIL_BYTES:,} bytes between …"
        body = frame.fenced("\n".join([*head, left, *tail]))
        text = _framed(document, call, counter, body)
        if _within(text, budget, counter) or not (head or tail):
            return text
        head, tail = head[: len(head) * 2 // 3], tail[-(len(tail) * 2 // 3) :] if len(tail) > 1 else []


def estimate(raw: bytes, counter: TokenCounter) -> int:
    """Tokens of the text of `raw`, from samples spread over it."""
    size = ESTIMATE_WINDOW_CHARS
    if len(raw) <= size * ESTIMATE_WINDOWS:
        return counter.count(raw.decode("utf-8", "replace"))
    step = (len(raw) - size) // (ESTIMATE_WINDOWS - 1)
    starts = range(0, len(raw) - size + 1, step)
    counted = sum(counter.count(raw[start : start + size].decode("utf-8", "replace")) for start in starts)
    return counted * len(raw) // (size * len(starts))


def _framed(document: Document, call: StoredCall, counter: TokenCounter, body: str) -> str:
    size = f"{frame.token_text(estimate(document.raw, counter))}, {frame.size_text(len(document.raw))}"
    shown = f"its two ends of {frame.size_text(len(document.raw))}"
    error = ("the result is an error",) if call.is_error else ()
    first = frame.header("view of text", call.ref, shown, size, *document.notes, *error)
    return frame.framed(first, body, frame.footer(call.ref, shown, frame.read_call(call.ref, "outline")))


def _lines(part: bytes) -> list[str]:
    """A part of the value as lines of a readable length, cut where the text itself ends a line."""
    lines: list[str] = []
    for line in _LINE_END.split(part.decode("utf-8", "replace")):
        lines.extend(line[start : start + LINE_CHARS] for start in range(0, max(1, len(line)), LINE_CHARS))
    return lines


def _within(text: str, budget: Budget, counter: TokenCounter) -> bool:
    wire = dump(text)
    if len(wire.encode("utf-8", "surrogatepass")) > budget.bytes or not counter.within(wire, budget.tokens):
        return False
    return budget.lines is None or text.count("\n") < budget.lines
