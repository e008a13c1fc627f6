"""Search by words and by pattern: totals first, the best places with what belongs to them, advice without any."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from slimguard.errors import QueryRejected
from slimguard.frame import read_call
from slimguard.policy import REGEX_SECONDS, SEARCH_TOKENS, SEARCH_WINDOW_CHARS
from slimguard.query import Query, print_query
from slimguard.readers.cursor import stale
from slimguard.readers.fitting import capped, fit, printable
from slimguard.readers.matching import Found, Pattern, bare, compiled, matches, terms_of
from slimguard.readers.model import Answer, Request
from slimguard.readers.places import kinds, places_of, without_repeats
from slimguard.readers.scanning import Scans, detached, scanned, texts_of
from slimguard.readers.select import read_select
from slimguard.readers.spelling import alike_words, longest_part
from slimguard.readers.written import Writer, columns_line, merged_excerpts

_PAIR = re.compile(r"([\w.-]+)\s*[:=]\s*([^\s:=].*)\Z")
"""`key=value` and `key: value`, as people write them of any format."""
_PATH = re.compile(r"(?:\$\.?|\.)?[A-Za-z_][\w-]*(?:\.[\w-]+|\[[^\]\s]*\])+\Z")
"""A path as people write it: `items[3].name`, `$.items[0]`."""
_MANY = 25
"""With more kinds of hits than this the search is too wide to be read: its first answer is shorter."""
_ADVISED = 4
"""Words that do not occur for which spellings are looked up."""
_KEY_SPACE = re.compile(r'":(?=\S)')


def read_words(request: Request) -> Answer:
    """All words near each other first, then any; with none, a count for each word and spellings that do occur."""
    phrase, terms = terms_of(request.query.text)
    if not phrase:
        raise QueryRejected("nothing to search for", next_call=read_call(request.source.ref, "outline"))
    variants = list(dict.fromkeys((phrase, phrase.replace('": ', '":'), _KEY_SPACE.sub('": ', phrase))))
    if len(terms) == 1:
        variants.append(terms[0])
    pair = _PAIR.match(phrase)
    if pair is not None:
        key, value = pair.groups()
        variants.extend((f'"{key}":{value}', f'"{key}":"{value}', f"{key}: {value}", f"{key}={value}"))
    scans = scanned(request, [*variants, *terms, *map(bare, terms)], terms)
    for variant in dict.fromkeys(variants):
        found = [scan.found(variant) for scan in scans.scans]
        if any(item.total for item in found):
            return _shown(request, found, "hit")
    if len(terms) > 1:
        found = [scan.near() for scan in scans.scans]
        if any(item.total for item in found):
            return _shown(request, found, "place", "with all words near each other")
    as_path = _read_as_path(request) if _PATH.match(request.query.text.strip()) else None
    return as_path or _some_words(request, terms, scans)


def _read_as_path(request: Request) -> Answer | None:
    """For words that occur nowhere and are a path in the result's JSON: what stands there."""
    query = Query("select", request.query.text.strip(), block=request.query.block)
    try:
        answer = read_select(replace(request, query=query))
    except QueryRejected:
        return None
    if answer.shown in ("nothing found", "0"):
        return None
    return replace(answer, notes=("no hits for these words; read as select:", *answer.notes), query=query)


def read_regex(request: Request) -> Answer:
    """Matches of a pattern, line anchors meaning lines; in JSON it runs on decoded strings."""
    found = _matched(request, compiled(request.query))
    if not any(item.total for item in found) and not request.query.text.isascii():
        for form in ("NFD", "NFC"):
            other = unicodedata.normalize(form, request.query.text)
            if other != request.query.text and not any(item.total for item in found):
                found = _matched(request, compiled(replace(request.query, text=other)))
    if not any(item.total for item in found):
        stopped = any(item.capped for item in found)
        notes = ("stopped early: not all of the text was searched",) if stopped else ()
        plain = re.sub(r"[\\^$.*+?{}\[\]|()]+", " ", request.query.text).strip()
        hint = f"next: {read_call(_refs(request), print_query(Query('words', plain)))}" if plain else ""
        return Answer("regex", "0 hits", hint, notes=notes)
    return _shown(request, found, "hit")


def _matched(request: Request, regex: Pattern) -> list[Found]:
    """The matches of a pattern in all texts, as far as its time goes."""
    size = sum(len(block.text or "") for source in request.sources for block in source.document.blocks)
    deadline = request.context.monotonic() + REGEX_SECONDS * max(1.0, size / SEARCH_WINDOW_CHARS)
    found: list[Found] = []
    for text in texts_of(request):
        item = matches(text, regex, request.context.monotonic, deadline)
        found.append(detached(item))
        if item.capped:
            break
    return found


def _shown(request: Request, found: Sequence[Found], unit: str, what: str = "") -> Answer:
    places, repeated = without_repeats([place for item in found for place in places_of(item)])
    first = kinds(places)
    first = merged_excerpts(first) if len(first) == len(places) else first
    units = [*first, *(other for place in first for other in place.alike)]
    total = sum(item.total for item in found) - repeated
    if request.position and request.position[0] >= len(units):
        raise stale("", "")
    fresh = not request.position
    wanted = SEARCH_TOKENS if len(first) <= _MANY else SEARCH_TOKENS * 3 // 5
    budget = capped(request.budget, wanted) if fresh else request.budget
    writer = Writer(len(first) if fresh else len(units), request.context.counter, len(request.sources) > 1)
    heading = columns_line(units[0]) if fresh and units else ""
    part = units[: len(first)] if fresh else units
    fitted = fit(part, budget, request.context.counter, request.position, render=writer.write)
    position = fitted.position or ((len(part),) if len(part) < len(units) else None)
    notes = [what] if what else []
    if any(item.capped for item in found):
        notes.append("stopped early: the pattern is slow on this text, the total is a lower bound")
    if repeated:
        notes.append(f"equal values in another block: {repeated} hits")
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


def _some_words(request: Request, terms: Sequence[str], scans: Scans) -> Answer:
    """No place has all words: how often each occurs, places of the rarest, and spellings near those that do not."""
    counts: dict[str, int] = {}
    for term in terms:
        for form in dict.fromkeys((term, bare(term))):
            counts[form] = sum(scan.count(form) for scan in scans.scans)
            if counts[form]:
                break
    present = sorted((term for term in counts if counts[term]), key=lambda term: counts[term])
    missing = [term for term in terms if not counts.get(term) and not counts.get(bare(term))]
    lines: list[str] = []
    if len(terms) > 1:
        shown = ", ".join(f"{term} {counts[term]}" for term in counts if counts[term] or term in missing)
        lines.append(f"counts: {shown}")
    advice, proposal = _advice(missing, scans)
    lines.extend(advice)
    if present:
        found = [scan.found(present[0]) for scan in scans.scans]
        answer = _shown(request, found, "hit", f"no place has all words; these are of {present[0]}")
        body = answer.body if request.position else printable("\n".join([*lines, answer.body]))
        return replace(answer, body=body)
    found = [scan.found(proposal) for scan in scans.scans] if proposal else []
    if any(item.total for item in found):
        answer = _shown(request, found, "hit", f"no hits for the words; these are of the near spelling {proposal}")
        query = Query("words", proposal, block=request.query.block)
        return replace(answer, body=printable("\n".join([*lines, answer.body])), query=query)
    following = print_query(Query("words", proposal, block=request.query.block)) if proposal else "outline"
    lines.append(f"next: {read_call(_refs(request), following)}")
    return Answer("search", "0 hits", printable("\n".join(lines)))


def _advice(missing: Sequence[str], scans: Scans) -> tuple[list[str], str]:
    """A line for each word that does not occur, and the spelling that is the best guess."""
    lines: list[str] = []
    proposal = ""
    words = scans.vocabulary() if missing else set[str]()
    for term in missing[:_ADVISED]:
        close = alike_words(bare(term), words)
        part = longest_part(term, scans.whole()) if not close else ("", 0)
        if close:
            proposal = proposal or close[0]
            lines.append(f"{term}: not found; near spellings that occur: {', '.join(close)}")
        elif part[1]:
            proposal = proposal or part[0]
            lines.append(f"{term}: not found; its part {part[0]} occurs {part[1]} times")
        else:
            lines.append(f"{term}: not found")
    return lines, proposal


def _refs(request: Request) -> str:
    return "+".join(source.ref for source in request.sources)
