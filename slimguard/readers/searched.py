"""The texts of a result that a search goes through: each block's, decoded and folded, or windows of a huge one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from slimguard.document import Block
from slimguard.policy import SEARCH_WINDOW_CHARS
from slimguard.readers.context import Style, style_of
from slimguard.readers.folding import Mapped, folded
from slimguard.readers.locating import JsonPlaces
from slimguard.readers.model import ReadContext, Source
from slimguard.readers.unescaping import unescaped

_LONG_STRING = 10_000


@dataclass(frozen=True)
class Searched:
    """One text to search: a block's, or one window of it that starts at `base` in the block's text.

    `plain` is the text with JSON escapes decoded, where context is taken from; `fold` is made from it for comparison.
    """

    source: Source
    block: Block
    base: int
    plain: Mapped = field(repr=False)
    windowed: bool = False

    @cached_property
    def fold(self) -> Mapped:
        """The folded text, made once."""
        return folded(self.plain.text)

    @cached_property
    def places(self) -> JsonPlaces | None:
        """Paths by offset, for a block that is parsed JSON."""
        if self.block.json is None or self.block.text is None:
            return None
        return JsonPlaces(self.block.text, self.block.json)

    @cached_property
    def _styles(self) -> dict[tuple[int, int], Style]:
        return {}

    def style_between(self, low: int, high: int) -> Style:
        """How a long string in the JSON is built, looked at once."""
        known = self._styles.get((low, high))
        if known is None:
            known = style_of(self.plain.text, low, high)
            if high - low > _LONG_STRING:
                self._styles[low, high] = known
        return known

    def origin(self, offset: int) -> int:
        """Offset in the block's text of an offset in `plain`."""
        return self.base + self.plain.origin(offset)

    def arrived(self, offset: int) -> int:
        """Offset in `plain` of an offset in the block's text."""
        return self.plain.arrived(offset - self.base)


def searched(source: Source, block_index: int | None, context: ReadContext) -> Iterator[Searched]:
    """The texts of `source`, the main block's first; of one block when it is named."""
    blocks = [block for block in source.document.blocks if block.text and block_index in (None, block.index)]
    main = source.document.main
    for block in sorted(blocks, key=lambda block: (main is not None and block.index != main.index, block.index)):
        text = block.text or ""
        if block.type == "raw" and len(text) > SEARCH_WINDOW_CHARS:
            yield from _windows(source, block, text)
            continue
        key = (source.ref, str(source.call.digest), "search", str(block.index))
        yield context.cache.get(key, lambda block=block: _whole(source, block), 3 * len(text))


def _whole(source: Source, block: Block) -> Searched:
    text = block.text or ""
    escaped = block.json is not None or block.type == "raw"
    return Searched(source, block, 0, unescaped(text) if escaped else Mapped(text))


def _windows(source: Source, block: Block, text: str) -> Iterator[Searched]:
    """Windows that share nothing, cut at a line's end or a space where there is one, never inside an escape."""
    start = 0
    while start < len(text):
        end = cut_window(text, start, SEARCH_WINDOW_CHARS)
        yield Searched(source, block, start, unescaped(text[start:end]), windowed=True)
        start = end


def cut_window(text: str, start: int, size: int) -> int:
    """Where a window of about `size` characters from `start` ends."""
    end = start + size
    if end >= len(text):
        return len(text)
    low = start + size // 2
    for mark in ("\n", "\\n", " "):
        place = text.rfind(mark, low, end)
        if place >= 0:
            return place + len(mark)
    backslash = text.rfind("\\", end - 12, end)
    return end if backslash < 0 else max(low, backslash)


def spans_of(text: Searched, term: str, limit: int) -> tuple[int, list[tuple[int, int]]]:
    """How often the folded `term` occurs in `text`, and the first `limit` spans in `plain`."""
    haystack = text.fold.text
    spans: list[tuple[int, int]] = []
    position = haystack.find(term)
    while position >= 0 and len(spans) < limit:
        end = position + len(term)
        spans.append((text.fold.origin(position), text.fold.origin(end - 1) + 1))
        position = haystack.find(term, end)
    rest = haystack.count(term, position) if position >= 0 else 0
    return len(spans) + rest, spans


def merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted spans with those that overlap joined."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out
