"""Whether a result is one page of a longer list, by what the upstream itself says; so that aggregates say so too."""

from __future__ import annotations

import re
from collections.abc import Sequence

from slimguard.document import format_path
from slimguard.document.continuation import continuation_fields
from slimguard.document.tables import main_array
from slimguard.readers.model import Source

_MORE = re.compile(r"(?i)(?:has|is)_?(?:more|next)|truncated|incomplete|partial|more_?(?:available|results)")
_LAST = re.compile(r"(?i)is_?last|last_?page\Z")
_NEXT = re.compile(r"(?i)next|cursor|token|continu|scroll|last_?evaluated")
_TOTAL = re.compile(r"(?i)(?:total|total_?(?:count|results|items|records)|num_?found)\Z")
_PAGE = re.compile(r"(?i)(?:current_?)?page(?:_?(?:number|no|num))?\Z")
_PAGES = re.compile(r"(?i)(?:total_?pages|page_?count|last_?page|num_?pages)\Z")
_AGGREGATE = re.compile(
    r"(?i)\b(?:count|sum|avg|total|min|max|length|min_by|max_by|sort_by|group_concat|group\s+by|order\s+by|distinct)\b"
)


def incomplete(sources: Sequence[Source]) -> str:
    """What says that the list goes on elsewhere, such as `hasNextPage=true`; empty when nothing does."""
    said = [_open(source) for source in sources]
    return "" if not said or "" in said else said[-1]


def aggregate_note(sources: Sequence[Source], query: str) -> str:
    """The warning for an aggregate over an incomplete list; empty for other queries and complete lists."""
    if not _AGGREGATE.search(query):
        return ""
    reason = incomplete(sources)
    return f"incomplete: only what was fetched, the upstream has more ({reason})" if reason else ""


def _open(source: Source) -> str:
    fields = [(str(path[-1]), path, value) for path, value in continuation_fields(source.document)]
    for key, path, value in fields:
        if isinstance(value, bool) and (_MORE.search(key) or _LAST.search(key)):
            goes_on = value is not bool(_LAST.search(key))
            return f"{format_path(path)}={str(value).lower()}" if goes_on else ""
    for key, path, value in fields:
        if _NEXT.search(key) and not key.lower().startswith(("prev", "sync")) and value:
            return f"{format_path(path)}={str(value)[:40]}"
    numbers = {key: value for key, _, value in fields if isinstance(value, int) and not isinstance(value, bool)}
    here = next((value for key, value in numbers.items() if _PAGE.match(key)), None)
    pages = next((value for key, value in numbers.items() if _PAGES.match(key)), None)
    if here is not None and pages is not None:
        return f"page {here} of {pages}" if here < pages else ""
    main = main_array(source.document)
    for key, path, value in fields:
        if main and _TOTAL.match(key) and isinstance(value, int) and value > len(main[1]) > 0:
            return f"{format_path(path)}={value}, {len(main[1])} here"
    return ""
