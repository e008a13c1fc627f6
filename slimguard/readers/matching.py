"""What a search finds: spans of words and patterns, ranked; never how they are shown."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import re2  # pyright: ignore[reportMissingTypeStubs]

from slimguard.errors import QueryRejected
from slimguard.policy import REGEX_CHARS, REGEX_PROGRAM, SEARCH_SPANS
from slimguard.query import Query
from slimguard.readers.folding import fold
from slimguard.readers.searched import Searched, merged, spans_of

Span = tuple[int, int]

_engine: Any = re2
"""The engine has no type stubs; `Pattern` is what is used of it."""

NEAR_CHARS = 300
"""Words within this many characters are near each other."""
_REGEX_WINDOW = 1 << 20
_OVERLAP = 2_000
_WORD = re.compile(r'"([^"]+)"|(\S+)')
_EDGE = "\"'`.,;:!?()[]{}<>"


class Match(Protocol):
    """One match of a pattern."""

    def span(self) -> Span:
        """Its start and end."""
        ...


class Pattern(Protocol):
    """A compiled pattern of the linear-time engine."""

    @property
    def programsize(self) -> int:
        """Instructions of the compiled pattern."""
        ...

    def finditer(self, text: str) -> Iterator[Match]:
        """Matches that do not overlap, in order."""
        ...


@dataclass(slots=True)
class Found:
    """Hits in one text. `total` counts all, `spans` are those that can be shown, best first within equal rank."""

    text: Searched
    spans: list[Span] = field(repr=False)
    total: int
    capped: bool = False


def terms_of(words: str) -> tuple[str, list[str]]:
    """The folded phrase, and the folded words in it; quoted parts are one word, `AND` and `OR` none."""
    phrase = fold(words.strip())
    found = [match.group(1) or match.group(2) for match in _WORD.finditer(words)]
    terms: list[str] = []
    for word in found:
        term = fold(word.strip())
        if word in ("AND", "OR") or not term or term in terms:
            continue
        terms.append(term)
    return phrase, terms or [phrase]


def bare(term: str) -> str:
    """`term` without punctuation around it, or itself when nothing else is left."""
    return term.strip(_EDGE) or term


def near(text: Searched, terms: Sequence[str], bucket: Callable[[int], int] | None) -> list[Span]:
    """Spans where all `terms` are near each other: within `NEAR_CHARS`, or in one bucket (a record)."""
    lists = [spans_of(text, term, SEARCH_SPANS)[1] for term in terms]
    if not all(lists):
        return []
    rarest = min(range(len(lists)), key=lambda place: len(lists[place]))
    starts = [[span[0] for span in spans] for spans in lists]
    close: list[Span] = []
    for span in lists[rarest]:
        reach = [span]
        for place, spans in enumerate(lists):
            if place == rarest:
                continue
            other = _closest(spans, starts[place], span)
            if other is None:
                break
            reach.append(other)
        else:
            close.append((min(item[0] for item in reach), max(item[1] for item in reach)))
    if bucket is None:
        return merged(close)
    shared = {bucket(start) for start in starts[0]} - {-1}
    for column in starts[1:]:
        shared &= {bucket(start) for start in column}
    apart = [span for span in lists[rarest] if bucket(span[0]) in shared]
    seen = {bucket(span[0]) for span in close}
    return merged([*close, *(span for span in apart if bucket(span[0]) not in seen)])


def _closest(spans: Sequence[Span], starts: Sequence[int], span: Span) -> Span | None:
    place = bisect_left(starts, span[0])
    best: Span | None = None
    for candidate in spans[max(0, place - 1) : place + 1]:
        distance = max(candidate[0] - span[1], span[0] - candidate[1])
        if distance <= NEAR_CHARS and (best is None or distance < max(best[0] - span[1], span[0] - best[1])):
            best = candidate
    return best


def compiled(query: Query) -> Pattern:
    """The pattern on a linear-time engine; raises `QueryRejected` that says what is not understood."""
    pattern = query.text
    if len(pattern) > REGEX_CHARS:
        raise QueryRejected(f"the pattern is longer than {REGEX_CHARS} characters", next_call="search for words in it")
    if "x" in query.flags:
        pattern = _verbose(pattern)
    options = _engine.Options()
    options.log_errors = False
    flags = "".join(flag for flag in "ims" if flag in query.flags or flag == "m")
    try:
        regex: Pattern = _engine.compile(f"(?{flags}){pattern}", options)
    except _engine.error as error:
        raise _unsupported(query.text, error) from error
    except UnicodeEncodeError as error:
        raise QueryRejected("the pattern has a lone surrogate", next_call="search for words") from error
    if regex.programsize > REGEX_PROGRAM:
        raise QueryRejected(
            "the pattern is too large once its repetitions are written out", next_call="use smaller {n,m} bounds"
        )
    return regex


def _unsupported(pattern: str, error: Exception) -> QueryRejected:
    reason = error.args[0] if error.args else "not understood"
    reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    hint = ""
    if re.search(r"\(\?<?[=!]", pattern):
        hint = "look-around is not supported by the linear-time engine; match more and read the context"
    elif re.search(r"\\[1-9]", pattern):
        hint = "back-references are not supported by the linear-time engine"
    return QueryRejected(
        f"the regex is not understood: {reason}",
        next_call=hint or f"escape it, or search for the words: find:{pattern[:80]}",
        code="regex",
    )


def _verbose(pattern: str) -> str:
    """The pattern without white space and comments outside classes, as the flag `x` has it."""
    out: list[str] = []
    in_class = False
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if char == "\\":
            out.append(pattern[position : position + 2])
            position += 2
            continue
        in_class = (in_class or char == "[") and char != "]"
        if char == "#" and not in_class:
            position = (pattern.find("\n", position) + 1) or len(pattern)
            continue
        if in_class or not char.isspace():
            out.append(char)
        position += 1
    return "".join(out)


def matches(text: Searched, regex: Pattern, monotonic: Callable[[], float], deadline: float) -> Found:
    """Spans of `regex` in `text`, window by window until `deadline`; `capped` when it stopped early."""
    plain = text.plain.text
    window = max(1 << 16, min(_REGEX_WINDOW, (1 << 28) // max(1, regex.programsize)))
    spans: list[Span] = []
    total = start = 0
    seen = -1
    while start < len(plain):
        end = min(len(plain), start + window)
        if end < len(plain):
            newline = plain.rfind("\n", start + window // 2, end)
            end = newline + 1 if newline >= 0 else end
        overlap = 0 if end == len(plain) or plain[end - 1] == "\n" else _OVERLAP
        piece = _sendable(plain[start:end])
        for count, match in enumerate(regex.finditer(piece)):
            first, last = match.span()
            if start + first <= seen or (first == last and not piece):
                continue
            total += 1
            seen = start + first
            if len(spans) < SEARCH_SPANS:
                spans.append((start + first, start + last))
            if count % 256 == 255 and monotonic() > deadline:
                return Found(text, spans, total, capped=True)
        if end < len(plain) and monotonic() > deadline:
            return Found(text, spans, total, capped=True)
        start = end - overlap if end < len(plain) else end
    return Found(text, spans, total)


def _sendable(text: str) -> str:
    """The engine takes UTF-8: lone surrogates become another character of the same length."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text
