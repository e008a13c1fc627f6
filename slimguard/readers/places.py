"""Hits as places to show: grouped by line, log entry or record, near-identical ones behind the first of their kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from slimguard.document import Path
from slimguard.readers.context import STAMP, Style, excerpt, line_span, style_of
from slimguard.readers.locating import Spot
from slimguard.readers.matching import Found
from slimguard.readers.records import record_path
from slimguard.readers.searched import Searched

Span = tuple[int, int]

PLACES_LOOKED_AT = 600
"""Places that are grouped by kind; further ones are counted."""
FEW = 5
"""So many places are all shown, however alike."""
FEW_RECORDS = 40
"""Records are things of their own: so many are shown one by one."""
LONG_LINE = 2_000
_VARIES = re.compile(r"[0-9a-f]{6,}|[A-Za-z]*\d[A-Za-z\d]*")
_SMALL_VALUE = 1_000


@dataclass(slots=True)
class Place:
    """One place to show: spans that belong together, and what it looks like apart from numbers.

    In JSON `spots` are the values with hits, all in the record at `record`.
    """

    text: Searched
    spans: list[Span] = field(repr=False)
    key: str
    spots: list[Spot] = field(default_factory=lambda: [])
    record: Path = ()
    alike: list[Place] = field(default_factory=lambda: [], repr=False)
    """Later places of the same kind, shown after all kinds."""


class Numbers:
    """Physical line numbers and byte offsets in a block's text by character offset; quick when offsets ascend."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line = (0, 1)
        self._byte = (0, 0)
        self.one_line = text.find("\n", 0, len(text) - 1) < 0

    def line(self, offset: int) -> int:
        """The 1-based line of the character at `offset`."""
        start, count = self._line if self._line[0] <= offset else (0, 1)
        count += self._text.count("\n", start, offset)
        self._line = (offset, count)
        return count

    def byte(self, offset: int) -> int:
        """The offset in UTF-8 of the character at `offset`."""
        if self._text.isascii():
            return offset
        start, count = self._byte if self._byte[0] <= offset else (0, 0)
        for position in range(start, offset, 1 << 22):
            count += len(self._text[position : min(offset, position + (1 << 22))].encode("utf-8", "surrogatepass"))
        self._byte = (offset, count)
        return count


def places_of(found: Found) -> list[Place]:
    """The places of one text's spans, in their order."""
    if found.text.places is not None:
        return _in_json(found)
    style = text_style(found.text)
    places: list[Place] = []
    end = -1
    for span in found.spans[: PLACES_LOOKED_AT * 4]:
        if places and places[-1].spans[-1][0] <= span[0] < end:
            places[-1].spans.append(span)
            continue
        if len(places) >= PLACES_LOOKED_AT:
            break
        key, end = _in_text(found.text, span, style)
        places.append(Place(found.text, [span], key))
    return places


def kinds(places: Sequence[Place]) -> list[Place]:
    """One place of each kind, the others under it as `alike`; few places stay as they are."""
    if len(places) <= FEW or (len(places) <= FEW_RECORDS and all(len(place.record) for place in places)):
        return list(places)
    first: dict[str, Place] = {}
    out: list[Place] = []
    for place in places:
        same = first.setdefault(place.key, place)
        if same is place:
            out.append(place)
        else:
            same.alike.append(place)
    return out


def text_style(text: Searched) -> Style | str:
    """How hits in this text are shown: `json`, `line` for one long line, else the style of the text."""
    if text.places is not None:
        return "json"
    plain = text.plain.text
    if len(plain) > LONG_LINE and plain.count("\n", 0, 50_000) * LONG_LINE < min(len(plain), 50_000):
        return "line"
    return style_of(plain, 0, len(plain))


def _in_text(text: Searched, span: Span, style: Style | str) -> tuple[str, int]:
    """What the place of a span looks like, and the offset up to which further spans belong to it."""
    plain = text.plain.text
    start, end = line_span(plain, span[0], 0, len(plain))
    if end - start > LONG_LINE:
        return _alike(plain[max(start, span[0] - 30) : min(end, span[1] + 30)]), span[1]
    if style != "log":
        return _alike(plain[start : min(end, start + 300)]), end
    entry = excerpt(plain, span, 0, len(plain), style="log", room=40_000)
    last = plain.rfind("\n", entry.start, entry.end) + 1 or entry.start
    if last > entry.start:
        return _alike(plain[last : min(entry.end, last + 200)]), entry.end
    stamp = STAMP.match(plain, start)
    return _alike(plain[stamp.end() if stamp else start : min(end, start + 300)]), entry.end


def _in_json(found: Found) -> list[Place]:
    text, places = found.text, list[Place]()
    plain = text.plain.text
    end = -1
    for span in found.spans[: PLACES_LOOKED_AT * 8]:
        spot = text.places.spot(text.origin(span[0])) if text.places is not None else None
        if spot is None:
            key, end = _in_text(text, span, "prose")
            places.append(Place(text, [span], key))
            continue
        record = record_path(spot)
        known = places[-1] if places else None
        if known and known.spots and known.record == record and (span[0] < end or len(record) < len(spot.path)):
            known.spans.append(span)
            if known.spots[-1] != spot:
                known.spots.append(spot)
        else:
            if len(places) >= PLACES_LOOKED_AT:
                break
            near = _alike(plain[max(0, span[0] - 30) : span[1] + 30])
            where = ".".join(step for step in spot.path if isinstance(step, str))
            places.append(Place(text, [span], f"{where} {near}", [spot], record))
        large = spot.end - spot.start > _SMALL_VALUE
        end = line_span(plain, span[0], 0, len(plain))[1] if large else text.arrived(spot.end)
        end = min(end, span[1] + _SMALL_VALUE)
    return places


def without_repeats(places: Sequence[Place]) -> tuple[list[Place], int]:
    """Without places that stand in another block of the same result too; also how many hits those had."""
    seen: dict[tuple[str, tuple[object, ...], str], int] = {}
    kept: list[Place] = []
    dropped = 0
    for place in places:
        if not place.spots:
            kept.append(place)
            continue
        spot = place.spots[0]
        raw = place.text.block.text or ""
        key = (place.text.source.ref, spot.path[-3:], raw[spot.start : min(spot.end, spot.start + 400)])
        if seen.setdefault(key, place.text.block.index) == place.text.block.index:
            kept.append(place)
        else:
            dropped += len(place.spans)
    return kept, dropped


def _alike(text: str) -> str:
    return _VARIES.sub("#", text.lower())
