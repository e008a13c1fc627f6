"""Readers: one a kind of query, answers within budget from stored results; never an upstream, never I/O."""

from slimguard.readers.cursor import make_cursor, open_cursor
from slimguard.readers.model import Answer, ReadContext, ReaderCache, ReadReply, Request, Source
from slimguard.readers.reading import page_cursor, read

__all__ = [
    "Answer",
    "ReadContext",
    "ReadReply",
    "ReaderCache",
    "Request",
    "Source",
    "make_cursor",
    "open_cursor",
    "page_cursor",
    "read",
]
