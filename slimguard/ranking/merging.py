"""Concepts of a query that say the same, made one; never drops one that says something else."""

from __future__ import annotations

from dataclasses import replace

from slimguard.ranking.intent import Concept
from slimguard.ranking.lexicon import Kind, Phrase

_NEAR: frozenset[Kind] = frozenset({"synonym", "translation"})
_MOST = 1.6


def merged(concepts: list[Concept]) -> list[tuple[Concept, float]]:
    """Concepts with their factors; one that repeats an earlier one ("find or search") strengthens it a little."""
    result: list[tuple[Concept, float]] = []
    seen: dict[Phrase, int] = {}
    for concept in concepts:
        own = [phrase for phrase, (kind, _) in concept.alternatives.items() if kind == "same"]
        near = [phrase for phrase, (kind, _) in concept.alternatives.items() if kind in _NEAR]
        place = next((seen[phrase] for phrase in (*own, *near) if phrase in seen), None)
        factor = _factor(concept)
        if place is None:
            place = len(result)
            result.append((concept, factor))
        else:
            earlier, weight = result[place]
            more = min(_MOST, max(weight, factor) + 0.25 * min(weight, factor))
            result[place] = (_union(earlier, concept), more)
        for phrase in own:
            seen[phrase] = place
    return result


def _union(earlier: Concept, later: Concept) -> Concept:
    alternatives = dict(later.alternatives)
    for phrase, reading in earlier.alternatives.items():
        if phrase not in alternatives or alternatives[phrase][0] != "same":
            alternatives[phrase] = reading
    return replace(
        earlier,
        alternatives=alternatives,
        soft=earlier.soft and later.soft,
        known=earlier.known or later.known,
        product=earlier.product or later.product,
    )


def _factor(concept: Concept) -> float:
    """What a concept counts for: more for phrases, less for words that nearly every tool could bear."""
    base = 1.0 + 0.35 * (concept.size - 1)
    if concept.overlapping:
        return 0.5 * base
    return base * (0.7 if concept.soft else 1.0)
