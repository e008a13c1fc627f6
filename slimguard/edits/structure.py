"""Edits on JSON as text: splices that set, remove and add values and leave every other character as it is."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

from slimguard.document import MISSING, Path, format_path
from slimguard.edits.model import Splice, failed
from slimguard.edits.places import Place
from slimguard.edits.spans import Child, Spans
from slimguard.edits.spelled import dumps
from slimguard.model import Json


def written(value: Json, text: str) -> str:
    """Compact JSON of a new value, in ASCII where the text around it is written so."""
    ascii_only = text.isascii() and "\\u" in text
    try:
        plain = dumps(value, ensure_ascii=ascii_only)
        plain.encode("utf-8")
    except UnicodeEncodeError:
        return dumps(value, ensure_ascii=True)
    except (ValueError, RecursionError, TypeError) as error:
        raise failed(f"the new value cannot be written as JSON ({type(error).__name__})") from None
    return plain


def set_splices(spans: Spans, places: Sequence[Place], new: str) -> list[Splice]:
    """Put `new` at every place: in the place of what stands there, as a new member, or at the end of an array."""
    splices: list[Splice] = []
    for path, value in places:
        if value is MISSING:
            splices.append(_added(spans, path, new))
            continue
        child = _found(spans, path)
        splices.append(Splice(child.value, child.end, new))
    return sorted(_outermost(splices), key=lambda splice: splice.start)


def remove_splices(spans: Spans, places: Sequence[Place]) -> list[Splice]:
    """Take the values out, each with one comma; values inside removed ones go with them."""
    removed = {path for path, value in places if value is not MISSING}
    if not removed:
        raise failed("there is nothing to remove")
    if () in removed:
        raise failed("remove: the whole value cannot be removed")
    gone: dict[Path, set[str | int]] = defaultdict(set)
    for path in removed:
        if not any(path[:length] in removed for length in range(1, len(path))):
            gone[path[:-1]].add(path[-1])
    splices = [splice for path, steps in gone.items() for splice in _without(spans.children(path), steps)]
    return sorted(splices, key=lambda splice: splice.start)


def insert_splice(spans: Spans, path: Path, side: str, new: str) -> Splice:
    """A new element before or after the element of an array at `path`."""
    siblings = spans.children(path[:-1])
    child = _found(spans, path)
    if not isinstance(path[-1], int):
        raise failed("insert: only an element of an array has a before and an after", next_call="set adds a key")
    comma = "" if spans.several and len(path) == 1 else ","
    gap = _gap(spans, path[:-1], siblings)
    if side == "before":
        return Splice(child.start, child.start, f"{new}{comma}{gap}")
    return Splice(child.end, child.end, f"{comma}{gap}{new}")


def append_splice(spans: Spans, path: Path, new: str) -> Splice:
    """A new element at the end of the array at `path`."""
    return _element(spans, path, new)


def _found(spans: Spans, path: Path) -> Child:
    child = spans.child(path)
    if child is None:
        raise failed(f"there is nothing at {format_path(path)}")
    return child


def _added(spans: Spans, path: Path, new: str) -> Splice:
    """A member that an object does not have yet, or a next element."""
    step = path[-1]
    if isinstance(step, int):
        return _element(spans, path[:-1], new)
    parent, siblings = _found(spans, path[:-1]), spans.children(path[:-1])
    key = written(step, spans.text)
    if not siblings:
        return Splice(parent.value + 1, parent.value + 1, f"{key}:{new}")
    last = siblings[-1]
    key_end = json.JSONDecoder().raw_decode(spans.text, last.start)[1]
    colon = spans.text[key_end : last.value]
    return Splice(last.end, last.end, f",{_gap(spans, path[:-1], siblings)}{key}{colon}{new}")


def _element(spans: Spans, path: Path, new: str) -> Splice:
    siblings = spans.children(path)
    if spans.several and not path:
        gap = _gap(spans, path, siblings) or "\n"
        return Splice(siblings[-1].end, siblings[-1].end, f"{gap}{new}")
    array = _found(spans, path)
    if not siblings:
        return Splice(array.value + 1, array.value + 1, new)
    return Splice(siblings[-1].end, siblings[-1].end, f",{_gap(spans, path, siblings)}{new}")


def _gap(spans: Spans, path: Path, siblings: Sequence[Child]) -> str:
    """The white space that stands before a member: as between the last two, or before the only one."""
    text = spans.text
    if len(siblings) > 1:
        return text[siblings[-2].end : siblings[-1].start].replace(",", "", 1)
    gap = text[_found(spans, path).value + 1 : siblings[0].start]
    spaced = isinstance(siblings[0].step, str) and text[siblings[0].value - 1].isspace()
    return gap or (" " if spaced else "")


def _without(children: Sequence[Child], steps: set[str | int]) -> list[Splice]:
    """Splices that leave the other children with their own white space and exactly the commas that they need."""
    kept = [number for number, child in enumerate(children) if child.step not in steps]
    splices: list[Splice] = []
    last_kept = kept[-1] if kept else -1
    for number, child in enumerate(children):
        if child.step in steps and number < last_kept:
            splices.append(Splice(child.start, children[number + 1].start, ""))
    if last_kept < len(children) - 1:
        start = children[last_kept].end if kept else children[0].start
        splices.append(Splice(start, children[-1].end, ""))
    return splices


def _outermost(splices: Sequence[Splice]) -> list[Splice]:
    """Without those inside of others: setting a value replaces what is in it."""
    kept: list[Splice] = []
    for splice in sorted(splices, key=lambda item: (item.start, -item.end)):
        if kept and splice.end <= kept[-1].end and kept[-1].end > kept[-1].start:
            continue
        kept.append(splice)
    return kept
