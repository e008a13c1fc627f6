"""Records written as blocks of lines: sections of a configuration, calendar entries, commits, mails, stanzas; found by
how their first lines repeat, never forced on a text that is something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from slimguard.model import Json

LEAST = 4
"""So few blocks are no table."""
HEAD_CHARS = 60_000
"""The kind of blocks is told from the beginning of a text."""
COLUMNS_AT_MOST = 60
CELL_CHARS = 2_000
KEY_CHARS = 60
SHARED_CELLS = 0.7
"""So much of what blocks say must stand under keys of most blocks."""
SHARED = 0.5
"""A key that so many blocks have counts as one of all blocks."""

_KEY = re.compile(r"[A-Za-z][\w .()/-]{0,58}\Z")
_SECTION = re.compile(r"^\[+[^\[\]\n]{1,120}\]+[ \t]*\r?$", re.MULTILINE)
_BEGIN = re.compile(r"^BEGIN:([A-Z]{3,20})\r?$", re.MULTILINE)
_COMMIT = re.compile(r"^commit [0-9a-f]{7,64}\b", re.MULTILINE)
_MAIL = re.compile(r"^From \S+ .{0,60}\d\d:\d\d", re.MULTILINE)
_FIRST_KEY = re.compile(
    r"(?:\A|(?<=\n\n)|(?<=\n\r\n)|(?<=---\n))([A-Za-z][\w .()/-]{0,40}?):(?=[ \t]|\r?$)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class _Style:
    """How blocks of one kind are written: where they begin, what divides keys from values, and what is done with a
    line that is no pair.
    """

    starts: re.Pattern[str]
    mark: str
    other: Callable[[dict[str, str], str, str], str]
    """Takes the record, the key of the last pair and the line; gives the key that the next lines belong to."""
    opens: Callable[[str], tuple[str, str]]
    """The column and the value that the first line gives; an empty column when it is a pair like any other."""
    least: int = 2
    """So many columns most blocks must have: chats of two people have blocks of two keys, and are no tables."""


def stanza_columns(text: str) -> tuple[tuple[str, ...], list[Sequence[Json]], int] | None:
    """The columns of the blocks of `text`, their cells column by column, and the 1-based line of the first block."""
    style = _style_of(text[:HEAD_CHARS])
    if style is None:
        return None
    starts = [match.start() for match in style.starts.finditer(text)]
    if len(starts) < LEAST:
        return None
    ends = [*starts[1:], len(text)]
    records = [_record(text[start:end], style) for start, end in zip(starts, ends, strict=True)]
    counts: dict[str, int] = {}
    for record in records:
        for key in record:
            counts[key] = counts.get(key, 0) + 1
    least = SHARED * len(records)
    shared = [key for key, count in counts.items() if count >= least]
    cells = sum(count for key, count in counts.items() if "." not in key)
    if len(shared) < style.least or sum(counts[key] for key in shared if "." not in key) < SHARED_CELLS * cells:
        return None
    columns = tuple(key for key in counts if "." not in key or counts[key] >= least)[:COLUMNS_AT_MOST]
    line = text.count("\n", 0, starts[0]) + 1
    return columns, [[record.get(key) for record in records] for key in columns], line


def _style_of(head: str) -> _Style | None:
    """The kind of blocks that a text begins with, or None."""
    if len(_SECTION.findall(head)) >= LEAST and head.count("=") >= LEAST:
        return _Style(_SECTION, "=", _joined_list, _opened_section)
    names = _BEGIN.findall(head)
    if names:
        inner = max(set(names), key=lambda name: (names.count(name), name))
        starts = re.compile(rf"^BEGIN:{inner}\r?$", re.MULTILINE)
        return _Style(starts, ":", _folded, _skipped)
    if len(_COMMIT.findall(head)) >= LEAST:
        return _Style(_COMMIT, ":", _subject, lambda line: ("commit", line[7:].strip()))
    if len(_MAIL.findall(head)) >= LEAST:
        return _Style(_MAIL, ":", _body, _skipped)
    keys = _FIRST_KEY.findall(head)
    if len(keys) < LEAST:
        return None
    first = max(set(keys), key=lambda key: (keys.count(key), key))
    if keys.count(first) * 2 < len(keys) or keys.count(first) < LEAST or keys[0] != first:
        return None
    starts = re.compile(rf"^{re.escape(first)}:(?=[ \t]|\r?$)", re.MULTILINE)
    return _Style(starts, ":", _nested, lambda _: ("", ""), least=3)


def _record(block: str, style: _Style) -> dict[str, str]:
    """One block as key and value; a key that stands in it again keeps its first value."""
    lines = block.split("\n")
    column, value = style.opens(lines[0])
    record: dict[str, str] = {column: value} if column else {}
    last = column
    pairs = style.other is not _body
    for line in lines[0 if not column and style.opens is not _skipped else 1 :]:
        if not pairs and last == "text":
            last = _body(record, last, line)
            continue
        key, mark, text = line.partition(style.mark)
        if mark and line[:1] not in " \t" and (name := _name(key)):
            last = name
            if name not in record and len(record) < COLUMNS_AT_MOST:
                record[name] = _unquoted(text.strip())[:CELL_CHARS]
            continue
        last = style.other(record, last, line)
    return record


@lru_cache(4_096)
def _name(key: str) -> str:
    """A key without quotes and parameters, or empty when it is none."""
    bare = key.split(";", 1)[0].strip().strip("\"'")
    return bare if len(bare) <= KEY_CHARS and _KEY.match(bare) else ""


def _unquoted(text: str) -> str:
    """A value without the quotes around it."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' and text.count('"') == 2 else text


def _opened_section(line: str) -> tuple[str, str]:
    return "section", line.strip().strip("[]").strip()


def _skipped(_: str) -> tuple[str, str]:
    return "", ""


def _joined_list(record: dict[str, str], last: str, line: str) -> str:
    """Lines of a list or a long value are joined to it; comments are left out."""
    bare = line.strip()
    if bare and bare[0] not in ";#" and last in record and last != "section":
        record[last] = f"{record[last]} {bare}"[:CELL_CHARS]
    return last


def _folded(record: dict[str, str], last: str, line: str) -> str:
    """A folded line goes on after its first space."""
    if line[:1] in " \t" and last in record:
        record[last] = f"{record[last]}{line[1:].rstrip()}"[:CELL_CHARS]
    return last


def _subject(record: dict[str, str], last: str, line: str) -> str:
    """The first line of a commit's message, and what its statistics sum up."""
    if line.startswith("    ") and line.strip():
        record.setdefault("subject", line.strip()[:CELL_CHARS])
    elif line[:1] == " " and " changed" in line:
        record["changed"] = line.strip()
    return last


def _body(record: dict[str, str], last: str, line: str) -> str:
    """After the first blank line all is the text of a mail."""
    if not line.strip() and last != "text":
        record["text"] = ""
        return "text"
    if last == "text" and line.strip() and len(record["text"]) < CELL_CHARS:
        record["text"] = f"{record['text']} {line.strip()}".strip()[:CELL_CHARS]
    return last


def _nested(record: dict[str, str], last: str, line: str) -> str:
    """Pairs below a key are columns of it (`Containers.State`); other lines below a key go on with its value."""
    bare = line.strip()
    if line[:1] not in " \t" or not bare:
        return last
    top = last.split(".", 1)[0]
    key, mark, text = bare.partition(":")
    if mark and text[:1].isspace() and (name := _name(key)):
        column = f"{top}.{name}"
        if column not in record and len(record) < COLUMNS_AT_MOST:
            record[column] = text.strip()[:CELL_CHARS]
        return top
    if last in record and len(record[last]) < CELL_CHARS and not mark:
        record[last] = f"{record[last]} {bare}".strip()[:CELL_CHARS]
    return last
