"""YAML and texts like it: the keys of the upper levels, what a long list lists, signs of trouble, then the head.

Read line by line, never parsed: what is shown are lines of the text with their numbers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

from slimguard.model import Json
from slimguard.views.headings import Heading
from slimguard.views.lines import line_starts, lines_with
from slimguard.views.model import Content, Part, Sketch
from slimguard.views.prose import outlined
from slimguard.views.trouble import category_of, is_mild, sign_of

LINE_READ = 300
"""Characters of a line that are looked at to tell what it is."""
_KEY = re.compile(r"(\s*)(?:- )?(['\"]?[\w./$@{}*<>+~ -]+['\"]?):(?:\s|$)")
_PAIR = re.compile(r"\s*(?:- )?['\"]?([\w.-]+)['\"]?:\s+['\"]?(.*?)['\"]?\s*$")
_NAME = re.compile(r"\s*(?:- )?(?:name|title|key|path|identifier|operationId|id): *['\"]?(.+?)['\"]?\s*$")
_SIGN_WORDS = (
    "tatus:", "tate:", "hase:", "eason:", "onclusion:", "ealth:", "everity:", "xitCode:", "estartCount:", "ailed:",
    "rror:", "eady:", "nhealthy:",
)  # fmt: skip
NAMED = 3
SIZES_LEAST = 8
SIZES_TOLD = 12
LISTS = 4
LISTS_READ = 200
ITEMS_LEAST = 3
ITEMS_BELOW = 12
"""A list below the top is named when it has so many items."""
ITEMS_NAMED = 40
ITEM_LINES = 40
"""An item is named by a line that is so near to its beginning."""
SIGNS = 8
SIGN_TOKENS = 240
ITEM_TOKENS = 300
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None, "~": None}


def looks_like_yaml(lines: Sequence[str]) -> bool:
    """Whether most lines are `key:` or `key: value`, indented in levels."""
    some = [line[:LINE_READ] for line in lines[:1_000] if line.strip() and not line.lstrip().startswith("#")]
    if len(some) < 8:
        return False
    keys = sum(1 for line in some if _KEY.match(line) or line.lstrip().startswith("- "))
    indented = sum(1 for line in some if line.startswith("  "))
    return keys * 10 >= len(some) * 7 and indented * 4 >= len(some)


def yaml_view(content: Content) -> Sketch:
    """The view of YAML and the like: keys of the upper levels."""
    lines = content.lines
    headings = yaml_headings(lines)
    sketch = outlined("YAML", lines, headings, content)
    lists = _lists(lines, headings)
    listed = [f"{text} {len(items):,} items: {names}" for text, items in lists if (names := _names(lines, items))]
    parts = [*_trouble(lines, [items for _, items in lists], content), *sketch.parts]
    sizes = _sizes(headings)
    if sizes:
        parts.insert(len(parts) - len(sketch.parts), Part((f"keys below: {sizes}",), rank=1))
    if listed:
        room = content.share(ITEM_TOKENS)
        parts.insert(len(parts) - len(sketch.parts), Part(listed[:LISTS], rank=1, tokens=room, more=""))
    return Sketch("YAML", parts, sketch.of, sketch.shown, sketch.hints)


def yaml_headings(lines: Sequence[str]) -> list[Heading]:
    """Keys that hold further lines, by level, and the values of the two upper levels."""
    found: list[Heading] = []
    indents: list[int] = []
    known: dict[str, int] = {}
    deep = "\0"
    for place, line in enumerate(lines):
        if line.startswith(deep) and line[-1] != ":":
            continue  # a value below the second level
        colon = line.find(":", 0, LINE_READ)
        if colon < 0 or not (colon + 1 == len(line) or line[colon + 1].isspace()):
            continue
        head = line[: colon + 1]
        indent = known.get(head)
        if indent is None:
            indent = known[head] = _key_indent(head)
        if indent < 0:
            continue
        while indents and indents[-1] >= indent:
            indents.pop()
        level = len(indents) + 1
        indents.append(indent)
        if level <= 2:
            deep = " " * (indent + 1) if level == 2 else "\0"
        if _holds(lines, place, indent) or (level <= 2 and line[colon + 1 :].strip()):
            found.append((place, level, line.strip()[:120]))
    return found


def _sizes(headings: Sequence[Heading]) -> str:
    """How many keys stand below those of the two upper levels that hold many."""
    names: list[str] = []
    lists: set[str] = set()
    counts: Counter[str] = Counter()
    for _, level, text in headings:
        del names[level - 1 :]
        if 1 < level <= 3 and len(names) == level - 1:
            lists |= {".".join(names)} if text.startswith("- ") else set[str]()
            counts[".".join(names)] += 1
        if level <= 2 and len(names) == level - 1 and not text.startswith("- "):
            names.append(text.split(":", 1)[0].strip())
    long = [f"{name} {count:,}" for name, count in counts.items() if count >= SIZES_LEAST and name not in lists]
    return ", ".join(long[:SIZES_TOLD])


def _key_indent(head: str) -> int:
    """How far the key of a line is indented, its dash included; -1 when a line up to its colon is no key."""
    match = _KEY.match(head)
    if match is None:
        return -1
    return match.end(1) + (2 if head.lstrip().startswith("- ") else 0)


def _holds(lines: Sequence[str], place: int, indent: int) -> bool:
    """Whether the next line that is not blank stands below the key at `place`."""
    for below in range(place + 1, min(place + 4, len(lines))):
        line = lines[below]
        bare = line.lstrip()
        if bare:
            return len(line) - len(bare) > indent or bare.startswith("- ")
    return False


def _lists(lines: Sequence[str], headings: Sequence[Heading]) -> list[tuple[str, list[int]]]:
    """The lists under keys of the two upper levels that are long, or stand at the top: key and lines of their items."""
    found: list[tuple[str, list[int]]] = []
    for place, level, text in headings[:LISTS_READ]:
        if level > 2 or not text.endswith(":"):
            continue
        items = _items(lines, place)
        if len(items) >= (ITEMS_LEAST if level == 1 else ITEMS_BELOW):
            found.append((text, items))
    return found


def _items(lines: Sequence[str], place: int) -> list[int]:
    """The lines at which the items of the list under a key begin."""
    first = next((below for below in range(place + 1, min(place + 4, len(lines))) if lines[below].strip()), None)
    if first is None or not lines[first].lstrip().startswith("- "):
        return []
    dash = f"{lines[first][: len(lines[first]) - len(lines[first].lstrip())]}- "
    indent = len(dash) - 2
    found: list[int] = []
    for below in range(first, len(lines)):
        line = lines[below]
        if line.startswith(dash):
            found.append(below)
        elif line and not line[: indent + 1].isspace() and line.strip() and not line.startswith("#"):
            break
    return found


def _names(lines: Sequence[str], items: Sequence[int]) -> str:
    """The names of items, of many the first and the last; empty when most have none."""
    chosen = list(items) if len(items) <= ITEMS_NAMED else [*items[: ITEMS_NAMED // 2], *items[-ITEMS_NAMED // 2 :]]
    ends = dict(zip(items, [*items[1:], len(lines)], strict=True))
    names = [_name(lines, start, min(ends[start], start + ITEM_LINES)) for start in chosen]
    if sum(1 for name in names if name) * 10 < len(names) * 8:
        return ""
    if len(chosen) == len(items):
        return ", ".join(names)
    half = ITEMS_NAMED // 2
    return f"{', '.join(names[:half])} … {', '.join(names[half:])}"


def _name(lines: Sequence[str], start: int, end: int) -> str:
    """The least indented name in an item's lines."""
    best: tuple[int, str] | None = None
    for place in range(start, end):
        match = _NAME.match(lines[place][:LINE_READ])
        if match is None:
            continue
        indent = match.start(1)
        if best is None or indent < best[0]:
            best = (indent, match.group(1)[:60])
    return best[1] if best else ""


def _trouble(lines: Sequence[str], lists: Sequence[list[int]], content: Content) -> list[Part]:
    """Values that tell trouble under keys that can, with their lines; what most of a key's values say is none."""
    text = "\n".join(lines)
    signs: dict[tuple[str, str], list[int]] = {}
    totals: Counter[str] = Counter()
    for place, key, value in _pairs(lines, text):
        category = category_of(key)
        if not category or category == "message":
            continue
        totals[key] += 1
        sign = sign_of(category, value)
        if sign:
            signs.setdefault((key, sign), []).append(place)
    kept = [
        (key, sign, places)
        for (key, sign), places in signs.items()
        if len(places) <= 5 or len(places) * 2 <= totals[key]
    ]
    kept = [item for item in kept if not is_mild(item[1]) or len(item[2]) <= 5 or len(item[2]) * 50 <= totals[item[0]]]
    kept.sort(key=lambda item: (is_mild(item[1]), len(item[2]), item[2][0]))
    shown = [_sign_line(lines, lists, key, sign, places) for key, sign, places in kept[:SIGNS]]
    return [Part(["signs of trouble:", *shown], rank=1, tokens=content.share(SIGN_TOKENS))] if shown else []


def _sign_line(lines: Sequence[str], lists: Sequence[list[int]], key: str, sign: str, places: Sequence[int]) -> str:
    again = f" ×{len(places):,}, last L{places[-1] + 1}" if len(places) > 1 else ""
    message = next((other for near in (-1, 1, -2, 2) if (other := _message(lines, places[0] + near))), "")
    names = list(dict.fromkeys(name for place in places[:NAMED] if (name := _owner(lines, lists, place))))
    told = "".join(f"; {text}" for text in (", ".join(names), message) if text)
    return f"L{places[0] + 1}: {key}{sign}{again}{told}"


def _owner(lines: Sequence[str], lists: Sequence[list[int]], place: int) -> str:
    """The name of the item of a list that a line stands in."""
    for items in lists:
        order = bisect_right(items, place) - 1
        if order >= 0 and (order + 1 < len(items) or place - items[order] < ITEM_LINES * 4):
            end = items[order + 1] if order + 1 < len(items) else len(lines)
            return _name(lines, items[order], min(end, items[order] + ITEM_LINES))
    return ""


def _message(lines: Sequence[str], place: int) -> str:
    """The text of a message that stands beside a sign."""
    line = lines[place] if 0 <= place < len(lines) else ""
    match = _PAIR.match(line[:LINE_READ])
    return match.group(2)[:120] if match and match.group(1) in ("message", "msg", "error", "detail") else ""


def _pairs(lines: Sequence[str], text: str) -> Iterator[tuple[int, str, Json]]:
    """Lines of a key that can tell trouble and a value."""
    for place in sorted(lines_with(text, line_starts(lines), _SIGN_WORDS)):
        match = _PAIR.match(lines[place][:LINE_READ])
        if match is None or not match.group(2):
            continue
        raw = match.group(2)
        number = int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 10 else None
        yield place, match.group(1), number if number is not None else _WORDS.get(raw.lower(), raw)
