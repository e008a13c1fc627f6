"""Repeated elements of XML as tables (`item` of a feed, `testcase` of a report): attributes and children are columns."""

from __future__ import annotations

from slimguard.document.found import Found, Rows
from slimguard.document.xmltree import Element
from slimguard.model import Json, is_array

LEAST = 2
PATHS_AT_MOST = 8
CHILD_DEPTH = 2


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
        record.setdefault("text" if record else element.name, element.text)
    return record


def _collect(element: Element, prefix: str, record: dict[str, Json], depth: int) -> None:
    for child in element.children:
        name = f"{prefix}{child.name}"
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
    records = [row_of(element) for element in elements]
    columns = tuple(dict.fromkeys(key for record in records for key in record))[:200]

    def make() -> Rows:
        return [[record.get(column) for column in columns] for record in records]

    names = tuple("_".join(path[-count:]) for count in range(1, len(path) + 1))
    cells = sum(len(record) for record in records)
    return Found((), "xml", columns, len(records), "", make, len(columns), names, float(cells))
