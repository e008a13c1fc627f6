"""The ranking by words and the nearness in meaning as one order; pure, and never more than a gain on the words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace

from slimguard import policy, ranking
from slimguard.model import Tool
from slimguard.ranking import Confidence, Found, Index, Match, Reason, several
from slimguard.ranking.intent import read
from slimguard.ranking.languages import language_of
from slimguard.ranking.text import clean, join_key, split_words

Nearest = Callable[[str], Sequence[int] | None]
"""From a query to places in `index.tools`, nearest in meaning first; None while nothing is learned."""


def search(index: Index, query: str, nearest: Nearest, *, limit: int = policy.FOUND_TOOLS) -> Found:
    """At most `limit` tools for `query`, as `ranking.search`, with a gain for those that are near in meaning.

    Where words settle it (one clear tool, an exact name, a server that is asked for, something ruled out), where they
    are strong (`_weak`) or nothing is learned yet, the answer is theirs. How sure it is stays what the words say.
    """
    by_words = ranking.search(index, query, limit=max(limit, policy.FUSED_TOOLS))
    settled = replace(by_words, matches=by_words.matches[:limit])
    if by_words.confidence == "clear" or limit < 1 or _binding(index, query):
        return settled
    if not _weak(index, query, by_words.confidence):
        return settled
    near = nearest(clean(query[: policy.FIND_QUERY_CHARS]).strip())
    if not near:
        return settled
    matches = _gained(index, by_words.matches, near)[:limit]
    confidence: Confidence = "low" if by_words.confidence == "none" else by_words.confidence
    return Found(matches, confidence, by_words.nearest)


def _binding(index: Index, query: str) -> bool:
    """Whether the query says nothing, names a server before a colon, or rules something out: a model overhears both."""
    head, colon, _ = clean(query[: policy.FIND_QUERY_CHARS]).replace("：", ":").partition(":")
    if colon and any(join_key(head) == one.server_key for one in index.analyses):
        return True
    concepts = read(query, index.postings.__contains__, lambda _word, _before, _after: {})
    return not concepts or any(concept.negated for concept in concepts)


def _weak(index: Index, query: str, sure: Confidence) -> bool:
    """Whether words may miss what is meant: the query is not in English, or too little of its one sentence matched.

    Several sentences have several meanings, and the model knows only their mean: it is asked when no word matched.
    """
    asked = clean(query[: policy.FIND_QUERY_CHARS])
    if sure == "none" or any(char.isalpha() and not char.isascii() for char in asked):
        return True
    if language_of(split_words(asked)[: policy.QUERY_WORDS], index.postings.__contains__) != "en":
        return True
    return sure == "low" and not several.asks(asked)


def _gained(index: Index, by_words: Sequence[Match], near: Sequence[int]) -> tuple[Match, ...]:
    """All matches of both orders, best first; of the same tool on several servers only the first."""
    top = by_words[0].score if by_words else 1.0
    kept = {_kind(index, _place(index, match.tool)): match for match in by_words}
    share = {kind: match.score / top for kind, match in kept.items()}
    seen: set[tuple[str, str]] = set()
    for rank, place in enumerate(near[: policy.MEANING_NEAREST]):
        kind = _kind(index, place)
        if kind in seen:
            continue
        seen.add(kind)
        gain = policy.MEANING_WEIGHT * policy.MEANING_RANKS / (policy.MEANING_RANKS + rank)
        share[kind] = share.get(kind, 0.0) + gain
        match = kept.get(kind) or Match(index.tools[place], 0.0)
        kept[kind] = replace(match, why=(*match.why, Reason("meaning", "description", "near")))
    order = sorted(kept, key=lambda kind: (-round(share[kind], 6), kept[kind].tool.id))
    return tuple(replace(kept[kind], score=round(share[kind] * top, 4)) for kind in order)


def _kind(index: Index, place: int) -> tuple[str, str]:
    """What the same tool on several servers has in common."""
    one = index.analyses[place]
    return one.name_key, one.parameter_key


def _place(index: Index, tool: Tool) -> int:
    return bisect_left(index.tools, (tool.id, tool.digest), key=lambda one: (one.id, one.digest))
