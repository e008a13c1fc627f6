"""Values in a query that say something else than their words: file paths and sums to be worked out."""

from __future__ import annotations

import re

from slimguard.ranking import lexicon, text

_PATH = re.compile(r"""(?<![^\s'"`(=“「])(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.@-]+){2,}[/\\]?""")
"""Two folders or more, so that `and/or`, `owner/name` and dates with slashes stay words."""
_SUM = re.compile(r"\d\s*\)?\s*[*×÷^+]\s*\(?\s*\d")
"""An operator between numbers; `/` and `-` alone are dates, ranges and telephone numbers."""
_EXTENSION_CHARS = 5


def in_words(query: str) -> str:
    """`query` with its paths as `file` and their format, and with `calculate` after an arithmetic expression."""
    words = _without_paths(query)
    return f"{words} calculate" if _SUM.search(words) else words


def _without_paths(query: str) -> str:
    """`query` with `file` and the format in place of each path to a file, and its last name in place of a folder's.

    A format that the query names besides is not said twice.
    """
    if "/" not in query and "\\" not in query:
        return query
    said = frozenset(text.stem(word) for word in text.split_words(_PATH.sub(" ", query)))
    return _PATH.sub(lambda found: f" {_instead(found.group(), said)} ", query)


def _instead(path: str, said: frozenset[str]) -> str:
    last = re.split(r"[/\\]", path.rstrip("./\\"))[-1]
    stem, dot, extension = last.rpartition(".")
    if not (dot and stem and extension.isalnum() and len(extension) <= _EXTENSION_CHARS):
        return last
    own = text.stem(text.fold(extension))
    names = {own, *(phrase[0] for phrase in lexicon.english().get((own,), ()))}
    return "file" if names & said else f"file {extension}"
