"""Lines of a text as a terminal would have shown them: colours gone, overwritten progress gone; for views only."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from typing import Any

import re2  # pyright: ignore[reportMissingTypeStubs]

_engine: Any = re2
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|\x9b[0-?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_BACKSPACE = re.compile(r"[^\x08]\x08")


def shown_lines(text: str) -> list[str]:
    """The physical lines of `text`, numbered as `lines:` does, without escape sequences and overwritten parts."""
    if "\x1b" in text or "\x9b" in text:
        text = _ANSI.sub("", text)
    if "\x08" in text:
        text = _BACKSPACE.sub("", text)
    if _CONTROL.search(text):
        text = _CONTROL.sub(" ", text)
    lines = text.split("\n")
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    if "\r" in text:
        lines = [_overwritten(line) if "\r" in line else line for line in lines]
    return lines


def _overwritten(line: str) -> str:
    """What is left of a line after carriage returns: the last thing written."""
    parts = [part for part in line.rstrip("\r").split("\r") if part.strip()]
    return parts[-1] if parts else ""


def line_starts(lines: Sequence[str]) -> list[int]:
    """Where each line begins in the lines joined by line feeds."""
    starts: list[int] = []
    position = 0
    for line in lines:
        starts.append(position)
        position += len(line) + 1
    return starts


@cache
def _set_of(words: tuple[str, ...]) -> Any:
    """One automaton for all of `words`: it reads a text once, whatever their number."""
    made = _engine.Set.SearchSet()
    for word in words:
        made.Add(_engine.escape(word))
    made.Compile()
    return made


def words_in(text: str, words: tuple[str, ...]) -> list[str]:
    """Those of `words` that occur in `text`, in their order; about 1 ms a megabyte."""
    found: list[int] | None = _set_of(words).Match(text.encode("utf-8", "surrogatepass"))
    return [words[place] for place in sorted(found or ())]


def lines_with(text: str, starts: Sequence[int], words: tuple[str, ...]) -> set[int]:
    """Numbers (0-based) of the lines of `text` that hold one of `words`; each is searched for only where it occurs."""
    found: set[int] = set()
    count = len(starts)
    for word in words_in(text, words):
        position = text.find(word)
        while position >= 0:
            line = bisect_right(starts, position) - 1
            found.add(line)
            if line + 1 >= count:
                break
            position = text.find(word, starts[line + 1])
    return found
