"""What an upstream says about going on (`next*`, cursors, pages, totals), as `key=value` for a header."""

from __future__ import annotations

import re

from slimguard.canonical import dump
from slimguard.document.blocks import Document
from slimguard.document.paths import Path, format_path
from slimguard.model import Json, is_object

FIELDS_AT_MOST = 8
VALUE_CHARS = 300
"""A cursor longer than this is named but not quoted."""

_STRONG = re.compile(
    r"(?i)^(?:next.*|.*cursor.*|.*(?:has|is)_?(?:more|next|previous|prev).*|.*page_?token|continue|continuation.*|"
    r"start_?at|is_?last(?:_?page)?|last_?page|truncated|is_?truncated|incomplete.*|partial|(?:x_)?sync_?token|"
    r"last_?evaluated_?key|scroll_?id|more(?:_?available|_?results)?|remaining.*)$"
)
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
    strong: list[str] = []
    weak: list[str] = []
    for block in document.values:
        if block.json is not None:
            _collect(block.json.value, (), strong, weak, 0)
    return tuple((strong + weak)[:FIELDS_AT_MOST])


def _collect(value: Json, path: Path, strong: list[str], weak: list[str], depth: int) -> None:
    if not is_object(value) or len(value) > 60:
        return
    for key, item in value.items():
        if is_object(item):
            if depth < 1 or key in _ENVELOPES:
                _collect(item, (*path, key), strong, weak, depth + 1)
            continue
        if isinstance(item, list):
            continue
        if _STRONG.match(key):
            strong.append(_field((*path, key), item))
        elif _WEAK.match(key) and isinstance(item, int | float) and depth < 2:
            weak.append(_field((*path, key), item))


def _field(path: Path, value: Json) -> str:
    text = value if isinstance(value, str) else dump(value)
    return f"{format_path(path)}={text if len(text) <= VALUE_CHARS else f'({len(text)} characters)'}"
