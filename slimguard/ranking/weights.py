"""What each part of a match counts for, in one value so that the benchmark can vary it; never logic."""

from __future__ import annotations

from dataclasses import dataclass, field

FIELDS = ("name", "server", "title", "lead", "rest", "parameters", "details")
"""Where a word may stand in a tool: `lead` is the first sentence of the description, `details` the descriptions of the
parameters."""


def _field_weights() -> dict[str, float]:
    return {
        "name": 3.0,
        "server": 3.0,
        "title": 2.0,
        "lead": 1.5,
        "rest": 0.95,
        "parameters": 1.0,
        "details": 0.3,
    }


def _length_weights() -> dict[str, float]:
    return {
        "name": 0.3,
        "server": 0.3,
        "title": 0.3,
        "lead": 0.4,
        "rest": 0.4,
        "parameters": 0.75,
        "details": 0.75,
    }


@dataclass(frozen=True, slots=True)
class Weights:
    """The scorer's numbers; `docs/explanation/ranking.md` says what each part is worth."""

    fields: dict[str, float] = field(default_factory=_field_weights)
    """Worth of a word by the field that it stands in."""
    lengths: dict[str, float] = field(default_factory=_length_weights)
    """How much a longer field dilutes its words, by field (BM25's b)."""
    saturation: float = 1.2
    """How soon more occurrences stop to count (BM25's k1)."""
    same: float = 1.0
    """A word's own stem."""
    abbreviation: float = 0.9
    translation: float = 0.9
    """A term of another language for the same concept."""
    loose_translation: float = 0.5
    synonym: float = 0.65
    """Another core word of the same concept."""
    loose: float = 0.4
    """A word that only comes near."""
    related: float = 0.4
    """An ability that an everyday outcome asks for, such as a forecast for an umbrella."""
    compound: float = 0.8
    """Two words written as one, or one as two."""
    typo: float = 0.65
    part: float = 0.6
    """One word of a phrase, alone."""
    brief: int = 7
    """Concepts of a query up to which its words are read between the lines in full; in longer ones that is noise."""
    idf_cap: float = 1.5
    """How much rarer than its concept an alternative may count."""
    name_coverage: float = 0.7
    """Gain of a tool whose whole name the query says."""
    server_named: float = 0.45
    """Gain of a tool whose server the query names."""
    exact: float = 2.0
    """Factor for a query that is the tool's name."""
    same_action: float = 1.1
    """Factor for a tool whose name does the action that the query asks for."""
    other_change: float = 0.85
    """Factor for a tool that makes another change than the one that the query asks for."""
    opposite: float = 0.7
    """Factor for a tool that changes something when the query only reads, or the other way round."""
    unasked_change: float = 0.9
    """Factor for a tool that changes something when the query names no action."""
    other_product: float = 0.6
    """Factor for a tool that says nothing of a product that the query names."""
    company: float = 1.0
    """Gain, in a query for several things, of the tools of the server whose tools together match the most of it."""
    repeated: float = 0.4
    """What a word loses, in a query for several things, once a tool that is shown before matches it."""
    sure_share: float = 2.8
    """Evidence, for confidence only, of a tool that matches all of the query."""
    sure_rare: float = 2.15
    """Evidence of matched words: this times the square root of how many of the rarest words they amount to."""
    sure_name: float = 1.8
    """Evidence of a tool whose whole name is said."""
    sure_least: float = 2.0
    """Evidence below which confidence is low."""
    sure_missed: float = 1.5
    """What it takes off that one of the rarest words is missed."""
    sure_product: float = 3.6
    """What it takes off that the query names a product that the tool is not of."""
    sure_action: float = 0.55
    """What it takes off that the query asks for an action: every tool that does it matches that word."""
    sure_not_done: float = 0.35
    """What it takes off besides that the tool's name says no such action."""
    sure_no_change: float = 3.2
    """What it takes off besides that a change is asked for, no tool shown makes it, and this one only reads."""
    sure_other_change: float = 1.3
    """The same for a tool that makes another change."""
    missing_known: float = 0.6
    """Weight, for confidence only, of a known word that nothing in the catalog says."""
    missing_value: float = 0.1
    """The same for names and values, which no catalog says."""
    negated: float = 0.35
    """Factor for a tool whose name says what the query rules out."""


DEFAULT = Weights()
