"""Pages of results that are too large to be parsed, from the chunks that a page touches; never more than these.

The first page of such a result reads it whole, chunk by chunk, to learn how many characters and lines each chunk has.
Later pages read and verify two or three chunks.
"""

from __future__ import annotations

import codecs
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field

from slimguard import policy, readers
from slimguard.document import window_of
from slimguard.guard.services import Services
from slimguard.model import StoredCall
from slimguard.ports import SnapshotReader

_CONTINUING = bytes(range(0x80, 0xC0))
"""Bytes that do not begin a character of UTF-8."""


@dataclass(frozen=True, slots=True)
class TextIndex:
    """How many characters, and how many newlines, stand before each chunk; the last entry is the whole."""

    characters: array[int] = field(repr=False)
    lines: array[int] = field(repr=False)
    valid: bool
    """Whether the whole is UTF-8; else characters cannot be counted chunk by chunk."""
    ended: bool
    """Whether the text ends with a newline, which begins no further line."""


def page_of(
    services: Services, reader: SnapshotReader, stored: StoredCall, start: int
) -> tuple[readers.Source, readers.Window] | None:
    """What a page from the character at `start` needs of a large result; None when its text must be read whole.

    Blocks; raises `SnapshotUnusable` when a touched byte has changed.
    """
    size = stored.size or 0
    key = (stored.ref, str(stored.digest), "index")
    index = services.reading.get(key, lambda: _index_of(reader, size), 16 * (size // policy.CHUNK_BYTES + 2))
    if not index.valid or start > index.characters[-1]:
        return None
    chunk = max(0, bisect_right(index.characters, start) - 1)
    low = chunk * policy.CHUNK_BYTES
    data = reader.read(low, low + 2 * policy.CHUNK_BYTES)
    text = data.lstrip(_CONTINUING).decode("utf-8", "ignore") if low else data.decode("utf-8", "ignore")
    lines = index.lines[-1] + (0 if index.ended else 1)
    window = readers.Window(index.characters[chunk], index.characters[-1], index.lines[chunk], lines)
    return readers.Source(stored.ref, window_of(text, stored.kind or "result"), stored), window


def _index_of(reader: SnapshotReader, size: int) -> TextIndex:
    characters, lines = array("Q", [0]), array("Q", [0])
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    last = b""
    try:
        for low in range(0, size, policy.CHUNK_BYTES):
            last = reader.read(low, low + policy.CHUNK_BYTES)
            decoder.decode(last, final=low + policy.CHUNK_BYTES >= size)
            begun = len(last) if last.isascii() else len(last.translate(None, _CONTINUING))
            characters.append(characters[-1] + begun)
            lines.append(lines[-1] + last.count(b"\n"))
    except UnicodeDecodeError:
        return TextIndex(characters, lines, valid=False, ended=False)
    return TextIndex(characters, lines, valid=True, ended=last.endswith(b"\n"))
