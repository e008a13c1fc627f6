"""Repeated elements of XML as tables (`item` of a feed, `testcase` of a report), attributes and children as columns."""

from __future__ import annotations

from collections.abc import Sequence

from slimguard.document.found import Found, Rows
from slimguard.document.shapes import sample
from slimguard.document.texttables import is_numeric, number
from slimguard.document.xmltree import Element
from slimguard.model import Json, is_array

LEAST = 2
PATHS_AT_MOST = 8
CHILD_DEPTH = 2
COLUMNS_AT_MOST = 60
SAMPLED = 400
"""Elements that are read to learn the columns of their table."""
_TITLES = frozenset(("name", "title", "id", "filename", "path", "key", "summary", "type"))


def xml_tables(root: Element) -> list[Found]:
    """Tables of the elements that occur again under one path, those with the most cells first."""
    groups: dict[tuple[str, ...], list[Element]] = {}
    stack: list[tuple[tuple[str, ...], Element]] = [((root.name,), root)]
    while stack:
        path, element = stack.pop()
        for child in element.children:
            below = (*path, child.name)
            groups.setdefault(below, []).append(child)
            if child.children:
                stack.append((below, child))
    found = [
        _table(path, sorted(elements, key=lambda element: element.start))
        for path, elements in groups.items()
        if len(elements) >= LEAST
        and any(element.attributes or element.children for element in elements[:20])
        and not _is_column(path, elements, groups)
    ]
    found.sort(key=lambda item: -item.weight)
    return found[:PATHS_AT_MOST]


def _is_column(path: tuple[str, ...], elements: list[Element], groups: dict[tuple[str, ...], list[Element]]) -> bool:
    """Whether elements are just a column of the table above them: one in each of its rows, without children."""
    above = groups.get(path[:-1], [])
    return len(above) == len(elements) and not any(element.children for element in elements[:20])


def row_of(element: Element) -> dict[str, Json]:
    """One element as a record: attributes, texts of children by name, repeated children as lists, own text last."""
    record: dict[str, Json] = dict(element.pairs)
    _collect(element, "", record, CHILD_DEPTH)
    if element.text:
        record.setdefault("text", element.text)
    return record


def _collect(element: Element, prefix: str, record: dict[str, Json], depth: int) -> None:
    for child in element.children:
        name = f"{prefix}{child.name}"
        if name in record and "xml:lang" in child.attributes:
            continue  # a translation of what is there
        if child.attributes:
            for key, value in child.pairs.items():
                _put(record, f"{name}.{key}", value)
        if child.text:
            _put(record, name, child.text)
        elif not child.children and not child.attributes:
            _put(record, name, "")
        if child.children and depth > 1:
            _collect(child, f"{name}.", record, depth - 1)


def _put(record: dict[str, Json], name: str, value: str) -> None:
    before = record.get(name)
    if before is None:
        record[name] = value
    elif is_array(before):
        before.append(value)
    else:
        record[name] = [before, value]


def _table(path: tuple[str, ...], elements: list[Element]) -> Found:
    records = [row_of(element) for element in sample(elements, SAMPLED)]
    names = dict.fromkeys(key for record in records for key in record)
    columns = tuple(name for name in names if not _is_long(name, records))[:COLUMNS_AT_MOST]

    def cells() -> list[Sequence[Json]]:
        made = [row_of(element) for element in elements]
        return [[record.get(column) for record in made] for column in columns]

    def make() -> Rows:
        typed = [[number(cell) for cell in column] if is_numeric(column) else column for column in cells()]
        return [list(row) for row in zip(*typed, strict=True)] if typed else [[] for _ in elements]

    longer = tuple("_".join(path[-count:]) for count in range(1, len(path) + 1))
    return Found((), "xml", columns, len(elements), "", make, len(columns), longer, _weight(columns, elements), cells)


def _is_long(name: str, records: list[dict[str, Json]]) -> bool:
    """Whether a column holds long lists: those elements are a table of their own."""
    lists = [value for record in records[:40] if is_array(value := record.get(name))]
    return len(lists) * 3 > min(40, len(records)) and max(len(value) for value in lists) > 4


def _weight(columns: tuple[str, ...], elements: list[Element]) -> float:
    """How much a table tells: its columns count, its rows up to a number, names and titles double."""
    named = any(column.rsplit(".", 1)[-1].lower() in _TITLES for column in columns)
    return float(min(len(elements), 100) * len(columns) * (2 if named else 1))
