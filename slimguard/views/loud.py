"""Loud messages: texts that begin as errors do, also in lists of lines with their times; cut, never rewritten."""

from __future__ import annotations

import re

from slimguard.model import Json, is_array
from slimguard.views.cells import one_line
from slimguard.views.lines import words_in

_LOUD = re.compile(
    r"\W{0,3}(?:(?:\d{4}-\d\d-\d\d\S*|\d\d:\d\d:\d\d\S*)\s+)?\W{0,2}"
    r"(?:ERROR|FATAL|CRITICAL|PANIC|SEVERE|Traceback \(most|panic: |Unhandled |Uncaught |Exception in )"
    r"|[\w.]{1,60}(?:Error|Exception): "
    r"|(?:\S{1,60} ){0,3}(?:level|lvl|severity)=\"?(?i:error|fatal|critical|crit|panic)\b"
)
_LOUD_WORDS = (
    "ERROR", "FATAL", "CRITICAL", "PANIC", "SEVERE", "Traceback", "panic: ", "Unhandled ", "Uncaught ", "Exception",
    "Error: ", "level=", "lvl=", "severity=",
)  # fmt: skip
LOUD_LEAST = 12
ROW_CELLS = 4
LOUD_CHARS = 200
LOUD_END = 70
"""A loud message shows its beginning and so much of its end, where a trace tells its cause."""


def is_loud(text: str) -> bool:
    """Whether a message begins as errors do."""
    return _LOUD.match(text) is not None


def is_row(item: Json) -> bool:
    """Whether a list is a line with its time before it, as servers of logs give them."""
    return is_array(item) and 0 < len(item) <= ROW_CELLS and item[-1].__class__ is str


def loud_texts(items: list[Json]) -> list[str]:
    """The texts in a list of texts, or of lines with their time, that are loud."""
    if not items or not (items[0].__class__ is str or is_row(items[0])):
        return []
    texts = [_text_of(item) for item in items if item.__class__ is str or item.__class__ is list]
    if not texts or not words_in("\n".join(texts), _LOUD_WORDS):
        return []
    return [text for text in texts if len(text) >= LOUD_LEAST and _LOUD.match(text)]


def _text_of(item: Json) -> str:
    if is_array(item):
        last = item[-1] if 0 < len(item) <= ROW_CELLS else ""
        return last if isinstance(last, str) else ""
    return item if isinstance(item, str) else ""


def both_ends(text: str) -> str:
    """A text on one line, of a long one the beginning and the end."""
    line = one_line(text)
    if len(line) <= LOUD_CHARS + LOUD_END:
        return line
    return f"{line[: LOUD_CHARS - LOUD_END]}… {line[-LOUD_END:]}"
