"""Unknown words read as the catalog's own: typing errors and words written joined or apart; never known words."""

from __future__ import annotations

from rapidfuzz import process
from rapidfuzz.distance import OSA

from slimguard.ranking import text
from slimguard.ranking.index import Index
from slimguard.ranking.lexicon import Kind, Phrase

_READINGS = 3
_PAIR_CHARS = 7
"""Shorter words are too near to too many pairs."""


def repair(index: Index, word: str, before: str, after: str) -> dict[Phrase, tuple[Kind, float]]:
    """Readings of `word`, each with how well it fits: joined with a neighbour, split in two, or misspelt."""
    found: dict[Phrase, tuple[Kind, float]] = {}
    for joined in (word + after if after else "", before + word if before else ""):
        if joined and text.stem(joined) in index.postings:
            found[(text.stem(joined),)] = ("compound", 1.0)
    found = found or _split(index, word)
    return found or _misspelt(index, word) or _misspelt_pair(index, word)


def _split(index: Index, word: str) -> dict[Phrase, tuple[Kind, float]]:
    """`word` as two terms of the catalog, the most balanced split first."""
    if len(word) < 6 or not word.isalpha():
        return {}
    for place in sorted(range(3, len(word) - 2), key=lambda at: (abs(2 * at - len(word)), at)):
        first, second = text.stem(word[:place]), text.stem(word[place:])
        if len(index.postings.get(first, ())) > 1 and len(index.postings.get(second, ())) > 1:
            return {(first, second): ("compound", 1.0), (first,): ("part", 1.0), (second,): ("part", 1.0)}
    return {}


def _misspelt(index: Index, word: str) -> dict[Phrase, tuple[Kind, float]]:
    """Terms within one edit (two for long words) of `word` or of its stem; a swap of neighbours is one edit."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return {}
    edits = 1 if len(word) < 8 else 2
    scored: dict[str, float] = {}
    for written in dict.fromkeys((word, text.stem(word))):
        choices = [
            term
            for size in range(len(written) - edits, len(written) + edits + 1)
            for term in index.vocabulary.get(size, ())
        ]
        for term, distance, _ in process.extract(written, choices, scorer=OSA.distance, score_cutoff=edits, limit=8):
            fit = 1.0 - 0.12 * (distance - 1) - (0.15 if term[0] != word[0] else 0.0) - (0.1 if len(term) < 4 else 0.0)
            scored[term] = max(scored.get(term, 0.0), fit)
    best = sorted(scored.items(), key=lambda item: (-item[1], -len(index.postings[item[0]]), item[0]))
    return {(term,): ("typo", fit) for term, fit in best[:_READINGS]}


def _misspelt_pair(index: Index, word: str) -> dict[Phrase, tuple[Kind, float]]:
    """Two words of a tool's name that were written as one, with one edit."""
    if len(word) < _PAIR_CHARS or not word.isascii() or not word.isalpha():
        return {}
    for written in dict.fromkeys((word, text.stem(word))):
        near = process.extractOne(written, index.joined.keys(), scorer=OSA.distance, score_cutoff=1)
        if near:
            return {index.joined[near[0]]: ("typo", 1.0)}
    return {}
