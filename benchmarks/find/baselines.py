"""Simple rankers to compare with: plain and stemmed BM25 over name, description and parameters as one text."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import snowballstemmer

from slimguard.model import Tool

_WORD = re.compile(r"\w+")
_stemmer = snowballstemmer.stemmer("english")


def plain(text: str) -> list[str]:
    """Lower-case words, identifiers split at underscores."""
    return _WORD.findall(text.lower().replace("_", " "))


def stemmed(text: str) -> list[str]:
    """As `plain`, stemmed as English."""
    return [_stemmer.stemWord(word) for word in plain(text)]


class Bm25:
    """Okapi BM25 (k1 1.5, b 0.75) over one text a tool."""

    def __init__(self, tools: Sequence[Tool], words: Callable[[str], list[str]]) -> None:
        self.words = words
        documents = [words(self._text(tool)) for tool in tools]
        self.average = max(1e-9, sum(map(len, documents)) / max(1, len(documents)))
        self.lengths = [len(document) for document in documents]
        self.postings: dict[str, dict[int, int]] = defaultdict(dict)
        for place, document in enumerate(documents):
            for word, count in Counter(document).items():
                self.postings[word][place] = count

    @staticmethod
    def _text(tool: Tool) -> str:
        schema = tool.input_schema if isinstance(tool.input_schema, dict) else {}
        properties = schema.get("properties") or {}
        return " ".join((tool.server, tool.name, tool.description, *properties))

    def rank(self, query: str, count: int = 10) -> list[int]:
        """Places of the best tools."""
        scores: dict[int, float] = defaultdict(float)
        size = len(self.lengths)
        for word in self.words(query):
            found = self.postings.get(word, {})
            rarity = math.log(1 + (size - len(found) + 0.5) / (len(found) + 0.5))
            for place, times in found.items():
                norm = 1.5 * (0.25 + 0.75 * self.lengths[place] / self.average)
                scores[place] += rarity * times * 2.5 / (times + norm)
        return sorted(scores, key=lambda place: (-round(scores[place], 9), place))[:count]
