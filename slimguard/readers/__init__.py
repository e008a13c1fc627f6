"""Readers: one a kind of query, answers within budget from stored results; never an upstream, never I/O."""

from slimguard.readers.cursor import make_cursor, open_cursor
from slimguard.readers.diff import other_refs
from slimguard.readers.exact import Exact, read_exact
from slimguard.readers.model import Answer, ReadContext, ReaderCache, ReadReply, Request, Source, Window
from slimguard.readers.reading import may_take_long, page_cursor, page_start, read
from slimguard.readers.recent import recent

__all__ = [
    "Answer",
    "Exact",
    "ReadContext",
    "ReadReply",
    "ReaderCache",
    "Request",
    "Source",
    "Window",
    "make_cursor",
    "may_take_long",
    "open_cursor",
    "other_refs",
    "page_cursor",
    "page_start",
    "read",
    "read_exact",
    "recent",
]
