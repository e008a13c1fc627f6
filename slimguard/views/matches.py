"""Search output (`path:line:text`): how many matches each file has, then the first and the last of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from slimguard.query import Query, print_query
from slimguard.views.levels import STAMP
from slimguard.views.model import Content, Part, Sketch
from slimguard.views.prose import clipped

_MATCH = re.compile(r"([^\s:][^:\n]{0,240}?[./\\][^:\n]{0,80}?)[:-](\d{1,7})[:-]")
FILE_TOKENS = 320
MATCH_TOKENS = 260
FILES_A_LINE = 8


def looks_like_matches(lines: Sequence[str]) -> bool:
    """Whether most lines are a path, a line number and a text."""
    some = [line[:400] for line in lines[:300] if line.strip() and line != "--"]
    return len(some) >= 5 and sum(1 for line in some if _is_match(line)) * 10 >= len(some) * 8


def _is_match(line: str) -> bool:
    """Whether a line is a match in a file, and none of a log whose time looks like a path and a number."""
    match = _MATCH.match(line)
    return match is not None and " [" not in match.group(1) and not STAMP.match(line)


def matches_view(content: Content) -> Sketch:
    """The view of search output."""
    lines = content.lines
    files = Counter(match.group(1) for line in lines if (match := _MATCH.match(line[:400])))
    ordered = sorted(files.items(), key=lambda pair: -pair[1])
    groups = [ordered[place : place + FILES_A_LINE] for place in range(0, len(ordered), FILES_A_LINE)]
    listed = [", ".join(f"{name} {count:,}" for name, count in group) for group in groups]
    total = f"{sum(files.values()):,} matches in {len(files):,} files"
    parts = [
        Part((total,), rank=0),
        Part(listed, rank=1, tokens=content.share(FILE_TOKENS), more="… {n} more lines of files"),
        Part(
            [clipped(line) for line in lines],
            rank=2,
            tokens=content.share(MATCH_TOKENS),
            ends=True,
            counted=True,
            most=14,
        ),
    ]
    hint = print_query(Query("words", ordered[0][0])) if ordered else print_query(Query("lines", first=1, last=120))
    return Sketch("matches", parts, f"{len(lines):,} lines", hints=(hint,))
