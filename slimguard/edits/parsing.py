"""From the JSON of edits to edits; forgiving in spelling where exactly one reading is possible, never a guess."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slimguard import policy
from slimguard.edits.model import GRAMMAR, Edit, Side, failed
from slimguard.model import Json, is_array, is_object

_OLD = ("old", "old_text", "old_string", "find", "search")
_NEW = ("with", "by", "new", "new_text", "new_string")
_VALUE = ("to", "value", "with")
_PLACE = ("in", "at", "path")
_KINDS = ("replace", "set", "remove", "insert", "append")


def edits_of(value: Json) -> tuple[Edit, ...]:
    """The edits that a list of objects, or one object, says; raises `QueryRejected` with the right spelling."""
    items = value if is_array(value) else [value]
    if len(items) > policy.EDITS:
        raise failed(f"{len(items)} edits at once; at most {policy.EDITS}", next_call="make them in several calls")
    edits: list[Edit] = []
    for number, item in enumerate(items, 1):
        if not is_object(item):
            raise _wrong(number, "is no object")
        edits.extend(_edits({str(key).strip().lower(): part for key, part in item.items()}, number))
    return tuple(edits)


def _edits(given: Mapping[str, Any], number: int) -> list[Edit]:
    if "op" in given:
        return [_patch(given, number)]
    if "delete" in given and "remove" not in given:
        given = {"remove" if key == "delete" else key: part for key, part in given.items()}
    old = [key for key in _OLD if key in given]
    if old and not any(kind in given for kind in ("set", "remove", "insert", "append")):
        renamed = {"with" if key == "replace" else key: part for key, part in given.items() if key != old[0]}
        given = {"replace": given[old[0]], **renamed}
    kinds = [kind for kind in _KINDS if kind in given]
    if len(kinds) != 1:
        raise _wrong(number, f"names {', '.join(kinds)} together" if kinds else "names no edit")
    make = {"replace": _replace, "set": _set, "insert": _insert, "append": _append}.get(kinds[0])
    if make is not None:
        return [make(given, number)]
    _only(given, number, ("remove",))
    paths: Any = given["remove"]
    listed: list[Any] = paths if is_array(paths) else [paths]
    return [Edit("remove", path=_path(path, number)) for path in listed]


def _replace(given: Mapping[str, Any], number: int) -> Edit:
    _only(given, number, ("replace", *_NEW, "to", *_PLACE, "all"))
    old, new = given["replace"], _one(given, (*_NEW, "to"), number)
    if not isinstance(old, str) or not isinstance(new, str):
        raise _wrong(number, "replace and with take texts; a value is set with set and to")
    if not old:
        raise _wrong(number, "an empty text matches everywhere")
    return Edit("replace", old, new, _place(given, number), _flag(given, number))


def _set(given: Mapping[str, Any], number: int) -> Edit:
    _only(given, number, ("set", *_VALUE))
    return Edit("set", _one(given, _VALUE, number), path=_path(given["set"], number))


def _insert(given: Mapping[str, Any], number: int) -> Edit:
    _only(given, number, ("insert", "before", "after", *_PLACE, "all"))
    sides: list[Side] = [side for side in ("before", "after") if side in given]
    if len(sides) != 1:
        raise _wrong(number, "insert takes either before or after")
    anchor = given[sides[0]]
    anchor = f"line:{anchor}" if isinstance(anchor, int) and not isinstance(anchor, bool) else anchor
    if not isinstance(anchor, str) or not anchor:
        raise _wrong(number, f"{sides[0]} takes a text that stands there, line:N, or the pointer of an element")
    return Edit(
        "insert",
        given["insert"],
        path=_place(given, number),
        every=_flag(given, number),
        anchor=anchor,
        side=sides[0],
    )


def _append(given: Mapping[str, Any], number: int) -> Edit:
    _only(given, number, ("append", "to", *_PLACE))
    names = [key for key in ("to", *_PLACE) if key in given]
    path = _path(given[names[0]], number) if len(names) == 1 else None
    if len(names) > 1:
        raise _wrong(number, f"says {' and '.join(names)}")
    return Edit("append", given["append"], path=path)


def _patch(given: Mapping[str, Any], number: int) -> Edit:
    """JSON Patch (RFC 6902): add, replace and remove."""
    _only(given, number, ("op", "path", "value"))
    op, path = given["op"], given.get("path")
    if op not in ("add", "replace", "remove") or not isinstance(path, str) or (op != "remove" and "value" not in given):
        raise _wrong(number, "op is add, replace or remove, with path and value")
    if op == "remove":
        return Edit("remove", path=path)
    if op == "add" and path.rpartition("/")[2].isdecimal():
        return Edit("insert", given["value"], anchor=path, side="before")
    return Edit("set", given["value"], path=path)


def _place(given: Mapping[str, Any], number: int) -> str | None:
    names = [key for key in _PLACE if key in given]
    if len(names) > 1:
        raise _wrong(number, f"says {' and '.join(names)}")
    return _path(given[names[0]], number) if names else None


def _path(value: Json, number: int) -> str:
    if not isinstance(value, str):
        raise _wrong(number, "a place is a text: a JSON pointer such as /a/b, or JMESPath such as a.b[0]")
    if len(value) > policy.EDIT_CHARS:
        raise _wrong(number, f"a place is longer than {policy.EDIT_CHARS:,} characters")
    text = value.lstrip(" \t\n")
    return text if text.startswith("/") else text.rstrip(" \t\n")  # a pointer may end in a key's own space


def _flag(given: Mapping[str, Any], number: int) -> bool:
    value = given.get("all", False)
    if not isinstance(value, bool):
        raise _wrong(number, "all is true or false")
    return value


def _one(given: Mapping[str, Any], names: tuple[str, ...], number: int) -> Json:
    found = [name for name in names if name in given]
    if len(found) != 1:
        raise _wrong(number, f"says {' and '.join(found)}" if found else f"lacks {names[0]}")
    return given[found[0]]


def _only(given: Mapping[str, Any], number: int, known: tuple[str, ...]) -> None:
    other = [key for key in given if key not in known]
    if other:
        raise _wrong(number, f"has {other[0][:40]!r}, which {known[0]} does not take")


def _wrong(number: int, what: str) -> Exception:
    return failed(f"edit {number}: {what}", next_call=f"write {GRAMMAR}")
