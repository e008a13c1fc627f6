"""XML as a light tree, read leniently and without entities of its own: nothing is fetched, nothing expands."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<![^>\[]*(?:\[.*?(?:\]\s*>|\Z)|>|\Z)"
    r"|<(/?)([A-Za-z_][\w:.-]*)((?:\s+[^\s=<>/]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'))?)*)\s*(/?)>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([^\s=<>/]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_PLAIN_ATTRIBUTE = re.compile(r"([^\s=<>/]+)\s*=\s*\"([^\"]*)\"")
NODES_AT_MOST = 600_000
DEPTH_AT_MOST = 200


@dataclass(slots=True)
class Element:
    """One element: its name, attributes as written, children, its own text, and where it starts in the text."""

    name: str
    attributes: str
    start: int
    children: Sequence[Element] = ()
    text: str = ""

    @property
    def pairs(self) -> dict[str, str]:
        """The attributes as names and values; entities resolved."""
        if not self.attributes:
            return {}
        if "'" not in self.attributes and "&" not in self.attributes:
            return dict(_PLAIN_ATTRIBUTE.findall(self.attributes))
        return {name: unescaped(one or two) for name, one, two in _ATTRIBUTE.findall(self.attributes)}


def looks_like_xml(text: str) -> bool:
    """Whether a text starts as XML that is not HTML."""
    head = text[:600].lstrip("\ufeff \t\r\n")
    if not head.startswith("<") or re.match(r"(?i)<!doctype html|<html\b", head):
        return False
    if head.startswith("<?xml"):
        return not re.search(r"(?i)<html\b", head)
    return bool(re.match(r"<[A-Za-z_][\w:.-]*[\s>/]", head)) and not re.match(
        r"(?i)<(?:div|p|span|table|ul|h\d|body)\b", head
    )


def xml_tree(text: str) -> Element | None:
    """The root element, or None when the tags do not match well enough to be XML. Without recursion."""
    root: Element | None = None
    top: Element | None = None
    below: list[Element] = []
    stack: list[tuple[Element | None, list[Element]]] = []
    nodes = position = 0
    for match in _TOKEN.finditer(text):
        start = match.start()
        if start > position and top is not None:
            gap = text[position:start]
            if not gap.isspace():
                _add_text(top, html.unescape(gap) if "&" in gap else gap)
        position = match.end()
        cdata, closing, name, attributes, empty = match.groups()
        if name is None:
            if cdata is not None and top is not None:
                _add_text(top, cdata)
            continue
        if closing:
            if top is None or top.name != name:
                return None
            if below:
                top.children = below
            top, below = stack.pop()
            continue
        nodes += 1
        if nodes > NODES_AT_MOST or len(stack) > DEPTH_AT_MOST:
            return None
        element = Element(name, attributes, start)
        below.append(element)
        root = root or element
        if not empty:
            stack.append((top, below))
            top, below = element, []
    return root if top is None else None


def unescaped(text: str) -> str:
    """Text with the entities of XML and HTML resolved."""
    return html.unescape(text) if "&" in text else text


def _add_text(element: Element, text: str) -> None:
    if not element.text:
        element.text = text.strip()
    elif text.strip():
        element.text = f"{element.text} {text.strip()}"
