"""HTML by its visible text: title, headings, what kinds of elements there are, the beginning; scripts and styles are
not shown. One fast pass of a pattern, lenient about broken markup.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass

from slimguard.query import Query, print_query
from slimguard.views.cells import one_line
from slimguard.views.headings import heading_lines
from slimguard.views.lines import words_in
from slimguard.views.model import Content, Part, Sketch

HEADING_TOKENS = 380
HEAD_TOKENS = 180
TAIL_TOKENS = 60
BLOCKS_READ = 600
TABLE_ROWS = 5
"""Rows of a table in HTML before its last one."""
_HIDDEN = (("<script", "</script"), ("<style", "</style"), ("<svg", "</svg"), ("<noscript", "</noscript"),
           ("<template", "</template"), ("<head", "</head"), ("<!--", "--"))  # fmt: skip
"""What is not shown: from one mark to the other, and to the end of the tag that it begins."""
_TAG = re.compile(r"<(/?[A-Za-z][A-Za-z0-9-]*)[^<>]*>")
_INLINE, _LINK, _LINK_END, _CELL_END = -1, -2, -3, -4
"""Roles of tags that begin and end no block."""
_BLOCKS = frozenset(
    (
        "p", "div", "section", "article", "header", "footer", "nav", "main", "aside", "ul", "ol", "li", "table",
        "tr", "thead", "tbody", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "br", "hr", "blockquote", "form",
        "fieldset", "dl", "dt", "dd", "figure", "figcaption", "details", "summary", "title", "body",
    )
)  # fmt: skip
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_COUNTED = ("a", "img", "table", "form", "input", "button", "pre", "code", "li", "ac:structured-macro", "iframe")


@dataclass(frozen=True, slots=True)
class Page:
    """The visible text of a page in blocks, its headings as (level, text), and counts of elements."""

    title: str
    blocks: list[str]
    headings: list[tuple[int, str]]
    counts: Counter[str]


def looks_like_html(text: str) -> bool:
    """Whether a text is HTML, or a fragment of it; markdown with some tags in it is not."""
    head = text[:20_000].lstrip("\ufeff \t\r\n")
    if re.match(r"(?i)<!doctype html|<html\b", head):
        return True
    if not head.startswith("<") or len(re.findall(r"^#{1,6} |^```", head, re.MULTILINE)) >= 3:
        return False
    tags = re.findall(
        r"(?i)</?(?:p|div|span|h[1-6]|ul|ol|li|a|table|tr|td|br|strong|em|code|pre|section|body)\b[^<>]*>", head
    )
    return len(tags) >= 3 and len(tags) * 300 >= len(head)


def read_page(text: str) -> Page:
    """The visible text, headings and counts of an HTML text."""
    title = _TITLE.search(text[:8_000])
    split = _TAG.split(_without_hidden(text))
    tags = split[1::2]
    counts: Counter[str] = Counter()
    for tag, count in Counter(tags).items():
        if tag[0] != "/":
            counts[tag.lower()] += count
    blocks, headings = _blocks(split[::2], tags)
    return Page(one_line(html.unescape(title.group(1))) if title else "", blocks, headings, counts)


def _blocks(texts: list[str], tags: list[str]) -> tuple[list[str], list[tuple[int, str]]]:
    """The lines of visible text that block elements divide, those that are mostly links left out; and the headings.

    `texts` are what stands before each of `tags`, and the text behind the last one.
    """
    roles = {tag: _role(tag) for tag in set(tags)}
    blocks: list[str] = []
    headings: list[tuple[int, str]] = []
    pieces: list[str] = []
    linked = heading = 0
    anchor = False
    for piece, tag in zip(texts, tags, strict=False):
        if piece:
            pieces.append(piece)
            if anchor:
                linked += len(piece.strip())
        role = roles[tag]
        if role < 0:
            if role == _CELL_END:
                pieces.append(" | ")
            elif role != _INLINE:
                anchor = role == _LINK
            continue
        line = _visible(pieces) if pieces else ""
        pieces = []
        if line and heading:
            line = line.rstrip("#¶ ") or line
            headings.append((heading, line))
            blocks.append(f"{'#' * heading} {line}")
        elif line and linked * 10 < len(line) * 8:
            blocks.append(line)
        linked, heading = 0, role
    line = _visible([*pieces, texts[-1]])
    if line:
        blocks.append(line)
    return blocks, headings


def _role(tag: str) -> int:
    """What a tag does to the text: the level of a heading that begins, 0 for another block, below 0 for no block."""
    closing = tag[0] == "/"
    name = tag.lstrip("/").lower()
    if name in _BLOCKS:
        return 0 if closing or name[0] != "h" or not name[1:].isdigit() else int(name[1:])
    if name == "a":
        return _LINK_END if closing else _LINK
    return _CELL_END if closing and name in ("td", "th") else _INLINE


def _without_hidden(text: str) -> str:
    """The text without scripts, styles, comments and the head; linear, whatever is left open."""
    present = words_in(text.lower(), tuple(start for start, _ in _HIDDEN))
    for start, end in _HIDDEN:
        if start not in present:
            continue
        lower = text.lower() if start != "<!--" else text
        kept: list[str] = []
        position = 0
        while (begin := lower.find(start, position)) >= 0:
            if start[1] != "!" and lower[begin + len(start) : begin + len(start) + 1].isalnum():
                kept.append(text[position : begin + 1])  # `<header` is no `<head`
                position = begin + 1
                continue
            close = lower.find(end, begin + len(start))
            close = lower.find(">", close) if close >= 0 else -1
            if close < 0:
                break
            kept.append(text[position:begin])
            position = close + 1
        if kept:
            text = "".join((*kept, text[position:]))
    return text


def _visible(pieces: list[str]) -> str:
    joined = "".join(pieces)
    if not joined or joined.isspace():
        return ""
    return one_line(html.unescape(joined) if "&" in joined else joined)


def html_parts(page: Page, content: Content) -> list[Part]:
    """The parts of a view of HTML, also for HTML in a JSON string."""
    counted = ", ".join(f"{name} {page.counts[name]:,}" for name in _COUNTED if page.counts[name])
    first = [f"title: {page.title}"] if page.title else []
    size = sum(len(block) for block in page.blocks)
    first.append(f"{size:,} visible characters{f'; elements: {counted}' if counted else ''}")
    parts = [Part(first, rank=1)]
    if page.headings:
        listed = heading_lines([(-1, level, text) for level, text in page.headings], content, HEADING_TOKENS)
        parts.append(Part(listed, rank=2, more="… {n} more", ends=True))
    body = _body(page.blocks)
    parts.append(
        Part(["text:", *(block[:400] for block in body[:60])], rank=3, tokens=content.share(HEAD_TOKENS), more="…")
    )
    if len(body) > 60:
        parts.append(Part([block[-300:] for block in body[-2:]], rank=4, tokens=content.share(TAIL_TOKENS), more=""))
    return parts


def _body(blocks: list[str]) -> list[str]:
    """The blocks from the first heading on, without menus and the middles of long tables."""
    start = next((place for place, block in enumerate(blocks) if block.startswith("#")), 0)
    body = blocks[start : start + BLOCKS_READ] + blocks[start + BLOCKS_READ :][-40:]
    kept: list[str] = []
    rows = 0
    for place, block in enumerate(body):
        is_row = " | " in block
        rows = rows + 1 if is_row else 0
        if rows > TABLE_ROWS and place + 2 < len(body) and " | " in body[place + 1]:
            continue
        if (
            is_row
            or len(block) > 40
            or block.startswith("#")
            or (place > 0 and body[place - 1].startswith("#"))
            or any(len(near) > 60 for near in body[max(0, place - 2) : place + 3])
        ):
            kept.append(block.removesuffix(" |"))
    return kept or body


def html_hint(page: Page) -> str:
    """A search for one of the headings."""
    words = [heading for _, heading in page.headings[:400] if re.fullmatch(r"[\w ]{4,40}", heading)]
    return (
        print_query(Query("words", words[len(words) // 2]))
        if words
        else print_query(Query("bytes", first=0, last=4_000))
    )


def html_view(content: Content) -> Sketch:
    """The view of an HTML text."""
    page = read_page(content.text)
    of = f"{len(content.text):,} characters"
    return Sketch("HTML", html_parts(page, content), of, "visible text, outlined", (html_hint(page),))
