"""Spellings that do occur near a word that does not; proposals, labelled as such by whoever prints them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rapidfuzz import fuzz, process

from slimguard.readers.searched import Searched

_WORD = re.compile(r"\w[\w.-]{1,60}\w|\w{2,}")
_LOOKED_AT = 2_000_000
_WORDS_AT_MOST = 60_000
_LEAST_ALIKE = 72.0


def alike_words(term: str, texts: Iterable[Searched], most: int = 3) -> list[str]:
    """Up to `most` words of the texts (their first 2 MB) that are spelled nearly as the folded `term`."""
    if len(term) < 3:
        return []
    words: set[str] = set()
    room = max(2, len(term) // 3)
    for text in texts:
        found: set[str] = set(_WORD.findall(text.fold.text, 0, _LOOKED_AT))
        words.update(word for word in found if abs(len(word) - len(term)) <= room)
        if len(words) >= _WORDS_AT_MOST:
            break
    close = process.extract(term, sorted(words), scorer=fuzz.ratio, limit=most, score_cutoff=_LEAST_ALIKE)
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
