"""Edits on plain text: where `replace`, `insert` and `append` change it; line ends stay as the text has them."""

from __future__ import annotations

import re

from slimguard.edits.model import Edit, Splice, failed
from slimguard.edits.nearest import nearest

_LINE = re.compile(r"lines?\s*:\s*(\d{1,9})\Z", re.IGNORECASE)


def text_splices(edit: Edit, text: str) -> list[Splice]:
    """The splices of one edit in `text`; raises `QueryRejected` when it cannot be made exactly once (or as `all`)."""
    if not isinstance(edit.value, str):
        raise failed(f"{edit.kind} takes a text here, since it changes a text")
    if edit.kind == "append":
        return [Splice(len(text), len(text), suited(edit.value, text))]
    if edit.kind == "insert":
        line = line_of(edit)
        if line is not None:
            return [_at_line(edit, text, line)]
        return [
            Splice(end, end, suited(edit.value, text))
            if edit.side == "after"
            else Splice(start, start, suited(edit.value, text))
            for start, end in found_once(edit, edit.anchor, text)
        ]
    new = suited(edit.new, text)
    return [Splice(start, end, new) for start, end in found_once(edit, edit.value, text)]


def line_of(edit: Edit) -> int | None:
    """The number of the line that the anchor names, or None when it is a text to match."""
    line = _LINE.match(edit.anchor)
    return int(line[1]) if line else None


def found_once(edit: Edit, wanted: str, text: str) -> list[tuple[int, int]]:
    """Where `wanted` stands: once, or everywhere with `all`; with the text's line ends if only so it is there."""
    for spelled in dict.fromkeys((wanted, suited(wanted, text))):
        found = occurrences(spelled, text)
        if found:
            return checked(edit, found, text)
    raise not_found(edit, wanted, text)


def occurrences(wanted: str, text: str) -> list[tuple[int, int]]:
    """Every place of `wanted`, none overlapping another."""
    found: list[tuple[int, int]] = []
    place = text.find(wanted)
    while place >= 0:
        found.append((place, place + len(wanted)))
        place = text.find(wanted, place + len(wanted))
    return found


def checked(edit: Edit, found: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """`found` when it is one place or all are meant; else an error that says how many there are."""
    if len(found) == 1 or edit.every:
        return found
    lines = ", ".join(str(text.count("\n", 0, start) + 1) for start, _ in found[:5])
    where = f" (lines {lines}{', …' if len(found) > 5 else ''})" if "\n" in text else ""
    raise failed(
        f"{edit.kind}: the text stands in {len(found)} places{where}, and must stand in one",
        next_call='give more of what surrounds it, or "all": true',
    )


def not_found(edit: Edit, wanted: str, text: str) -> Exception:
    """The error of a text that is not there, with the one that is most like it."""
    near = nearest(wanted, text)
    return failed(
        f"{edit.kind}: the text is not there",
        detail=near,
        next_call="copy it exactly from the result" if near else "read the part that you mean first",
    )


def suited(new: str, text: str) -> str:
    """`new` with the line ends of `text`, when that has CR LF throughout and `new` has only LF."""
    if "\n" not in new or "\r" in new or "\r\n" not in text:
        return new
    return new.replace("\n", "\r\n") if text.count("\n") == text.count("\r\n") else new


def _at_line(edit: Edit, text: str, number: int) -> Splice:
    """Whole lines before or after line `number`; the last line may have no line end, and then gets none."""
    new = str(edit.value)
    lines = text.count("\n") + (0 if text.endswith("\n") or not text else 1)
    if not 1 <= number <= max(1, lines):
        raise failed(f"insert: there is no line {number}; the text has {lines}")
    start = 0
    for _ in range(number - 1):
        start = text.index("\n", start) + 1
    line_end = "\r\n" if suited("\n", text) == "\r\n" else "\n"
    if edit.side == "after":
        stop = text.find("\n", start)
        if stop < 0:
            return Splice(len(text), len(text), f"{line_end}{suited(new, text)}" if text else suited(new, text))
        start = stop + 1
    return Splice(start, start, suited(new if new.endswith("\n") else f"{new}\n", text))
