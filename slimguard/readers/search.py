"""Search by words and by pattern: totals first, the best places with what belongs to them, advice without any."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from slimguard.document.tables import main_array
from slimguard.errors import QueryRejected
from slimguard.frame import read_call
from slimguard.policy import REGEX_SECONDS, SEARCH_SPANS, SEARCH_TOKENS
from slimguard.query import Query, print_query
from slimguard.readers.cursor import stale
from slimguard.readers.fitting import capped, fit, printable
from slimguard.readers.folding import Mapped, fold
from slimguard.readers.matching import Found, bare, compiled, matches, near, terms_of
from slimguard.readers.model import Answer, Request
from slimguard.readers.places import kinds, places_of, without_repeats
from slimguard.readers.searched import Searched, searched, spans_of
from slimguard.readers.spelling import alike_words, longest_part, vocabulary
from slimguard.readers.written import Writer, columns_line, merged_excerpts

_WINDOW_PLACES = 200
_SLICE = 4_000
_KEY_SPACE = re.compile(r'":(?=\S)')


def read_words(request: Request) -> Answer:
    """All words near each other first, then any; with none, a count for each word and spellings that do occur."""
    phrase, terms = terms_of(request.query.text)
    if not phrase:
        raise QueryRejected("nothing to search for", next_call=read_call(request.source.ref, "outline"))
    for variant in dict.fromkeys((phrase, phrase.replace('": ', '":'), _KEY_SPACE.sub('": ', phrase))):
        found = [_spans(text, variant) for text in _texts(request)]
        if any(item.total for item in found):
            return _shown(request, found, "hit")
    if len(terms) == 1 and terms[0] != phrase:
        found = [_spans(text, terms[0]) for text in _texts(request)]
        if any(item.total for item in found):
            return _shown(request, found, "hit")
    if len(terms) > 1:
        found = [_near(text, terms) for text in _texts(request)]
        if any(item.total for item in found):
            return _shown(request, found, "place", "with all words near each other")
    return _some_words(request, terms)


def read_regex(request: Request) -> Answer:
    """Matches of a pattern, line anchors meaning lines; in JSON it runs on decoded strings."""
    regex = compiled(request.query)
    deadline = request.context.monotonic() + REGEX_SECONDS
    found: list[Found] = []
    for text in _texts(request):
        item = matches(text, regex, request.context.monotonic, deadline)
        found.append(_detached(item))
        if item.capped:
            break
    if not any(item.total for item in found):
        stopped = any(item.capped for item in found)
        notes = ("stopped early: the pattern is too slow on this text",) if stopped else ()
        plain = re.sub(r"[\\^$.*+?{}\[\]|()]+", " ", request.query.text).strip()
        hint = f"next: {read_call(_refs(request), print_query(Query('words', plain)))}" if plain else ""
        return Answer("regex", "0 hits", hint, notes=notes)
    return _shown(request, found, "hit")


def _texts(request: Request) -> Iterator[Searched]:
    for source in request.sources:
        yield from searched(source, request.query.block, request.context)


def _spans(text: Searched, term: str) -> Found:
    total, spans = spans_of(text, term, SEARCH_SPANS)
    return _detached(Found(text, spans, total))


def _near(text: Searched, terms: Sequence[str]) -> Found:
    spans = near(text, terms, _bucket(text))
    return _detached(Found(text, spans, len(spans)))


def _bucket(text: Searched) -> Callable[[int], int] | None:
    """The record of the main array that an offset lies in, -1 for none."""
    if text.places is None:
        return None
    main = main_array(text.source.document)
    children = text.places.children(main[0]) if main else []
    if len(children) < 2:
        return None
    starts = [child.start for child in children]

    def record(offset: int) -> int:
        origin = text.origin(offset)
        place = bisect_right(starts, origin) - 1
        return place if place >= 0 and origin < children[place].end else -1

    return record


def _detached(found: Found) -> Found:
    """For a window of a huge text: only what is around the hits is kept, so that the window can go."""
    if not found.text.windowed or not found.spans:
        return found if not found.text.windowed else Found(_slice(found.text, 0, 0), [], found.total, found.capped)
    first, last = found.spans[0][0], found.spans[:_WINDOW_PLACES][-1][1]
    low, high = max(0, first - _SLICE), min(len(found.text.plain.text), last + _SLICE)
    if high - low > _SLICE * 64:
        high = low + _SLICE * 64
    spans = [(start - low, end - low) for start, end in found.spans[:_WINDOW_PLACES] if end <= high]
    return Found(_slice(found.text, low, high), spans, found.total, found.capped)


def _slice(text: Searched, low: int, high: int) -> Searched:
    return replace(text, base=text.origin(low), plain=Mapped(text.plain.text[low:high]))


def _shown(request: Request, found: Sequence[Found], unit: str, what: str = "") -> Answer:
    places, repeated = without_repeats([place for item in found for place in places_of(item)])
    first = kinds(places)
    first = merged_excerpts(first) if len(first) == len(places) else first
    units = [*first, *(other for place in first for other in place.alike)]
    total = sum(item.total for item in found) - repeated
    if request.position and request.position[0] >= len(units):
        raise stale("", "")
    fresh = not request.position
    budget = capped(request.budget, SEARCH_TOKENS) if fresh else request.budget
    writer = Writer(len(first) if fresh else len(units), request.context.counter, len(request.sources) > 1)
    heading = columns_line(units[0]) if fresh and units else ""
    part = units[: len(first)] if fresh else units
    fitted = fit(part, budget, request.context.counter, request.position, render=writer.write)
    position = fitted.position or ((len(part),) if len(part) < len(units) else None)
    notes = [what] if what else []
    if any(item.capped for item in found):
        notes.append("stopped early: the pattern is slow on this text, the total is a lower bound")
    if repeated:
        notes.append(f"{repeated} more are the same values in another block")
    looked = sum(len(place.spans) for place in places)
    if position is None and looked < total:
        notes.append(f"{total - looked} further ones are not listed: narrow the search")
    start = request.position[0] if request.position else 0
    end = max(fitted.end, start + 1)
    shown = _count_text((start, end), len(first), len(units), f"{total} {unit}{'' if total == 1 else 's'}")
    body = f"{heading}\n{fitted.body}" if heading else fitted.body
    return Answer("search", shown, body, position, tuple(notes))


def _count_text(part: tuple[int, int], first: int, units: int, total: str) -> str:
    start, end = part
    if start == 0 and end >= units:
        return f"all of {total}"
    if first == units:
        return f"{start + 1}-{end} of {units} places with {total}"
    if start < first:
        kind = f"{total} of {first} kind{'' if first == 1 else 's'}"
        return kind if start == 0 and end >= first else f"{kind}, kinds {start + 1}-{min(end, first)}"
    return f"{total}, {start - first + 1}-{end - first} of the {units - first} like those above"


def _some_words(request: Request, terms: Sequence[str]) -> Answer:
    """No place has all words: how often each occurs, places of the rarest, and spellings near those that do not."""
    counts: dict[str, int] = {}
    for term in terms:
        for form in dict.fromkeys((term, bare(term))):
            counts[form] = sum(spans_of(text, form, 0)[0] for text in _texts(request))
            if counts[form]:
                break
    present = sorted((term for term in counts if counts[term]), key=lambda term: counts[term])
    missing = [term for term in terms if not counts.get(term) and not counts.get(bare(term))]
    lines: list[str] = []
    if len(terms) > 1:
        lines.append(
            "counts: " + ", ".join(f"{term} {counts[term]}" for term in counts if counts[term] or term in missing)
        )
    proposal = ""
    words = vocabulary(_texts(request)) if missing else set[str]()
    for term in missing[:4]:
        close = alike_words(bare(term), words)
        part = longest_part(term, _texts(request)) if not close else ("", 0)
        if close:
            proposal = proposal or close[0]
            lines.append(f"{term}: not found; near spellings that occur: {', '.join(close)}")
        elif part[1]:
            proposal = proposal or part[0]
            lines.append(f"{term}: not found; its part {part[0]} occurs {part[1]} times")
        else:
            lines.append(f"{term}: not found")
    if not present:
        if proposal and (found := [_spans(text, proposal) for text in _texts(request)]):
            answer = _shown(request, found, "hit", f"no hits for the words; these are of the near spelling {proposal}")
            return replace(answer, body="\n".join([*lines, answer.body]), query=Query("words", proposal,
                           block=request.query.block))  # fmt: skip
        lines.append(f"next: {read_call(_refs(request), 'outline')}")
        return Answer("search", "0 hits", printable("\n".join(lines)))
    found = [_spans(text, present[0]) for text in _texts(request)]
    answer = _shown(request, found, "hit", f"no place has all words; these are of {present[0]}")
    body = answer.body if request.position else printable("\n".join([*lines, answer.body]))
    return replace(answer, body=body)


def _refs(request: Request) -> str:
    return "+".join(source.ref for source in request.sources)


__all__ = ["fold", "read_regex", "read_words"]
