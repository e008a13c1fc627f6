"""Queries that ask for several things: one server may serve them all, and one of them must not take every place.

Queries of one step never come here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

Parts = Mapping[int, Mapping[int, float]]
"""Place of a tool -> number of a concept of the query -> what it adds to the tool's plain sum."""

_BETWEEN_SENTENCES = re.compile(r"[.!?;]+\s+|[。！？；]+\s*|\n+")
_SENTENCE_WORDS = 4
_SENTENCE_CHARS = 9
"""A sentence without spaces has at least this many characters."""


def asks(query: str) -> bool:
    """Whether `query` is more than one sentence, headings and greetings not counted."""
    return sum(map(_is_sentence, _BETWEEN_SENTENCES.split(query))) > 1


def _is_sentence(part: str) -> bool:
    return len(part.split()) >= _SENTENCE_WORDS or (not part.isascii() and len(part) >= _SENTENCE_CHARS)


def company(parts: Parts, servers: Mapping[int, str], most: float) -> dict[int, float]:
    """Factor of each place: up to `1 + most` for tools of the server whose tools together match the most."""
    best: dict[str, dict[int, float]] = {}
    for place, values in parts.items():
        known = best.setdefault(servers[place], {})
        for concept, value in values.items():
            known[concept] = max(value, known.get(concept, 0.0))
    together = {server: sum(known.values()) for server, known in best.items() if server}
    top = max(together.values(), default=0.0)
    return {place: 1 + most * together[servers[place]] / top for place in parts if servers[place] and top}


def spread(
    places: Sequence[int], of: Mapping[int, float], parts: Parts, repeated: float, count: int
) -> dict[int, float]:
    """At most `count` of `places`, best first, with their worth: what one before matches already counts less.

    `repeated` is the share of a concept's value that is lost when a tool before matches it as well as any tool does.
    """
    most: dict[int, float] = {}
    for place in places:
        for concept, value in parts[place].items():
            most[concept] = max(value, most.get(concept, 0.0))
    left = list(places)
    covered: dict[int, float] = {}
    found: dict[int, float] = {}
    while left and len(found) < count:
        worth = {place: of[place] * _new_share(parts[place], covered, repeated) for place in left}
        best = max(left, key=lambda place: (round(worth[place], 6), -left.index(place)))
        left.remove(best)
        found[best] = worth[best]
        for concept, value in parts[best].items():
            covered[concept] = max(value / most[concept], covered.get(concept, 0.0))
    return found


def _new_share(values: Mapping[int, float], covered: Mapping[int, float], repeated: float) -> float:
    """The share of a tool's plain sum that is left when what is covered counts less."""
    whole = sum(values.values())
    if not whole:
        return 1.0
    return sum(value * (1 - repeated * covered.get(concept, 0.0)) for concept, value in values.items()) / whole
