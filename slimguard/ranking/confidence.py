"""How sure an answer is: what the query says against what the best tool is; never changes the order of the tools."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from slimguard.ranking.analysis import Analysis, field_words
from slimguard.ranking.index import Index
from slimguard.ranking.intent import Concept
from slimguard.ranking.lexicon import Kind, Phrase
from slimguard.ranking.scoring import Scores, Wanted, lacks_product

_SURE: dict[Kind, float] = {
    "same": 1.0,
    "abbreviation": 1.0,
    "translation": 0.95,
    "compound": 0.9,
    "synonym": 0.8,
    "typo": 0.8,
    "related": 0.5,
    "part": 0.35,
    "loose": 0.3,
    "loose_translation": 0.25,
}
"""How far a match of each kind says that the tool is meant: less than it helps the order, for whatever comes near."""

_PLACED = {
    "name": 1.0,
    "server": 1.0,
    "title": 1.0,
    "lead": 1.0,
    "rest": 0.75,
    "parameters": 0.7,
    "details": 0.35,
}
"""How far a match in each field says it: a tool is its name and first sentence, not what its parameters mention."""

_SAYS_THE_NAME = 0.6


def evidence(index: Index, scores: Scores, places: Sequence[int]) -> float:
    """Evidence that the first of `places` (the tools that would be shown) does what was asked: low below 0.

    For it speak the share of the query that the tool matches, how much that is in rare words, and how much of the
    tool's name was said. Against it speak a rare word that it does not match, a named product that it is not of, and
    another action than the one asked for, the more so while no other tool shown does that action either.
    """
    weights = index.weights
    one = measures(index, scores, places[0])
    found = (
        weights.sure_share * one.share
        + weights.sure_rare * math.sqrt(one.matched)
        + weights.sure_name * one.said
        - weights.sure_missed * one.missed
        - weights.sure_least
    )
    if any(lacks_product(index, wanted.concept, places[0]) for wanted in scores.wanted):
        found -= weights.sure_product
    return found - _other_action(index, scores.asked, places)


@dataclass(frozen=True, slots=True)
class Measures:
    """What a query says against what a tool is, in numbers that do not depend on the size of the catalog."""

    share: float
    """Share of the query that the tool matches."""
    matched: float
    """How many of the rarest words the matched ones amount to."""
    missed: float
    """How much of one of the rarest words the worst miss is."""
    said: float
    """Share of the tool's name that the query says."""


def measures(index: Index, scores: Scores, place: int) -> Measures:
    """Measure how the query fits the tool at `place`."""
    one = index.analyses[place]
    where = _where(one)
    whole = matched = missed = 0.0
    named: set[str] = set()
    for wanted in scores.wanted:
        sure = _match(wanted.concept, where, one.name_terms, named)
        weight = _weight(index, wanted, missed=not sure)
        whole += weight
        matched += weight * sure
        missed = max(missed, weight * (1 - sure))
    rarest = index.rarity_of(0)
    share = matched / whole if whole else 0.0
    return Measures(share, matched / rarest, missed / rarest, len(named) / max(1, len(one.name_terms)))


def _weight(index: Index, wanted: Wanted, *, missed: bool) -> float:
    """What a concept counts for: its rarity, and less for a name or value that is missed (other tools say it at most
    as an example) than for a word."""
    weights = index.weights
    if not wanted.rarity:
        share = weights.missing_known if wanted.concept.known else weights.missing_value
        return wanted.factor * index.rarity_of(0) * share
    value = missed and not wanted.concept.known
    return wanted.factor * wanted.rarity * (_share_of_missed(wanted.concept) if value else 1.0)


def _share_of_missed(concept: Concept) -> float:
    """What a missed word that the lexicon does not know counts for: next to nothing if it is a number or a name."""
    return 0.1 if concept.proper or any(char.isdigit() for char in concept.word) else 0.6


def _where(one: Analysis) -> dict[str, str]:
    """Each term of a tool with the weightiest field that holds it."""
    found: dict[str, str] = {}
    for term, field in field_words(one):
        found.setdefault(term, field)
    return found


def _match(concept: Concept, where: dict[str, str], name: frozenset[str], named: set[str]) -> float:
    """How surely a tool matches a concept (0 to 1); notes the terms of the tool's name that are said closely."""
    best = 0.0
    for phrase, (kind, fit) in concept.alternatives.items():
        if not all(term in where for term in phrase):
            continue
        sure = _SURE[kind] * fit
        if sure >= _SAYS_THE_NAME:
            named.update(name.intersection(phrase))
        best = max(best, sure * min(_PLACED[where[term]] for term in phrase))
    return best


def covers_name(index: Index, scores: Scores, place: int) -> bool:
    """Whether the query says every word of a tool's name, by the word itself or another that means the same."""
    said: set[Phrase] = {
        phrase
        for wanted in scores.wanted
        for phrase, (kind, fit) in wanted.concept.alternatives.items()
        if _SURE[kind] * fit >= _SAYS_THE_NAME
    }
    name = index.analyses[place].name_terms
    return name <= {term for phrase in said if name.issuperset(phrase) for term in phrase}


def _other_action(index: Index, asked: frozenset[str] | None, places: Sequence[int]) -> float:
    """What it takes off that an action is asked for, more if the tool does another, most if no tool shown does it."""
    if not asked:
        return 0.0
    weights = index.weights
    own = index.analyses[places[0]].actions
    if asked.intersection(own):
        return weights.sure_action
    taken = weights.sure_action + weights.sure_not_done
    changes = not any(name.startswith("reads") for name in asked)
    if not own or not changes or any(asked.intersection(index.analyses[place].actions) for place in places):
        return taken
    return taken + (weights.sure_other_change if own[0].startswith("writes") else weights.sure_no_change)
