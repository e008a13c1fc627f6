"""The tools that answer a query, best first, with how sure that is and why; deterministic, never an empty filler."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import OSA

from slimguard import policy
from slimguard.model import Tool
from slimguard.ranking import confidence, several, text
from slimguard.ranking.analysis import field_words
from slimguard.ranking.index import Index
from slimguard.ranking.intent import Concept, read
from slimguard.ranking.repair import repair
from slimguard.ranking.scoring import Scores, score, strength

Confidence = Literal["clear", "several", "low", "none"]


class Reason(NamedTuple):
    """One word of the query, the field of the tool that it matched, and how (`same`, `synonym`, `translation`, …)."""

    word: str
    field: str
    kind: str


@dataclass(frozen=True, slots=True)
class Match:
    """One tool of an answer. `clones` are ids of the same tool on other servers that are not in the answer."""

    tool: Tool
    score: float
    why: tuple[Reason, ...] = ()
    clones: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to one query. `nearest` are ids of tools whose names come near when nothing matched well."""

    matches: tuple[Match, ...]
    confidence: Confidence
    nearest: tuple[str, ...] = ()


_EMPTY = Found((), "none")
_PREFIX = re.compile(r"^\s*([^\s:/]{1,80})\s*[:：]\s*(\S.*)$", re.DOTALL)


def search(index: Index, query: str, *, limit: int = policy.FOUND_TOOLS) -> Found:
    """At most `limit` tools for `query`, one when it clearly wins. Pure, deterministic, never raises."""
    asked = text.clean(query[: policy.FIND_QUERY_CHARS]).strip()
    if not asked or not index.tools or limit < 1:
        return _EMPTY
    exact = _exact(index, asked)
    if exact:
        return Found(tuple(Match(tool, 1.0, (Reason(asked, "name", "exact"),)) for tool in exact[:limit]), "clear")
    asking = _asking(index, asked)
    if not asking.ranked:
        return Found((), "none", _nearest(index, asked))
    return _chosen(asking, limit)


def ranked_tools(index: Index, query: str, count: int) -> list[Tool]:
    """The best `count` tools, copies too, without any left out: what `search` chooses from, for measuring."""
    asked = text.clean(query[: policy.FIND_QUERY_CHARS]).strip()
    asking = _asking(index, asked)
    groups = {places[0]: places for places in _copies(asking)}
    order = [place for head in _worth(asking, list(groups), count) for place in groups[head]]
    return [index.tools[place] for place in order[:count]]


@dataclass(frozen=True, slots=True)
class _Asking:
    """One query, read and scored."""

    index: Index
    asked: str
    concepts: list[Concept]
    scores: Scores
    ranked: list[int]


def _asking(index: Index, asked: str) -> _Asking:
    words, within = _server_prefix(index, asked)
    concepts = read(words, index.postings.__contains__, lambda word, before, after: repair(index, word, before, after))
    scores = score(index, concepts, words)
    return _Asking(index, words, concepts, scores, _ranked(index, scores, within))


def _exact(index: Index, asked: str) -> list[Tool]:
    """Tools whose ref, id or name `asked` is, letter by letter; a name may be borne by several.

    A name counts when it is written like one: `search` alone is a word, `list_issues` and `getStories` are names.
    """
    tools = [index.tools[place] for place in index.exact.get(asked.casefold(), ())]
    if any(tool.name.casefold() != asked.casefold() for tool in tools):
        return [tool for tool in tools if tool.name.casefold() != asked.casefold()]
    written = "_" in asked or "-" in asked or any(char.isupper() for char in asked[1:])
    return tools if written else []


def _server_prefix(index: Index, asked: str) -> tuple[str, str | None]:
    """`server: words` as the words and the server they are for, when a server of that name exists."""
    parts = _PREFIX.match(asked)
    if parts is None:
        return asked, None
    wanted = text.join_key(parts.group(1))
    places = (place for place, one in enumerate(index.analyses) if one.server_key == wanted)
    server = next((index.tools[place].server for place in places), None)
    return (parts.group(2), server) if server is not None else (asked, None)


def _ranked(index: Index, scores: Scores, within: str | None) -> list[int]:
    """Places of the tools, best first; ties go to the shorter name, then the smaller id."""
    return sorted(
        (place for place in scores.of if within is None or index.tools[place].server == within),
        key=lambda place: (
            -round(scores.of[place], 6),
            len(index.analyses[place].name_terms),
            index.tools[place].id,
        ),
    )


_CLEAR_LEAD = 2.4
"""How many times the next score the first one is when it is shown alone."""
_CLEAR_LEAD_BRIEF = 1.75
"""The same for a query that asks for one thing."""
_CLEAR_LEAD_SURE = 1.3
"""The same when the evidence for the first tool of such a query is above `_SURE`."""
_SURE = 3.25
_CLEAR_LEAD_SAID = 1.2
"""The same when such a query says the whole name of the first tool and not that of the second."""
_KEPT_SHARE = 0.33
"""The share of the best score under which a tool is not shown."""


_WORD_FOR_WORD = 2
"""How many concepts a query must have to be believed because a description says the same, word for word."""

_CONSIDERED = 50
"""How many of the best tools the answer is chosen from."""


def _copies(asking: _Asking) -> list[list[int]]:
    """The best tools, copies of one tool on several servers together, in the order of the best of each."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place in asking.ranked[:_CONSIDERED]:
        one = asking.index.analyses[place]
        groups.setdefault((one.name_key, one.parameter_key), []).append(place)
    return list(groups.values())


def _worth(asking: _Asking, heads: list[int], count: int) -> dict[int, float]:
    """At most `count` of `heads` in the order of the answer, with scores that never rise."""
    scores = asking.scores
    if scores.parts:
        return several.spread(heads, scores.of, scores.parts, asking.index.weights.repeated, count)
    return {place: scores.of[place] for place in heads[:count]}


def _chosen(asking: _Asking, limit: int) -> Found:
    """Cut the ranking to what is worth showing: no far runner-up, no clones in place of other tools."""
    index = asking.index
    groups = {places[0]: places for places in _copies(asking)}
    worth = _worth(asking, list(groups), limit)
    heads = list(worth)
    sure = confidence.evidence(index, asking.scores, heads[: policy.FOUND_TOOLS])
    low = sure < 0 and not _is_word_for_word(asking, heads[0])
    kept = [place for place in heads if worth[place] >= _KEPT_SHARE * worth[heads[0]]]
    if not low and _is_clear(asking, list(groups), sure):
        kept = kept[:1]
    matches = tuple(
        Match(
            index.tools[place],
            round(worth[place], 4),
            reasons(index, place, asking.concepts),
            tuple(index.tools[other].id for other in groups[place][1:]),
        )
        for place in kept
    )
    how: Confidence = "low" if low else "clear" if len(matches) == 1 else "several"
    return Found(matches, how, _nearest(index, asking.asked) if low else ())


def _is_word_for_word(asking: _Asking, place: int) -> bool:
    """Whether the query, more than one word of it, stands in the tool's description as it is written."""
    if len(asking.concepts) < _WORD_FOR_WORD:
        return False
    described = text.clean(asking.index.tools[place].description[: policy.ANALYSED_DESCRIPTION_CHARS])
    return asking.asked.casefold() in described.casefold()


def _is_clear(asking: _Asking, heads: list[int], sure: float) -> bool:
    """Whether the first of several tools leads by enough to stand alone, given the evidence for it."""
    if len(heads) == 1:
        return True
    lead = asking.scores.of[heads[0]] / max(1e-9, asking.scores.of[heads[1]])
    if len(asking.scores.wanted) > asking.index.weights.brief:
        return lead > _CLEAR_LEAD
    if lead > (_CLEAR_LEAD_SURE if sure > _SURE else _CLEAR_LEAD_BRIEF):
        return True
    if lead <= _CLEAR_LEAD_SAID or len(asking.index.analyses[heads[0]].name_terms) == 1:
        return False
    first, second = (confidence.covers_name(asking.index, asking.scores, place) for place in heads[:2])
    return first and not second


def reasons(index: Index, place: int, concepts: list[Concept]) -> tuple[Reason, ...]:
    """Why a tool matched: for each concept its best alternative, in the weightiest field that holds it."""
    where: dict[str, str] = {}
    for term, name in field_words(index.analyses[place]):
        where.setdefault(term, name)
    found: list[Reason] = []
    for concept in concepts:
        if concept.negated:
            continue
        best: tuple[float, Reason] | None = None
        for phrase, (kind, fit) in concept.alternatives.items():
            if all(term in where for term in phrase):
                worth = fit * strength(index.weights, kind) * index.weights.fields[where[phrase[0]]]
                if best is None or worth > best[0]:
                    best = (worth, Reason(concept.word, where[phrase[0]], kind))
        if best is not None:
            found.append(best[1])
    return tuple(found)


def _nearest(index: Index, asked: str) -> tuple[str, ...]:
    """Ids of the tools whose names are written most like the query."""
    names = {tool.id: text.fold(tool.name) for tool in index.tools}
    near = process.extract(
        text.fold(asked)[:80], names, scorer=OSA.normalized_similarity, score_cutoff=0.35, limit=policy.FOUND_TOOLS
    )
    return tuple(sorted((key for _, _, key in near), key=str))
