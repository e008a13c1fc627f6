"""How places are written in turn: room by how many there are, no line twice, offsets for long lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from slimguard.document.tables import tables_of
from slimguard.ports import TokenCounter
from slimguard.readers.context import Style, excerpt, line_span
from slimguard.readers.fitting import printable
from slimguard.readers.places import LONG_LINE, Numbers, Place, text_style
from slimguard.readers.records import shown_record
from slimguard.readers.searched import Searched
from slimguard.readers.showing import written

_ROOMS: dict[str, tuple[int, int, int, int]] = {
    "log": (2_400, 1_200, 300, 200),
    "tree": (650, 420, 160, 0),
    "diff": (500, 300, 120, 0),
    "rows": (400, 200, 80, 0),
    "prose": (400, 200, 80, 0),
    "json": (420, 360, 260, 160),
    "line": (400, 240, 120, 90),
}
"""Characters of context by kind of text, when there is one place to show, up to three, up to eight, more."""
_TOKENS = {"tree": 120, "diff": 110, "prose": 82, "json": 80, "line": 150}
"""Tokens that the only place may cost, so that one hit costs 200 with its request; a stack trace costs what it does."""
_WIDE = 600
_FEW_HINTS = 3
"""So many hits in one-line JSON carry a range of bytes even when they are shown whole."""


@dataclass(slots=True)
class Writer:
    """Writes the places of one answer; `count` is how many there are to show."""

    count: int
    counter: TokenCounter
    several: bool
    """Whether hits come from several results, so that each says which."""
    _numbers: dict[int, Numbers] = field(default_factory=lambda: {})
    _styles: dict[int, str] = field(default_factory=lambda: {})
    _said: set[str] = field(default_factory=set[str])
    _seen: set[int] = field(default_factory=set[int])

    def write(self, place: Place) -> str:
        """The text of one place."""
        text = place.text
        numbers = self._numbers.setdefault(id(text.block), Numbers(text.block.text or ""))
        body = self._in_json(place, numbers) if place.spots else self._in_text(place, numbers)
        prefix = f"{text.source.ref} " if self.several else ""
        main = text.source.document.main
        if main is not None and text.block.index != main.index:
            prefix += f"block:{text.block.index} "
        return printable(f"{prefix}{body}{self._alike(place, numbers)}")

    def style(self, text: Searched) -> str:
        """The style of a text, looked at once."""
        known = self._styles.get(id(text))
        if known is None:
            known = self._styles[id(text)] = text_style(text)
        return known

    def _in_json(self, place: Place, numbers: Numbers) -> str:
        room = self._room(place.text, "json")
        rooms = (room, room * 2 // 3, room // 2, room // 3, 60) if self.count == 1 else (min(room, 260),)
        if self.count == 1:
            self._said.clear()
        body = shown_record(place.text, place.spots, place.spans, rooms=rooms, fits=self._fits("json"), said=self._said)
        if "…" not in body and not (numbers.one_line and self.count <= _FEW_HINTS):
            return body
        return f"{body} {_bytes_hint(numbers, place)}"

    def _in_text(self, place: Place, numbers: Numbers) -> str:
        style = self.style(place.text)
        room = self._room(place.text, style)
        rooms = (room, room * 2 // 3, room // 2, room // 4, 0) if self.count == 1 and style != "log" else (room,)
        body = ""
        for smaller in rooms:
            body = self._lines(place, style, smaller, numbers)
            if self._fits(style)(body):
                break
        return body

    def _lines(self, place: Place, style: str, room: int, numbers: Numbers) -> str:
        text, plain = place.text, place.text.plain.text
        number: Callable[[int], int] | None = None
        if not text.windowed and not numbers.one_line:
            number = lambda offset: numbers.line(text.origin(offset))  # noqa: E731
        if style == "line":
            low, high = line_span(plain, place.spans[0][0], 0, len(plain))
            shown = excerpt(plain, place.spans[0], low, high, style="prose", room=0)
            body = written(plain, shown, place.spans[:1], number, before=min(60, 20 + room // 6), after=max(60, room))
            return f"{body} {_bytes_hint(numbers, place)}" if high - low > _WIDE else body
        known: Style = "prose"
        if style in ("log", "rows") or (room and style in ("tree", "diff")):
            known = style  # pyright: ignore[reportAssignmentType]
        room = 0 if _is_table_row(place) else room
        span = place.spans[0] if known == "log" else (place.spans[0][0], place.spans[-1][1])
        shown = excerpt(plain, span, 0, len(plain), style=known, room=room)
        seen = self._seen if self.count > 1 else None
        body = written(plain, shown, place.spans, number, after=max(240, min(room, LONG_LINE)), seen=seen)
        nowhere = number is None and len(plain) > LONG_LINE
        return f"{body} {_bytes_hint(numbers, place)}" if nowhere else body

    def _fits(self, style: str) -> Callable[[str], bool]:
        limit = _TOKENS.get(style)
        if self.count != 1 or limit is None:
            return lambda _: True
        return lambda body: self.counter.within(body, limit)

    def _room(self, text: Searched, style: str) -> int:
        rooms = _ROOMS[style]
        count = self.count
        room = rooms[0] if count == 1 else rooms[1] if count <= 3 else rooms[2] if count <= 8 else rooms[3]
        sample = text.plain.text[:2_000]
        foreign = sum(1 for char in sample if char > "\u024f")
        return room // 2 if foreign * 3 > len(sample) else room

    def _alike(self, place: Place, numbers: Numbers) -> str:
        if not place.alike:
            return ""
        count = len(place.alike)
        if place.spots or place.text.windowed or numbers.one_line:
            return f"  (+{count} like it)"
        lines = [numbers.line(item.text.origin(item.spans[0][0])) for item in place.alike[:3]]
        return f"  (+{count} like it: {', '.join(map(str, lines))}{', …' if count > 3 else ''})"


def merged_excerpts(places: Sequence[Place]) -> list[Place]:
    """Places whose context would overlap as one, so that no line is shown twice."""
    out: list[Place] = []
    reach = 1 if len(places) > 8 else 8
    for place in places:
        last = out[-1] if out else None
        if last is None or last.text is not place.text or place.spots or last.spots:
            out.append(place)
            continue
        between = place.text.plain.text[last.spans[-1][1] : place.spans[0][0]]
        if len(between) <= _WIDE and between.count("\n") <= reach and len(last.spans) < 12:
            last.spans.extend(place.spans)
        else:
            out.append(place)
    return out


def columns_line(place: Place) -> str:
    """`columns: …` for a row of a table in text, since a row alone does not say what its cells are."""
    if not _is_table_row(place):
        return ""
    for table in tables_of(place.text.source.document):
        if table.block == place.text.block.index and table.kind in ("csv", "tsv", "markdown"):
            return f"columns: {', '.join(table.columns)[:300]}"
    return ""


def _is_table_row(place: Place) -> bool:
    plain = place.text.plain.text
    start, end = line_span(plain, place.spans[0][0], 0, len(plain))
    line = plain[start : min(end, start + LONG_LINE)]
    for table in tables_of(place.text.source.document):
        if table.block != place.text.block.index:
            continue
        mark = {"csv": ",", "tsv": "\t", "markdown": "|"}.get(table.kind)
        if mark and line.count(mark) + line.count(";") >= len(table.columns) - 1 > 0:
            return True
    return False


def _bytes_hint(numbers: Numbers, place: Place) -> str:
    byte = numbers.byte(place.text.origin(place.spans[0][0]))
    return f"(bytes:{max(0, byte - 200)}-{byte + 400})"
