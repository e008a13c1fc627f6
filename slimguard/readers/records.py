"""How a hit in JSON is written: its path, the record it stands in when that is small, else what identifies it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from slimguard.canonical import dump
from slimguard.document import Path, format_path
from slimguard.document.tables import tables_of
from slimguard.model import Json, is_array, is_object
from slimguard.readers.context import excerpt
from slimguard.readers.locating import JsonPlaces, Spot, decoded_at
from slimguard.readers.searched import Searched
from slimguard.readers.showing import written

Span = tuple[int, int]

_NAMES = (
    "number", "iid", "identifier", "key", "id", "_key", "name", "title", "full_name", "path", "file", "filename",
    "subject", "summary", "label", "slug", "login", "username", "email", "code", "state", "status", "place", "mag",
    "severity", "level", "from", "to", "value", "amount",
)  # fmt: skip
_WEAK = ("type", "kind", "category", "date", "time", "timestamp", "created_at", "createdAt", "entityType", "object")
_PEOPLE = ("user", "author", "assignee", "owner", "creator", "created_by", "reporter")
_NESTED = ("properties", "fields", "attributes", "metadata", "metric", "node", "resource", "data")
_TEXTS = ("plain_text", "title", "name", "text", "content", "summary", "message", "value", "description")
_NOISE = re.compile(r"https?://|[0-9a-f-]{24,}\Z|data:")
_SHORT = 70
IDENTITY_FIELDS = 5
_FIELDS = ((400, 14), (270, 9), (0, IDENTITY_FIELDS))
"""How many fields identify a record, by the room there is: the only hit has more."""
_RECORD_CHARS = 400_000
_TELLING_FIELDS = 4
LEAVES = 4
"""Values of one record that are shown for its hits."""


def identity(record: Json, most: int = IDENTITY_FIELDS) -> str:
    """`number=4263 title="…" user.login=otto`: the few fields of a record by which people know it."""
    if not is_object(record):
        return ""
    found: list[str] = []
    people = _people(record)
    _named(record, "", found, most - min(1, len(people)))
    found.extend(people[:1])
    if len(found) < 3:
        for name in _NESTED:
            if is_object(inner := record.get(name)):
                _named(inner, f"{name}.", found, most)
    if len(found) < 3 and (text := _first_text(record)):
        found.append(text)
    if len(found) < 3:
        found.extend(f"{name}={_scalar(record[name])}" for name in _WEAK if _telling(record.get(name)))
    if most > IDENTITY_FIELDS:
        _others(record, found, most)
    return " ".join(found[:most])


def _others(record: dict[str, Json], found: list[str], most: int) -> None:
    """Further short scalars, of the record and of what holds its fields, when there is room for them."""
    known = {field.partition("=")[0] for field in found}
    for prefix, fields in (("", record), *((f"{name}.", record.get(name)) for name in _NESTED)):
        if not is_object(fields):
            continue
        for name, value in fields.items():
            if len(found) < most and f"{prefix}{name}" not in known and _telling(value) and value != 0:
                found.append(f"{prefix}{name}={_scalar(value)}")


def _named(record: dict[str, Json], prefix: str, found: list[str], most: int) -> None:
    for name in _NAMES:
        if len(found) < most and _telling(record.get(name)) and not _is_row_id(record, name):
            found.append(f"{prefix}{name}={_scalar(record[name])}")


def _is_row_id(record: dict[str, Json], name: str) -> bool:
    """Whether this is a database's own id beside a number that people use."""
    return name == "id" and any(_telling(record.get(better)) for better in ("number", "iid", "identifier", "key"))


def _people(record: dict[str, Json]) -> list[str]:
    found: list[str] = []
    for name in _PEOPLE:
        person = record.get(name)
        if is_object(person):
            inner = next((key for key in ("login", "name", "displayName", "email") if _telling(person.get(key))), None)
            if inner:
                found.append(f"{name}.{inner}={_scalar(person[inner])}")
        elif isinstance(person, str) and _telling(person):
            found.append(f"{name}={_scalar(person)}")
    return found


def _first_text(record: dict[str, Json]) -> str:
    """The first text of a record whose own fields say little, such as a block of a document."""
    level: list[tuple[str, Json]] = [("", record)]
    for _ in range(4):
        below: list[tuple[str, Json]] = []
        for path, value in level:
            if not is_object(value):
                continue
            for name in _TEXTS:
                text = value.get(name)
                if path and isinstance(text, str) and text.strip() and not _NOISE.match(text):
                    return f"{path}.{name}={_scalar(text[:80])}"
            for key, item in value.items():
                inner = item[0] if is_array(item) and item else item
                below.append((f"{path}.{key}".lstrip("."), inner))
        level = below[:200]
    return ""


def _telling(value: Json) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        return True
    return isinstance(value, str) and 0 < len(value) <= _SHORT and not _NOISE.match(value)


def _scalar(value: Json) -> str:
    return dump(value) if isinstance(value, str) and (" " in value or not value) else str(value)


def record_path(spot: Spot) -> Path:
    """The path of the outermost array element that holds the spot; the spot's own path when there is none."""
    for depth, step in enumerate(spot.path):
        if isinstance(step, int):
            return spot.path[: depth + 1]
    return spot.path


def shown_record(
    text: Searched,
    spots: Sequence[Spot],
    spans: Sequence[Span],
    *,
    rooms: Sequence[int],
    fits: Callable[[str], bool],
    said: set[str],
) -> str:
    """The hits in one record: the record whole when it is small, else its identity and the values with hits.

    `rooms` are tried from the largest, until what is written `fits`. Values in `said` are not repeated.
    """
    body, told = "", set[str]()
    for room in rooms:
        told = set(said)
        body = _shown(text, spots, spans, room, told)
        if fits(body):
            break
    said.update(told)
    return body


def _shown(text: Searched, spots: Sequence[Spot], spans: Sequence[Span], room: int, said: set[str]) -> str:
    places = text.places
    if places is None:
        return ""
    raw, spot = places.text, spots[0]
    record = record_path(spot)
    if (row := _parallel_row(text, spot, room)) is not None:
        return row
    whole = _small(places, spot, record, room)
    if whole is not None:
        path, start, end = whole
        return f"{format_path(path)}: {_compact(raw, start, end)}"
    known = ""
    span = places.span(record) if len(record) < len(spot.path) else None
    if span and span[1] - span[0] <= _RECORD_CHARS:
        known = identity(decoded_at(raw, span[0]), next(most for least, most in _FIELDS if room >= least))
    around = _enclosing(places, spot, record, room)
    if around is not None:
        path, start, end = around
        head = f"{format_path(record)} {known}\n  " if known and not _within(known, path, record) else ""
        return f"{head}{format_path(path)}: {_compact(raw, start, end)}"
    leaves = [(one, _leaf(text, one, spans, room)) for one in spots[: LEAVES if room > 100 else 1]]
    if not known:
        return "\n".join(f"{format_path(one.path)}: {line}" for one, line in leaves)
    leaves = [leaf for place, leaf in enumerate(leaves) if leaf[1] not in [other[1] for other in leaves[:place]]]
    lines = [f"  {format_path(one.path[len(record) :])}: {line}" for one, line in leaves if not _said(known, line)]
    lines, repeated = [line for line in lines if line not in said], lines
    said.update(repeated)
    more = f"\n  and in {len(spots) - LEAVES} more values" if len(spots) > LEAVES else ""
    return "\n".join([f"{format_path(record)} {known}", *lines]) + more


def _enclosing(places: JsonPlaces, spot: Spot, record: Path, room: int) -> tuple[Path, int, int] | None:
    """The object right around a value in a record, when it is small and has enough fields to tell something."""
    path = spot.path[:-1]
    if len(path) <= len(record) or not isinstance(spot.path[-1], str):
        return None
    span = places.span(path)
    if span is None or span[1] - span[0] > 2 * room or places.count(path) < _TELLING_FIELDS:
        return None
    return (path, *span) if len(_compact(places.text, *span)) <= room else None


def _within(known: str, path: Path, record: Path) -> bool:
    """Whether all identifying fields stand in the object at `path`."""
    prefix = f"{'.'.join(str(step) for step in path[len(record) :])}."
    return all(field.startswith(prefix) for field in known.split(" ") if "=" in field)


def _said(known: str, line: str) -> bool:
    """Whether the value is already among the identifying fields."""
    return f"={line}" in known or (line.startswith('"') and f"={line[1:-1]} " in f"{known} ")


def _small(places: JsonPlaces, spot: Spot, record: Path, room: int) -> tuple[Path, int, int] | None:
    """The record when it fits; without a record the largest object around the spot that does."""
    if len(record) < len(spot.path):
        span = places.span(record)
        fits = span is not None and span[1] - span[0] <= 2 * room and len(_compact(places.text, *span)) <= room
        return (record, *span) if span is not None and fits else None
    best: tuple[Path, int, int] | None = None
    for depth in range(len(spot.path) - 1, 0, -1):
        path = spot.path[:depth]
        span = places.span(path)
        if span is None or span[1] - span[0] > 2 * room or len(_compact(places.text, *span)) > room:
            break
        best = (path, *span)
    return best


def _parallel_row(text: Searched, spot: Spot, room: int) -> str | None:
    """For a hit in one of several parallel arrays: what stands at the same index in all of them."""
    if not spot.path or not isinstance(index := spot.path[-1], int) or text.places is None:
        return None
    for table in tables_of(text.source.document):
        if table.kind == "parallel" and table.block == text.block.index and table.path == spot.path[:-2]:
            row = dump(dict(zip(table.columns, table.rows[index], strict=False))) if index < table.count else ""
            return f"{format_path(spot.path)}: {row}" if 0 < len(row) <= max(room, 300) else None
    return None


def _compact(raw: str, start: int, end: int) -> str:
    text = raw[start:end]
    return dump(decoded_at(raw, start)) if "\n" in text or ": " in text or "\\u" in text else text


def _leaf(text: Searched, spot: Spot, spans: Sequence[Span], room: int) -> str:
    """The value at the spot, cut around the hit when it is long."""
    raw = text.block.text or ""
    if spot.end - spot.start <= max(160, room // 2):
        return _compact(raw, spot.start, spot.end)
    if raw[spot.start] != '"':
        inner = f" ({_size(text, spot, raw[spot.start])})" if raw[spot.start] in "[{" else ""
        return f"{raw[spot.start : spot.start + 80]}…{inner}"
    low, high = text.arrived(spot.start + 1), text.arrived(spot.end - 1)
    plain = text.plain.text
    inside = [span for span in spans if span[0] < high and span[1] > low]
    span = inside[0] if inside else (low, low)
    shown = excerpt(plain, span, low, high, style=text.style_between(low, high), room=room)
    body = written(plain, shown, inside, None, before=room // 3, after=room)
    cut = f"{'…' if shown.start > low else ''}{body}{'…' if shown.end < high else ''}"
    return f"{cut} (of {high - low} characters)" if room > 360 and high - low > 2 * len(cut) else cut


def _size(text: Searched, spot: Spot, opening: str) -> str:
    count = text.places.count(spot.path) if text.places is not None else 0
    return f"{count} {'items' if opening == '[' else 'keys'}"
