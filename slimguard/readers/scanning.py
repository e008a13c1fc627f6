"""Where the words of a search occur in each text of a result; a huge text is gone through once, window by window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from slimguard.document.tables import main_array
from slimguard.document.united import united_values
from slimguard.policy import SEARCH_SPANS
from slimguard.readers.folding import Mapped
from slimguard.readers.matching import Found, near
from slimguard.readers.model import Request
from slimguard.readers.searched import Searched, searched, spans_of
from slimguard.readers.spelling import vocabulary

_WINDOW_PLACES = 200
_SLICE = 4_000


@dataclass(slots=True)
class Scan:
    """The occurrences in one text. For a window all that was wanted is found at once, and the window let go."""

    text: Searched
    terms: tuple[str, ...]
    _spans: dict[str, Found] = field(default_factory=lambda: {})
    _near: Found | None = None

    def found(self, term: str) -> Found:
        """The hits of a folded term."""
        kept = self._spans.get(term)
        if kept is None:
            if self.text.windowed:
                return Found(self.text, [], 0)
            total, spans = spans_of(self.text, term, SEARCH_SPANS)
            kept = self._spans[term] = Found(self.text, spans, total)
        return kept

    def count(self, term: str) -> int:
        """How often a folded term occurs."""
        kept = self._spans.get(term)
        if kept is not None or self.text.windowed:
            return kept.total if kept is not None else 0
        return self.text.fold.text.count(term)

    def near(self) -> Found:
        """The places with all terms near each other."""
        if self._near is None:
            spans = near(self.text, self.terms, _bucket(self.text)) if not self.text.windowed else []
            self._near = Found(self.text, spans, len(spans))
        return self._near


@dataclass(frozen=True, slots=True)
class Scans:
    """The scans of all texts of a request, the main block's first; `words` are those of windows that were let go."""

    scans: tuple[Scan, ...]
    words: frozenset[str] = frozenset()

    def vocabulary(self) -> set[str]:
        """The folded words that occur, of the beginnings of the texts."""
        return vocabulary(self.whole()) | self.words

    def whole(self) -> list[Searched]:
        """The texts that are still there."""
        return [scan.text for scan in self.scans if not scan.text.windowed]


def scanned(request: Request, wanted: Sequence[str], terms: Sequence[str]) -> Scans:
    """Scans for the terms in `wanted` and for places with all of `terms`."""
    scans: list[Scan] = []
    words: set[str] = set()
    for text in texts_of(request):
        if not text.windowed:
            scans.append(Scan(text, tuple(terms)))
            continue
        if not words:
            words = vocabulary([text])
        scans.append(_window(text, wanted, terms))
    return Scans(tuple(scans), frozenset(words))


def texts_of(request: Request) -> Iterator[Searched]:
    """The texts that a request searches."""
    for source in request.sources:
        yield from searched(source, request.query.block, request.context)


def _window(text: Searched, wanted: Sequence[str], terms: Sequence[str]) -> Scan:
    known: dict[str, Found] = {}
    for term in dict.fromkeys([*wanted, *terms]):
        total, spans = spans_of(text, term, _WINDOW_PLACES)
        known[term] = detached(Found(text, spans, total))
    together = near(text, terms, None) if len(terms) > 1 and all(known[term].total for term in terms) else []
    beside = detached(Found(text, together, len(together)))
    return Scan(_slice(text, 0, 0), tuple(terms), known, beside)


def detached(found: Found) -> Found:
    """For a window of a huge text: only what is around the hits is kept, so that the window can go."""
    if not found.text.windowed:
        return found
    if not found.spans:
        return Found(_slice(found.text, 0, 0), [], found.total, found.capped)
    first, last = found.spans[0][0], found.spans[:_WINDOW_PLACES][-1][1]
    low, high = max(0, first - _SLICE), min(len(found.text.plain.text), last + _SLICE)
    high = min(high, low + _SLICE * 64)
    spans = [(start - low, end - low) for start, end in found.spans[:_WINDOW_PLACES] if end <= high]
    return Found(_slice(found.text, low, high), spans, found.total, found.capped)


def _slice(text: Searched, low: int, high: int) -> Searched:
    return replace(text, base=text.origin(low), plain=Mapped(text.plain.text[low:high]))


def _bucket(text: Searched) -> Callable[[int], int] | None:
    """The record of the main array that an offset lies in, -1 for none."""
    if text.places is None:
        return None
    places, main = text.places, main_array(text.source.document)
    if main is None or len(main[1]) < 2 or places.span(main[0]) is None or united_values(text.source.document):
        return None
    return lambda offset: places.place(main[0], text.origin(offset))
