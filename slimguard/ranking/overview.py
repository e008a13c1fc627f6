"""The map of a catalog: its servers, how many tools each has, and what they are about; never a tool's text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from slimguard.model import Tool
from slimguard.ranking import lexicon, text, verbs


@dataclass(frozen=True, slots=True)
class Area:
    """One line of the map: a server, its number of tools, and the words that most of its tools' names share.

    `servers` is above one for the last line when it stands for servers that had no line of their own.
    """

    server: str
    tools: int
    nouns: tuple[str, ...]
    servers: int = 1


_NOUNS = 6


def map_of(tools: Sequence[Tool], lines: int = 40) -> list[Area]:
    """At most `lines` areas, the largest servers first; the last one sums up the servers that do not fit."""
    by_server: dict[str, list[Tool]] = {}
    for tool in tools:
        by_server.setdefault(tool.server, []).append(tool)
    areas = sorted(
        (Area(server, len(group), _nouns(server, group)) for server, group in by_server.items()),
        key=lambda area: (-area.tools, area.server),
    )
    if len(areas) <= lines or lines < 1:
        return areas[: max(0, lines)]
    rest = areas[lines - 1 :]
    names = tuple(area.server for area in rest[:12])
    return [*areas[: lines - 1], Area("", sum(area.tools for area in rest), names, len(rest))]


def _nouns(server: str, group: list[Tool]) -> tuple[str, ...]:
    """The words that the names of most tools share, without actions and the server's own name."""
    own = set(text.split_words(text.clean(server), identifiers=True))
    stop = lexicon.lists("lexicon_stopwords.tsv")
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    for tool in group:
        for word in dict.fromkeys(text.split_words(text.clean(tool.name[:160]))):
            if len(word) < 3 or word in own or word in stop["en"] or word in stop["soft"] or verbs.is_action(word):
                continue
            counts[word] += 1
            first.setdefault(word, len(first))
    return tuple(sorted(counts, key=lambda word: (-counts[word], first[word]))[:_NOUNS])
