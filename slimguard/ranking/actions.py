"""Actions: what a query asks to be done and what a tool's name says it does; never decides alone."""

from __future__ import annotations

from slimguard.ranking import verbs
from slimguard.ranking.intent import Concept
from slimguard.ranking.lexicon import Phrase
from slimguard.ranking.weights import Weights

_CLOSER_FIRST = (("same",), ("abbreviation", "typo", "translation"), ("synonym",))


def asked_for(concepts: list[Concept]) -> frozenset[str]:
    """Classes of action that a query asks for: those of its first word if that is a verb, else of all its verbs."""
    # The first word of a query is its verb more often than any other.
    found = [_classes(concept, first=not place) for place, concept in enumerate(concepts)]
    if found and found[0]:
        return found[0]
    return frozenset(name for names in found for name in names)


def _classes(concept: Concept, *, first: bool) -> frozenset[str]:
    """Classes of a concept, by its own word if that is a verb of tools, else by its closest alternatives that are."""
    if _is_plural(concept.word):
        return frozenset()
    classes = verbs.classes()
    for kinds in _CLOSER_FIRST if first else _CLOSER_FIRST[:2]:
        names = frozenset(
            name for phrase in _readings(concept, kinds) if len(phrase) == 1 for name in classes.get(phrase[0], ())
        )
        if names:
            return names
    return frozenset()


def _is_plural(word: str) -> bool:
    """Whether an English word is in a form that no request has: `shares` are things, `share` may be an action."""
    return word.isascii() and len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _readings(concept: Concept, kinds: tuple[str, ...]) -> list[Phrase]:
    """Alternatives of these kinds; of translations only the first: the others may be nouns (`order` of sorting)."""
    found: list[Phrase] = []
    translated = False
    for phrase, (kind, _) in concept.alternatives.items():
        if kind in kinds and not (kind == "translation" and translated):
            found.append(phrase)
            translated = translated or kind == "translation"
    return found


def agreement(own: tuple[str, ...], asked: frozenset[str], weights: Weights) -> float:
    """Factor for how a tool's action fits the one asked for; 1 for a tool whose name has none."""
    if not own:
        return 1.0
    writes = own[0].startswith("writes")
    if not asked:
        return weights.unasked_change if writes else 1.0
    if asked.intersection(own):
        return weights.same_action
    if any(name.startswith("writes") == writes for name in asked):
        return weights.other_change if writes else 1.0
    return weights.opposite
