"""Diffs: the files with their changes and lines, the definitions that come and go, the first hunk; exact if it fits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from slimguard.query import Query, print_query
from slimguard.views.model import Content, Part, Sketch
from slimguard.views.prose import clipped

FILE_TOKENS = 520
SYMBOL_TOKENS = 360
HUNK_LINES = 14
LONG_LINE = 2_000
_GIT = re.compile(r"diff --git (?:\"?a/(.+?)\"?) (?:\"?b/(.+?)\"?)$")
_DEFINITION = re.compile(
    r"[-+]\s{0,8}(?:(?:export|public|private|protected|static|async|abstract|final|default|pub(?:\([a-z]+\))?|inline|"
    r"override|const|unsafe|virtual)\s+)*"
    r"(class|def|func|fn|function|interface|struct|enum|trait|type|impl|module|namespace|CREATE TABLE)\b(?!\s*[:=])"
)


_WORD = re.compile(r"\s*(\w+)")
_TYPES = frozenset(("class", "interface", "struct", "enum", "trait"))


@dataclass(slots=True)
class _File:
    """What one file's part of a diff changes, while it is read."""

    name: str
    line: int
    status: str = "M"
    added: int = 0
    removed: int = 0
    hunks: int = 0
    symbols: list[tuple[str, str, str]] = field(default_factory=lambda: [])
    """Definitions that come or go: keyword, name, line."""


def looks_like_diff(text: str) -> bool:
    """Whether a text holds unified diffs."""
    head = text[:20_000]
    if re.search(r"^diff --git ", head, re.MULTILINE):
        return True
    return bool(re.search(r"^--- .+\n\+\+\+ .+\n@@ -", head, re.MULTILINE))


def diff_view(content: Content) -> Sketch:
    """The view of one or more unified diffs."""
    lines = content.lines
    files = _files(lines)
    added, removed = sum(item.added for item in files), sum(item.removed for item in files)
    listed = [
        f"{item.status} {item.name} +{item.added} -{item.removed}, {item.hunks} hunks, L{item.line + 1}"
        for item in files
    ]
    total = f"{len(files)} files, +{added:,} -{removed:,}"
    parts = [
        Part((total,), rank=0),
        Part(listed, rank=1, tokens=content.share(FILE_TOKENS), more="… {n} more files", ends=True),
    ]
    symbols = _symbols(files)
    if symbols:
        parts.append(Part(symbols, rank=2, tokens=content.share(SYMBOL_TOKENS), more="… {n} more definitions"))
    first = files[0].line if files else 0
    parts.append(
        Part([clipped(line) for line in lines[first : first + HUNK_LINES]], rank=3, tokens=content.share(110), more="")
    )
    hint = print_query(Query("lines", first=first + 1, last=min(len(lines), first + 120)))
    if len(files) > 1:
        largest = max(files, key=lambda item: item.added + item.removed)
        hint = print_query(Query("lines", first=largest.line + 1, last=min(len(lines), largest.line + 120)))
    return Sketch("diff", parts, f"{len(files)} files, {len(lines):,} lines", shown="outline", hints=(hint,))


def _files(lines: Sequence[str]) -> list[_File]:
    files: list[_File] = []
    for place, line in enumerate(lines):
        start = line[:1]
        if start == "d" and len(line) < LONG_LINE and (match := _GIT.match(line)):
            files.append(_File(match.group(2), place))
        elif (
            start == "-" and line.startswith("--- ") and place + 1 < len(lines) and lines[place + 1].startswith("+++ ")
        ):
            if not files or files[-1].hunks:
                files.append(_File(_plain(lines[place + 1]), place))
            if line.startswith("--- /dev/null"):
                files[-1].status = "A"
        elif start == "+" and line.startswith("+++ ") and lines[place - 1].startswith("--- "):
            if line.startswith("+++ /dev/null") and files:
                files[-1].status = "D"
        elif files and start in "+-@nrd":
            _count(files[-1], line, start)
    return files


def _count(item: _File, line: str, start: str) -> None:
    if start == "@" and line.startswith("@@"):
        item.hunks += 1
    elif start == "+" and item.hunks:
        item.added += 1
    elif start == "-" and item.hunks:
        item.removed += 1
    elif not item.hunks and line.startswith("new file"):
        item.status = "A"
    elif not item.hunks and line.startswith("deleted file"):
        item.status = "D"
    elif not item.hunks and line.startswith("rename from"):
        item.status = "R"
    if start in "+-" and item.hunks and len(line) < LONG_LINE and (match := _DEFINITION.match(line)):
        name = _WORD.match(line, match.end())
        item.symbols.append((match.group(1), name.group(1) if name else "", line.rstrip()))


def _symbols(files: Sequence[_File]) -> list[str]:
    """Added and removed definitions: types first, then functions, those that only moved or changed left out."""
    types: list[str] = []
    functions: list[str] = []
    for item in files:
        names = {(name, line[0]) for _, name, line in item.symbols}
        for keyword, name, line in item.symbols:
            if line[0] == "-" and (name, "+") in names:
                continue
            target = types if keyword in _TYPES else functions
            target.append(f"{item.name.rsplit('/', 1)[-1]}: {line[0]}{line[1:].strip()[:110]}")
    added = [symbol for symbol in functions if ": +" in symbol]
    return types + added + [symbol for symbol in functions if ": -" in symbol]


def _plain(line: str) -> str:
    return re.sub(r"^\+\+\+ (?:b/)?", "", line).split("\t", 1)[0].strip()
