"""XML and feeds: what the document says once, then its repeated elements as a table; entities and CDATA as text."""

from __future__ import annotations

from collections import Counter

from slimguard.document.xmltables import row_of
from slimguard.document.xmltree import Element
from slimguard.views.cells import cell, short
from slimguard.views.columns import ranked
from slimguard.views.grid import table_parts
from slimguard.views.hints import table_hints
from slimguard.views.model import Content, Part, Sketch

LEAF_TOKENS = 200
PATH_TOKENS = 160


def xml_view(content: Content) -> Sketch:
    """The view of an XML text."""
    block = content.block
    root = block.xml if block is not None else None
    if root is None:
        raise ValueError("not XML")
    tables = content.tables
    parts = [Part(_leaves(root, {table.name for table in tables}), rank=1, tokens=content.share(LEAF_TOKENS))]
    if not tables:
        return Sketch(
            "XML", [*parts, Part((_paths(root),), rank=2)], f"{_count(root):,} elements", "outline", ("outline",)
        )
    main = tables[0]
    columns = ranked(main)
    names = {main.name: [column.name for column in (*columns.labels, *columns.columns)]}
    parts.append(Part((f"{main.name}: {main.count:,} elements",), rank=1))
    parts.extend(table_parts(main, columns, content))
    rest = [f"{table.name}: {table.count:,} elements ({', '.join(table.columns[:10])})" for table in tables[1:]]
    if rest:
        parts.append(Part(rest, rank=4, tokens=content.share(PATH_TOKENS), more=""))
    return Sketch("XML", parts, f"{main.count:,} elements", hints=tuple(table_hints(main, columns)), columns=names)


def _leaves(root: Element, tables: set[str]) -> list[str]:
    """Attributes and texts of elements that stand once, by path."""
    lines: list[str] = []
    stack: list[tuple[str, Element]] = [(root.name, root)]
    while stack and len(lines) < 60:
        path, element = stack.pop()
        names = Counter(child.name for child in element.children)
        once = [child for child in element.children if names[child.name] == 1 and child.name not in tables]
        pairs = [f"{key}={short(value, 100)}" for key, value in element.pairs.items() if not key.startswith("xmlns")]
        pairs += [f"{child.name}={short(child.text, 140)}" for child in once if child.text and not child.children]
        if pairs or element is root:
            lines.append(f"{path}: {', '.join(pairs)}" if pairs else path)
        many = {name: count for name, count in names.items() if count > 1 and name not in tables}
        lines.extend(f"{path}.{name}: {count} × {_first(element, name)}" for name, count in many.items())
        stack.extend((f"{path}.{child.name}", child) for child in reversed(once) if child.children or not child.text)
    return lines


def _first(element: Element, name: str) -> str:
    child = next(child for child in element.children if child.name == name)
    return cell(child.text or row_of(child), 80)


def _count(root: Element) -> int:
    count = 0
    stack = [root]
    while stack:
        element = stack.pop()
        count += 1
        stack.extend(element.children)
    return count


def _paths(root: Element) -> str:
    counts: Counter[str] = Counter()
    stack = [root]
    while stack:
        element = stack.pop()
        counts[element.name] += 1
        stack.extend(element.children)
    return "elements: " + ", ".join(f"{name} {count:,}" for name, count in counts.most_common(20))
