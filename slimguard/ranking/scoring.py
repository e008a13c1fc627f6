"""Scores of tools for a query: what matches, how rare it is, and how much of the tool's name is said; pure numbers."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from slimguard.ranking import actions, several, text
from slimguard.ranking.index import Index
from slimguard.ranking.intent import Concept
from slimguard.ranking.lexicon import Kind, Phrase
from slimguard.ranking.merging import merged
from slimguard.ranking.weights import Weights

_GENERIC_SERVER_WORDS = frozenset(
    {"mcp", "server", "remote", "api", "the", "js", "py", "ai", "servic", "compon", "tool"}
)
_BETWEEN_THE_LINES: frozenset[Kind] = frozenset({"synonym", "loose", "related", "loose_translation"})
_SAID: frozenset[Kind] = frozenset({"same", "abbreviation", "translation", "compound", "typo"})
_RULED_OUT: frozenset[Kind] = frozenset({"same", "abbreviation", "translation"})
_CLOSE = 0.6
_WEIGHED = 150
"""How many of the tools with the best plain sums are weighed in full: the gains seldom lift one from further down."""


_Reading = tuple[float, Phrase]
"""A phrase that says a concept, with how rare it is."""
_Found = dict[int, tuple[float, _Reading]]
"""Place of a tool -> value of a concept there, and the reading that matched best."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One thing that a query wants: what it counts for, and how rare it is in the catalog (0 if nothing says it)."""

    concept: Concept
    factor: float
    rarity: float


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores by place of the tool, and what was looked for: the concepts and the classes of action (None: unclear)."""

    of: dict[int, float]
    wanted: tuple[Wanted, ...] = ()
    asked: frozenset[str] | None = None
    parts: several.Parts = field(default_factory=dict[int, dict[int, float]])
    """What each concept adds to each tool, for a query that asks for several things; else empty."""


@dataclass(slots=True)
class _Tally:
    """Sums by place of the tool while the concepts of a query are read."""

    value: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    read: list[tuple[float, _Found]] = field(default_factory=list["tuple[float, _Found]"])
    """Of each concept its factor, and where it was found."""


def score(index: Index, concepts: list[Concept], query: str) -> Scores:
    """Score every tool that matches at least one concept that is not negated."""
    weights = index.weights
    wanted = merged([concept for concept in concepts if not concept.negated])
    tally = _Tally()
    brief = min(1.0, weights.brief / max(1, len(wanted)))
    read = tuple(Wanted(concept, factor, _count(tally, index, concept, factor, brief)) for concept, factor in wanted)
    if not tally.value:
        return Scores({})
    asked = actions.asked_for([concept for concept, _ in wanted]) if len(wanted) <= weights.brief else None
    said = _said(concepts)
    key = text.join_key(query)
    values: dict[int, float] = {}
    for place in heapq.nlargest(_WEIGHED, tally.value, key=lambda place: (tally.value[place], -place)):
        gain = _name_gain(index, place, _matched(tally, place), said, key)
        if asked is not None:
            gain *= actions.agreement(index.analyses[place].actions, asked, weights)
        values[place] = tally.value[place] * gain
    parts: several.Parts = {}
    if len(wanted) > weights.brief and several.asks(query):
        parts = _parts(tally, values)
        servers = {place: index.tools[place].server for place in values}
        for place, gain in several.company(parts, servers, weights.company).items():
            values[place] *= gain
    _rule_out(index, concepts, values)
    _expect_products(index, wanted, values)
    return Scores(of=values, wanted=read, asked=asked, parts=parts)


def _count(tally: _Tally, index: Index, concept: Concept, factor: float, brief: float) -> float:
    """Add one concept to the sums; its rarity, 0 if nothing says it closely."""
    rarity, found = _read(index, concept, brief)
    tally.read.append((factor, found))
    values = tally.value
    for place, (value, _) in found.items():
        values[place] += factor * value
    return rarity


def _matched(tally: _Tally, place: int) -> dict[str, float]:
    """The terms of the tool at `place` that matched, with how well each fits (at most 1)."""
    matched: dict[str, float] = {}
    for _, found in tally.read:
        if place in found:
            value, (rarity, phrase) = found[place]
            for term in phrase:
                matched[term] = max(min(1.0, value / rarity / 1.2), matched.get(term, 0.0))
    return matched


def _parts(tally: _Tally, places: Iterable[int]) -> dict[int, dict[int, float]]:
    """What each concept adds to each of `places`."""
    return {
        place: {
            at: factor * found[place][0]
            for at, (factor, found) in enumerate(tally.read)
            if place in found and found[place][0] > 0
        }
        for place in places
    }


def postings_of(index: Index, phrase: Phrase) -> dict[int, float]:
    """Tools that hold every term of `phrase`, with the weakest term's count."""
    first = index.postings.get(phrase[0], {})
    if len(phrase) == 1:
        return first
    others = [index.postings.get(term, {}) for term in phrase[1:]]
    return {
        place: min(count, *(other[place] for other in others))
        for place, count in first.items()
        if all(place in other for other in others)
    }


def strength(weights: Weights, kind: Kind) -> float:
    """What an alternative of `kind` counts for."""
    return float(getattr(weights, kind))


def _read(index: Index, concept: Concept, brief: float) -> tuple[float, _Found]:
    """The concept's own rarity (0 if nothing says it closely), and its best reading in each tool."""
    weights, saturation = index.weights, index.weights.saturation
    readings: list[tuple[float, dict[int, float], Phrase]] = []
    close: set[int] = set()
    for phrase, (kind, fit) in concept.alternatives.items():
        postings = postings_of(index, phrase)
        if not postings:
            continue
        full = fit * strength(weights, kind)
        if full >= _CLOSE:
            close.update(postings)
        readings.append((full * (brief if kind in _BETWEEN_THE_LINES else 1.0), postings, phrase))
    rarity = index.rarity_of(len(close)) if close else 0.0
    found: _Found = {}
    for share, postings, phrase in readings:
        own = index.rarity_of(len(postings))
        reading = (min(own, rarity * weights.idf_cap) if rarity else own, phrase)
        worth = share * reading[0] * (saturation + 1)
        for place, count in postings.items():
            value = worth * count / (count + saturation)
            if place not in found or value > found[place][0]:
                found[place] = (value, reading)
    return rarity, found


def _said(concepts: list[Concept]) -> frozenset[str]:
    """Terms that the query says itself or by a close alternative."""
    return frozenset(
        term
        for concept in concepts
        if not concept.negated
        for phrase, (kind, fit) in concept.alternatives.items()
        if kind in _SAID and fit > 0.8
        for term in phrase
    )


def _name_gain(index: Index, place: int, matched: dict[str, float], said: frozenset[str], key: str) -> float:
    """Factor for how much of the tool's name was matched, its server named, or the name said exactly."""
    weights = index.weights
    one = index.analyses[place]
    named = sum(matched.get(term, 0.0) for term in one.name_terms) / max(1, len(one.name_terms))
    gain = 1 + weights.name_coverage * named
    server = one.server_terms - _GENERIC_SERVER_WORDS
    if server and server <= said:
        gain *= 1 + weights.server_named
    if key and key in (one.name_key, one.server_key + one.name_key):
        gain *= weights.exact
    return gain


def _rule_out(index: Index, concepts: list[Concept], values: dict[int, float]) -> None:
    """Lower the tools whose name says what the query rules out."""
    for concept in concepts:
        if not concept.negated or concept.soft:
            continue
        phrases = [set(phrase) for phrase, (kind, _) in concept.alternatives.items() if kind in _RULED_OUT]
        for place in values:
            if any(phrase <= index.analyses[place].name_terms for phrase in phrases):
                values[place] *= index.weights.negated


def _expect_products(index: Index, wanted: list[tuple[Concept, float]], values: dict[int, float]) -> None:
    """Lower the tools that say nothing of a product that the query names: they are of another product."""
    for concept, _ in wanted:
        if not concept.product:
            continue
        said, servers = _of_product(index, concept)
        for place in values:
            if place not in said and index.tools[place].server not in servers:
                values[place] *= index.weights.other_product


def _of_product(index: Index, concept: Concept) -> tuple[set[int], set[str]]:
    """Places of the tools that say a product, and the servers that have such a tool."""
    said: set[int] = set()
    for phrase, (kind, _) in concept.alternatives.items():
        if kind in _SAID or kind == "synonym":
            said.update(postings_of(index, phrase))
    return said, {index.tools[place].server for place in said} - {""}


def lacks_product(index: Index, concept: Concept, place: int) -> bool:
    """Whether `concept` names a product of which neither the tool nor any other of its server says anything."""
    if not concept.product:
        return False
    said, servers = _of_product(index, concept)
    return place not in said and index.tools[place].server not in servers
