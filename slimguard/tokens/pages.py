"""Where a page ends: the longest one within its limits, at a good place; never encodes more than the page needs."""

from __future__ import annotations

from dataclasses import dataclass

from slimguard.policy import TOKEN_CHUNK_CHARS, TOKEN_MAX_BYTES
from slimguard.tokens import cuts
from slimguard.tokens.vocabulary import Vocabulary

_GUESS_CHARS = 6
"""Characters a token to encode first: most texts fill the page in one go."""

_INEXACT_TRIES = 3


@dataclass(frozen=True, slots=True)
class _Reach:
    """How far a page can go: tokens are counted up to `base`, an exact cut; `left` more fit; they end at `place`.

    `known`: the text up to `place` is known to be within the limit when it stands alone.
    """

    base: int
    left: int
    place: int
    known: bool


def outer_bound(text: str, start: int, tokens: int, max_bytes: int | None, max_lines: int | None) -> int:
    """The furthest end that bytes and lines allow, and that so many tokens could ever cover; maybe `start`."""
    end = min(len(text), start + max(1, tokens) * TOKEN_MAX_BYTES)
    if max_bytes is not None:
        end = min(end, start + max(0, max_bytes))
        end = start + _chars_within(text[start:end], max_bytes)
    if max_lines is None:
        return end
    place = start
    for _ in range(max(1, max_lines)):
        newline = text.find("\n", place, end)
        if newline < 0:
            return end
        place = newline + 1
    return place


def find_end(vocabulary: Vocabulary, text: str, start: int, bound: int, tokens: int, *, cut_lines: bool) -> int:
    """End of the longest page from `start` to at most `bound`, which is after it, with at most `tokens` tokens."""
    reach = _walk(vocabulary, text, start, bound, max(1, tokens))
    if reach.known and reach.place == len(text):
        return reach.place
    return _choose_end(vocabulary, text, start, reach, cut_lines=cut_lines)


def fitting_end(text: str, start: int, bound: int, *, cut_lines: bool) -> int:
    """As `find_end`, for a text up to `bound` that has fewer bytes than tokens are allowed: nothing is encoded."""
    if bound == len(text):
        return bound
    reach = _Reach(start, 0, bound, known=True)
    return _choose_end(None, text, start, reach, cut_lines=cut_lines)


def _choose_end(vocabulary: Vocabulary | None, text: str, start: int, reach: _Reach, *, cut_lines: bool) -> int:
    """The best place up to `reach`: a line's end or an exact cut in the second half, else a whole character."""
    half = start + (reach.place - start) // 2
    if cut_lines:
        line = _line_end(vocabulary, text, half, reach)
        if line is not None:
            return line
    near = cuts.cut_near(text, half, reach.place)
    if near is not None:
        return near
    return _blunt_end(vocabulary, text, start, reach)


def _walk(vocabulary: Vocabulary, text: str, start: int, bound: int, tokens: int) -> _Reach:
    """Encode chunk after chunk from `start` until the tokens are used up or `bound` is reached."""
    base, left = start, tokens
    while True:
        wanted = min(TOKEN_CHUNK_CHARS * 3 // 4, max(1024, left * _GUESS_CHARS))
        end, exact = cuts.next_cut(text, base, bound, wanted=wanted, most=TOKEN_CHUNK_CHARS)
        numbers = vocabulary.encode(text[base:end])
        if len(numbers) > left:
            size = sum(map(vocabulary.lengths.__getitem__, numbers[:left]))
            return _Reach(base, left, base + _chars_within(text[base:end], size), known=False)
        if end == bound or not exact:
            return _Reach(base, left, end, known=True)
        base, left = end, left - len(numbers)


def _line_end(vocabulary: Vocabulary | None, text: str, low: int, reach: _Reach) -> int | None:
    """The last line's end after `low` that is within the limit, tried out a few times where it is not an exact cut."""
    tries = _INEXACT_TRIES
    newline = text.rfind("\n", low, reach.place)
    while newline >= 0:
        if cuts.is_exact_line(text, newline + 1):
            return newline + 1
        if tries:
            tries -= 1
            if _excess(vocabulary, text, newline + 1, reach) <= 0:
                return newline + 1
        newline = text.rfind("\n", low, newline)
    return None


def _blunt_end(vocabulary: Vocabulary | None, text: str, start: int, reach: _Reach) -> int:
    """The last whole character within the limit, at least one; where the text has no better place."""
    least = cuts.whole_character(text, start, start + 1)
    floor = max(least, reach.base)
    place = max(floor, cuts.whole_character(text, start, reach.place))
    while place > floor:
        excess = _excess(vocabulary, text, place, reach)
        if excess <= 0:
            return place
        step = max(1, (place - reach.base) * excess // (reach.left + excess))
        place = max(floor, cuts.whole_character(text, start, place - step))
    return floor


def _excess(vocabulary: Vocabulary | None, text: str, place: int, reach: _Reach) -> int:
    """By how many tokens a page that ends at `place` is over the limit; 0 or less: it fits."""
    if reach.known and place == reach.place:
        return 0
    if place < reach.base:
        return 1
    if vocabulary is None or place == reach.base:
        return 0
    return len(vocabulary.encode(text[reach.base : place])) - reach.left


def _chars_within(text: str, size: int) -> int:
    """How many whole characters of `text` fit in `size` UTF-8 bytes."""
    if text.isascii():
        return min(len(text), size)
    data = text.encode("utf-8", "surrogatepass")
    if size >= len(data):
        return len(text)
    end = max(0, size)
    while end and data[end] & 0xC0 == 0x80:
        end -= 1
    return len(data[:end].decode("utf-8", "surrogatepass"))
