"""Severities and time stamps of log lines, found by their usual spellings; one fast pass over the whole text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from slimguard.views.lines import lines_with

FATAL, ERROR, WARN, INFO, DEBUG = 5, 4, 3, 2, 1

_WORDS = {
    "FATAL": FATAL, "CRITICAL": FATAL, "CRIT": FATAL, "PANIC": FATAL, "EMERG": FATAL, "EMERGENCY": FATAL,
    "ALERT": FATAL, "SEVERE": ERROR, "ERROR": ERROR, "ERR": ERROR, "FAILURE": ERROR, "WARNING": WARN, "WARN": WARN,
    "NOTICE": INFO, "INFO": INFO, "INFORMATION": INFO, "DEBUG": DEBUG, "TRACE": DEBUG, "VERBOSE": DEBUG, "FINE": DEBUG,
}  # fmt: skip
_UPPER = re.compile(r"[ACDEFINPSTVW](?<=\b[A-Z])[A-Z]{2,10}\b(?!\s*=)")
"""A word in capitals with the first letter of a level."""
_KEY = re.compile(r"\b(?:level|severity|lvl|log_?level)[\"']?\s*[=:]\s*[\"']?([A-Za-z]+)")
_OTHER = re.compile(
    r"^(?:##\[|::)(error|warning|debug)[\]: ]"
    r"|^([EWFI])\d{4} \d\d:\d\d:"
    r"|(?:^|[\s:])((?i:fatal|error|warning|panic))(?:\[?[ A-Z]+\d+\]?)?: "
    r"|^(npm ERR!|npm error"
    r"|Traceback \(most recent call last\)|Exception in thread|Unhandled |Uncaught |Segmentation fault)"
    r"|(Out of memory: |oom-kill|Kernel panic|segfault at |I/O error|Failed with result |Failed to start |"
    r"core dumped|status=[1-9]\d*/)"
    r"|\[(error|warn|warning|info|debug|fatal|crit|critical|emerg|notice|trace)\]"
)
_KEY_WORDS = ("level", "severity", "lvl")
_OTHER_WORDS = (
    "##[", "::error", "::warning", "rror: ", "arning: ", "atal: ", "anic: ", "rror[", "npm ERR!", "npm error",
    "Traceback (", "Exception in thread", "Unhandled ", "Uncaught ", "Segmentation fault", "[error]", "[warn]",
    "[warning]", "[info]", "[debug]", "[fatal]", "[crit]", "[critical]", "[emerg]", "[notice]", "[trace]", "E0", "E1",
    "W0", "W1", "F0", "F1", "I0", "I1", "ERROR: ", "rror TS", "rror C", "Out of memory: ", "oom-kill", "Kernel panic",
    "segfault at ", "I/O error", "Failed with result ", "Failed to start ", "core dumped", "status=",
)  # fmt: skip
_ERRORS = (
    "TRACEBACK", "EXCEPTION", "UNHANDLED", "UNCAUGHT", "SEGFAULT", "I/O ERROR", "FAILED WITH", "FAILED TO",
    "CORE DUMPED", "STATUS=",
)  # fmt: skip
_DEADLY = ("OUT OF MEMORY", "OOM-KILL", "KERNEL PANIC")
LEVEL_COLUMN = 220
"""A level word further right than this is part of the message."""
STAMP = re.compile(
    r"\s*(?:\[|<\d+>|\S+ \| |[|>] )?"
    r"(\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d{1,2}[/-](?:\d\d|[A-Z][a-z]{2})[/-]\d{2,4}[: ]\d\d:\d\d:\d\d(?: [+-]\d{4})?"
    r"|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?(?: \d{4})?"
    r"|\d\d:\d\d:\d\d(?:[.,]\d+)?|[EWIF]\d{4} \d\d:\d\d:\d\d\.\d+|1[5-9]\d{8}(?:\.\d+|\d{3})?(?=\s))"
)
_ACCESS = re.compile(r"\[(\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\]")
_JSON_STAMP = re.compile(
    r"\"?(?:time|timestamp|ts|@timestamp|date)\"?[=:]\s*\"?(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)"
)


def severity(word: str) -> int:
    """The rank of a level word in any spelling; 0 for a word that is none."""
    upper = word.upper()
    known = _WORDS.get(upper)
    if known is not None:
        return known
    if upper in ("E", "NPM ERR!", "NPM ERROR") or upper.startswith(_ERRORS):
        return ERROR
    if upper in ("F", "SEGMENTATION FAULT") or upper.startswith(_DEADLY):
        return FATAL
    return {"W": WARN, "I": INFO}.get(upper, 0)


def levels_of(lines: Sequence[str], text: str, starts: Sequence[int]) -> dict[int, tuple[int, str]]:
    """Line (0-based) to its severity and level word: a `level=` key first, a word in capitals, another spelling.

    `text` is the lines joined by line feeds, `starts` where they begin in it.
    """
    found: dict[int, tuple[int, str]] = {}
    for place in lines_with(text, starts, _KEY_WORDS):
        _take(found, place, _KEY.search(lines[place], 0, LEVEL_COLUMN))
    for match in _UPPER.finditer(text):
        rank = _WORDS.get(match.group())
        if rank is None:
            continue
        place = bisect_right(starts, match.start()) - 1
        if place not in found and place < len(lines) and match.start() - starts[place] <= LEVEL_COLUMN:
            found[place] = (rank, match.group())
    for place in lines_with(text, starts, _OTHER_WORDS):
        if place not in found and place < len(lines):
            _take(found, place, _OTHER.search(lines[place], 0, LEVEL_COLUMN))
    return found


def _take(found: dict[int, tuple[int, str]], place: int, match: re.Match[str] | None) -> None:
    if match is None:
        return
    word = next((group for group in match.groups() if group), "")
    rank = severity(word)
    if rank:
        found[place] = (rank, word)


def stamp_of(line: str) -> str:
    """The time stamp that a line starts with or carries, or empty."""
    match = STAMP.match(line) or _ACCESS.search(line, 0, 160) or _JSON_STAMP.search(line, 0, 300)
    return match.group(1) if match else ""
