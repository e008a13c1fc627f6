"""What an upstream says about going on (`next*`, cursors, pages, totals), as `key=value` for a header."""

from __future__ import annotations

import re

from slimguard.canonical import dump
from slimguard.document.blocks import Document
from slimguard.document.paths import Path, format_path
from slimguard.model import Json, is_array, is_object

FIELDS_AT_MOST = 8
DEPTH = 4
"""Objects nested deeper are data, not envelopes."""
VALUE_CHARS = 300
"""A cursor longer than this is named but not quoted."""

_STRONG = re.compile(
    r"(?i)^(?:next.*|.*cursor.*|.*(?:has|is)_?(?:more|next|previous|prev).*|.*page_?token|continue|continuation.*|"
    r"start_?at|is_?last(?:_?page)?|last_?page|truncated|is_?truncated|incomplete.*|partial|(?:x_)?sync_?token|"
    r"last_?evaluated_?key|scroll_?id|more(?:_?available|_?results)?|remaining.*)$"
)
_SURE = re.compile(
    r"(?i)^(?:(?:next|end|start)_?cursor|cursor|has_?(?:more|next|next_?page)|next_?page(?:_?token)?|next)$"
)
_IN_ENVELOPES = ("after", "before", "next", "prev", "previous", "total", "count")
_WEAK = re.compile(
    r"(?i)^(?:page|page_?(?:number|no|num|size|count|index)|per_?page|offset|skip|limit|size|max_?results|"
    r"total.*|count|.*_count|result_?size.*|num_?(?:found|results)|row_?count)$"
)
_ENVELOPES = (
    "meta",
    "metadata",
    "pagination",
    "paging",
    "page_info",
    "pageInfo",
    "_links",
    "links",
    "page",
    "response_metadata",
)


def continuation_of(document: Document) -> tuple[str, ...]:
    """`path=value` of the fields near the root that speak of continuing or of totals; cursors and flags first."""
    return tuple(_printed(path, value) for path, value in continuation_fields(document))


def continuation_fields(document: Document) -> tuple[tuple[Path, Json], ...]:
    """The paths and values of those fields."""
    strong: list[tuple[Path, Json]] = []
    weak: list[tuple[Path, Json]] = []
    for block in document.values:
        if block.json is not None:
            _collect(block.json.value, (), strong, weak)
    return tuple(dict.fromkeys((strong + weak)[:FIELDS_AT_MOST]))


def _collect(value: Json, path: Path, strong: list[tuple[Path, Json]], weak: list[tuple[Path, Json]]) -> None:
    if not is_object(value) or len(value) > 60:
        return
    envelope = bool(path) and path[-1] in _ENVELOPES
    for key, item in value.items():
        if is_object(item):
            if len(path) < DEPTH:
                _collect(item, (*path, key), strong, weak)
            continue
        if is_array(item):
            continue
        if _SURE.match(key) or (envelope and key in _IN_ENVELOPES) or (_STRONG.match(key) and len(path) < 2):
            strong.append(((*path, key), item))
        elif (_WEAK.match(key) and isinstance(item, int | float) and len(path) < 2) or (key == "totalCount" and path):
            weak.append(((*path, key), item))


def _printed(path: Path, value: Json) -> str:
    text = value if isinstance(value, str) else dump(value)
    return f"{format_path(path)}={text if len(text) <= VALUE_CHARS else f'({len(text)} characters)'}"
