"""Scores of tools for a query: what matches, how rare it is, and how much of query and name it covers; pure numbers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from slimguard.ranking import lexicon, text
from slimguard.ranking.index import Index
from slimguard.ranking.intent import Concept
from slimguard.ranking.lexicon import Kind, Phrase
from slimguard.ranking.weights import Weights

_GENERIC_SERVER_WORDS = frozenset(
    {"mcp", "server", "remote", "api", "the", "js", "py", "ai", "servic", "compon", "tool"}
)


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores by place of the tool, and the share of the query's weight that each tool matched."""

    of: dict[int, float]
    coverage: dict[int, float]
    support: dict[int, float]
    """Share of everything that the query says, words unknown to the catalog included, that each tool supports."""


def score(index: Index, concepts: list[Concept], query: str) -> Scores:
    """Score every tool that matches at least one concept that is not negated."""
    weights = index.weights
    wanted = _merged([concept for concept in concepts if not concept.negated])
    totals: dict[int, float] = defaultdict(float)
    covered: dict[int, float] = defaultdict(float)
    matched: dict[int, dict[str, float]] = defaultdict(dict)
    whole = missing = 0.0
    for concept, factor in wanted:
        found = _concept_scores(index, concept)
        rarity = _concept_rarity(index, concept) * factor
        whole += rarity
        if not rarity:
            missing += factor * index.rarity_of(0) * (weights.missing_known if concept.known else weights.missing_value)
        for place, (value, fit, terms) in found.items():
            totals[place] += factor * value
            covered[place] += rarity * fit
            for term in terms:
                matched[place][term] = max(fit, matched[place].get(term, 0.0))
    shares = {place: min(1.0, value / whole) if whole else 0.0 for place, value in covered.items()}
    support = {place: min(1.0, value / (whole + missing)) if whole else 0.0 for place, value in covered.items()}
    said = _said(concepts)
    asked = _asked_actions(wanted)
    key = text.join_key(query)
    for place in totals:
        totals[place] *= 1 + weights.coverage * shares[place] ** 2
        totals[place] *= _gains(index, place, matched[place], said, key)
        totals[place] *= _agreement(index.analyses[place].actions, asked, weights)
    _rule_out(index, concepts, totals)
    return Scores(of=dict(totals), coverage=shares, support=support)


def _merged(concepts: list[Concept]) -> list[tuple[Concept, float]]:
    """Concepts with their factors; a concept that repeats an earlier one ("find or search") strengthens it a little."""
    result: list[tuple[Concept, float]] = []
    seen: dict[Phrase, int] = {}
    for concept in concepts:
        own = [phrase for phrase, (kind, _) in concept.alternatives.items() if kind == "same"]
        near = [phrase for phrase, (kind, _) in concept.alternatives.items() if kind in ("synonym", "translation")]
        known = next((seen[phrase] for phrase in (*own, *near) if phrase in seen), None)
        factor = _factor(concept)
        if known is None:
            for phrase in own:
                seen[phrase] = len(result)
            result.append((concept, factor))
            continue
        earlier, weight = result[known]
        union = dict(concept.alternatives)
        for phrase, reading in earlier.alternatives.items():
            if phrase not in union or union[phrase][0] != "same":
                union[phrase] = reading
        result[known] = (
            Concept(earlier.word, union, earlier.soft and concept.soft, earlier.known, size=earlier.size),
            min(1.6, max(weight, factor) + 0.25 * min(weight, factor)),
        )
        for phrase in own:
            seen[phrase] = known
    return result


def _factor(concept: Concept) -> float:
    base = 1.0 + 0.35 * (concept.size - 1)
    if concept.overlapping:
        return 0.5 * base
    return base * (0.7 if concept.soft else 1.0)


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


def _strength(weights: Weights, kind: Kind) -> float:
    return float(getattr(weights, kind))


def _concept_rarity(index: Index, concept: Concept) -> float:
    """Inverse document frequency of all tools that say the concept in some close way."""
    places: set[int] = set()
    for phrase, (kind, fit) in concept.alternatives.items():
        if fit * _strength(index.weights, kind) >= 0.6:
            places.update(postings_of(index, phrase))
    if places:
        return index.rarity_of(len(places))
    return 0.0


def _concept_scores(index: Index, concept: Concept) -> dict[int, tuple[float, float, tuple[str, ...]]]:
    """Best value of the concept in each tool, how well it fits (0 to 1), and the terms that gave it."""
    weights = index.weights
    found: dict[int, tuple[float, float, tuple[str, ...]]] = {}
    own = _concept_rarity(index, concept)
    for phrase, (kind, fit) in concept.alternatives.items():
        postings = postings_of(index, phrase)
        if not postings:
            continue
        strength = fit * _strength(weights, kind)
        rarity = index.rarity_of(len(postings))
        if own:
            rarity = min(rarity, own * weights.idf_cap)
        for place, count in postings.items():
            full = count * (weights.saturation + 1) / (count + weights.saturation)
            value = strength * rarity * full
            if place not in found or value > found[place][0]:
                found[place] = (value, min(1.0, strength * full / 1.2), phrase)
    return found


def _said(concepts: list[Concept]) -> frozenset[str]:
    """Terms that the query says itself or by a close alternative."""
    return frozenset(
        term
        for concept in concepts
        if not concept.negated
        for phrase, (kind, fit) in concept.alternatives.items()
        if kind in ("same", "abbreviation", "translation", "compound", "typo") and fit > 0.8
        for term in phrase
    )


def _gains(index: Index, place: int, matched: dict[str, float], said: frozenset[str], key: str) -> float:
    """Factor for how much of the tool's name was matched, its server named, or the name said exactly."""
    weights = index.weights
    one = index.analyses[place]
    named = sum(matched.get(term, 0.0) for term in one.name_terms) / max(1, len(one.name_terms))
    gain = 1 + weights.name_coverage * named
    server = one.server_terms - _GENERIC_SERVER_WORDS
    if server and server <= said:
        gain *= 1 + weights.server_named
    if key and key in (one.name_key, text.join_key(one.server) + one.name_key):
        gain *= weights.exact
    return gain


def _rule_out(index: Index, concepts: list[Concept], totals: dict[int, float]) -> None:
    """Lower the tools whose name says what the query rules out."""
    for concept in concepts:
        if not concept.negated or concept.soft:
            continue
        for phrase, (kind, _) in concept.alternatives.items():
            if kind not in ("same", "translation", "abbreviation"):
                continue
            for place in totals:
                if set(phrase) <= index.analyses[place].name_terms:
                    totals[place] *= index.weights.negated


def _asked_actions(wanted: list[tuple[Concept, float]]) -> frozenset[str]:
    """Classes of action that the query asks for: those of its first word if that is a verb, else of all its verbs."""
    found: list[frozenset[str]] = [_actions_of(concept) for concept, _ in wanted]
    if found and found[0]:
        return found[0]
    return frozenset(name for names in found for name in names)


def _actions_of(concept: Concept) -> frozenset[str]:
    """Classes of action of a concept, by its own word if that is a verb of tools, else by its close alternatives."""
    classes = lexicon.action_classes()
    for kinds in (("same",), ("abbreviation", "typo", "translation"), ("synonym",)):
        names = frozenset(
            name
            for phrase, (kind, _) in concept.alternatives.items()
            if kind in kinds
            for name in classes.get(phrase[0], ())
        )
        if names:
            return names
    return frozenset()


def _agreement(actions: tuple[str, ...], asked: frozenset[str], weights: Weights) -> float:
    """Factor for how a tool's action fits the one asked for."""
    if not actions:
        return 1.0
    writes = actions[0].startswith("writes")
    if not asked:
        return weights.unasked_change if writes else 1.0
    if asked.intersection(actions):
        return weights.same_action
    if any(name.startswith("writes") == writes for name in asked):
        return weights.other_change if writes else 1.0
    return weights.opposite
