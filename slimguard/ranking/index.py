"""The index of one catalog: an immutable value, built from the tools and from what an earlier index knew."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from slimguard.model import Tool
from slimguard.ranking import lexicon, products
from slimguard.ranking.analysis import Analysis, analyse
from slimguard.ranking.lexicon import Phrase
from slimguard.ranking.weights import DEFAULT, FIELDS, Weights


@dataclass(frozen=True, slots=True)
class Index:
    """Postings of a catalog. Nothing changes it after `build`; searches on it may run in any thread."""

    tools: tuple[Tool, ...]
    analyses: tuple[Analysis, ...]
    postings: dict[str, dict[int, float]]
    """Term -> place of the tool -> weighted, length-normalised count (BM25F)."""
    exact: dict[str, tuple[int, ...]]
    """Case-folded ref, id or name -> places of the tools that bear it."""
    vocabulary: dict[int, list[str]]
    """Terms that a misspelt word may have meant, by length."""
    joined: dict[str, Phrase]
    """Neighbours in the names of tools, written as one word -> the two terms."""
    weights: Weights
    known: dict[tuple[str, str], Analysis]

    def rarity_of(self, count: int) -> float:
        """Inverse document frequency of what stands in `count` tools."""
        return math.log(1 + (len(self.tools) - count + 0.5) / (count + 0.5))


def build(tools: Sequence[Tool], previous: Index | None = None, *, weights: Weights = DEFAULT) -> Index:
    """Index `tools`; a tool whose server and definition `previous` knows is not analysed again. Pure and total."""
    lexicon.load()
    products.load()
    known = previous.known if previous else {}
    ordered = tuple(sorted(tools, key=lambda tool: (tool.id, tool.digest)))
    analyses = tuple(known.get((tool.server, tool.digest)) or analyse(tool) for tool in ordered)
    return assemble(ordered, analyses, weights)


def assemble(tools: tuple[Tool, ...], analyses: tuple[Analysis, ...], weights: Weights) -> Index:
    """An index from tools and their analyses, in the same order."""
    postings = _postings(analyses, weights)
    vocabulary: dict[int, list[str]] = defaultdict(list)
    for term in sorted(postings):
        if len(term) >= 3 and term.isascii() and term.isalpha():
            vocabulary[len(term)].append(term)
    return Index(
        tools=tools,
        analyses=analyses,
        postings=postings,
        exact=_exact(tools),
        vocabulary=dict(vocabulary),
        joined=_joined(analyses),
        weights=weights,
        known={(one.server, one.digest): one for one in analyses},
    )


def _joined(analyses: tuple[Analysis, ...]) -> dict[str, Phrase]:
    """Pairs of neighbours in names that people write as one word, such as `wordcloud`."""
    found: dict[str, Phrase] = {}
    for one in analyses:
        name = [term for term, _ in one.fields[0] if len(term) >= 3 and term.isascii() and term.isalpha()]
        for first, second in pairwise(name):
            found.setdefault(first + second, (first, second))
    return found


def _exact(tools: tuple[Tool, ...]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = defaultdict(list)
    for place, tool in enumerate(tools):
        for key in {tool.ref.casefold(), tool.id.casefold(), tool.name.casefold()}:
            found[key].append(place)
    return {key: tuple(places) for key, places in found.items()}


def _postings(analyses: tuple[Analysis, ...], weights: Weights) -> dict[str, dict[int, float]]:
    postings: dict[str, dict[int, float]] = defaultdict(dict)
    average = [max(1e-9, sum(one.lengths[at] for one in analyses) / max(1, len(analyses))) for at in range(len(FIELDS))]
    plan = [(at, weights.fields[name], weights.lengths[name]) for at, name in enumerate(FIELDS) if weights.fields[name]]
    for place, one in enumerate(analyses):
        for at, weight, dilution in plan:
            found = one.fields[at]
            if not found:
                continue
            share = weight / (1 - dilution + dilution * one.lengths[at] / average[at])
            for term, count in found:
                target = postings[term]
                target[place] = target.get(place, 0.0) + count * share
    return dict(postings)
