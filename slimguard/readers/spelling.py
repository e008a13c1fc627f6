"""Spellings that do occur near a word that does not; proposals, labelled as such by whoever prints them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rapidfuzz import fuzz, process

from slimguard.readers.searched import Searched

_WORD = re.compile(r"\w[\w.-]{1,60}\w|\w{2,}")
_LOOKED_AT = 1_500_000
_PART = 64 * 1024
_WORDS_AT_MOST = 60_000
_LEAST_ALIKE = 72.0


def vocabulary(texts: Iterable[Searched]) -> set[str]:
    """The folded words of the texts, from the first megabyte and a half of each."""
    words: set[str] = set()
    for text in texts:
        for start, end in _parts(text.fold.text):
            words.update(_WORD.findall(text.fold.text, start, end))
        if len(words) >= _WORDS_AT_MOST:
            break
    return words


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Parts of the text that end at a space where there is one, between which other threads get their turn."""
    start, whole = 0, min(len(text), _LOOKED_AT)
    while start < whole:
        end = min(whole, start + _PART)
        space = text.rfind(" ", start, end) if end < whole else -1
        end = space if space > start else end
        yield start, end
        start = end


def alike_words(term: str, words: Iterable[str], most: int = 3) -> list[str]:
    """Up to `most` of the words that are spelled nearly as the folded `term`."""
    if len(term) < 3:
        return []
    room = max(2, len(term) // 3)
    near = sorted(word for word in words if abs(len(word) - len(term)) <= room)
    close = process.extract(term, near, scorer=fuzz.ratio, limit=most, score_cutoff=_LEAST_ALIKE)
    return [word for word, _, _ in close]


def longest_part(term: str, texts: Iterable[Searched]) -> tuple[str, int]:
    """The longest beginning or end of `term` that occurs, and how often; empty when too little of it does."""
    least = 2 if not term.isascii() else max(4, len(term) // 2)
    kept = list(texts)
    for size in range(len(term) - 1, least - 1, -1):
        for part in (term[:size], term[-size:]):
            if any(text.fold.text.find(part, 0, _LOOKED_AT) >= 0 for text in kept):
                return part, sum(text.fold.text.count(part) for text in kept)
    return "", 0
