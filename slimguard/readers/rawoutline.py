"""The outline of a result that is too large to parse: one scan over its text, which builds no values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from slimguard.document import Path, format_path
from slimguard.readers.summaries import clip
from slimguard.readers.textoutline import text_lines
from slimguard.readers.unescaping import unescaped

_PIECE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}:,]|[^\s\[\]{}:,"]++')
_PIECES_AT_MOST = 1_500_000
"""About a second; what is counted by then is called a lower bound."""
_DEPTH = 5
_SAMPLE_CHARS = 400_000
_KEYS = 30
_LONG_TEXT = 2_000


@dataclass(slots=True)
class _Open:
    """A container that is being read."""

    path: Path
    keyed: bool
    count: int = 0
    key: str | int = 0


@dataclass(slots=True)
class _Seen:
    """What was read of the containers, by path with `0` for every index."""

    counts: dict[Path, int] = field(default_factory=lambda: {})
    keyed: dict[Path, bool] = field(default_factory=lambda: {})
    keys: dict[Path, dict[str, str]] = field(default_factory=lambda: {})
    texts: list[tuple[Path, int, int]] = field(default_factory=lambda: [])
    complete: bool = False


def raw_lines(text: str) -> Iterator[str]:
    """Lines on the containers and long texts of `text`, then the outline of the beginning of its longest text."""
    seen = _scan(text)
    if not seen.counts:
        yield from text_lines(text[:_SAMPLE_CHARS])
        return
    least = "" if seen.complete else "at least "
    for path, count in seen.counts.items():
        unit = "keys" if seen.keyed[path] else "elements"
        keys = seen.keys.get(path, {})
        shown = ", ".join(f"{key} ({kind})" for key, kind in list(keys.items())[:_KEYS])
        more = f": {shown}{', …' if len(keys) > _KEYS else ''}" if shown else ""
        yield f"{_spelled(path)}: {'object' if seen.keyed[path] else 'array'}, {least}{count} {unit}{clip(more, 400)}"
    longest = sorted(seen.texts, key=lambda item: item[1] - item[2])[:5]
    for path, start, end in longest:
        lines = text.count("\\n", start, end)
        yield f"{_spelled(path)}: text of {end - start} characters as written, {lines} line ends"
    if longest:
        path, start, end = longest[0]
        sample = unescaped(text[start : min(end, start + _SAMPLE_CHARS)]).text
        yield f"the first {len(sample)} characters of {_spelled(path)}:"
        yield from text_lines(sample)


def _scan(text: str) -> _Seen:
    seen = _Seen()
    stack: list[_Open] = []
    pending = ""
    for number, match in enumerate(_PIECE.finditer(text)):
        if number >= _PIECES_AT_MOST:
            return seen
        piece = match.group() if match.end() - match.start() < _LONG_TEXT else '"'
        if piece in "[{":
            _value(stack, seen, "array" if piece == "[" else "object")
            stack.append(_Open(_path(stack), piece == "{"))
            _note(stack[-1], seen)
        elif piece in "]}":
            if not stack:
                return seen
            stack.pop()
            seen.complete = not stack
        elif piece == ":":
            if stack:
                stack[-1].key = pending[1:-1]
        elif piece != ",":
            pending = piece
            following = text[match.end() : match.end() + 1]
            if stack and stack[-1].keyed and following == ":":
                continue
            _value(stack, seen, "text" if piece.startswith('"') else "value")
            if piece == '"':
                seen.texts.append((_path(stack), match.start() + 1, match.end() - 1))
                seen.texts = seen.texts if len(seen.texts) < 200 else sorted(seen.texts, key=lambda t: t[1] - t[2])[:50]
    return seen


def _path(stack: list[_Open]) -> Path:
    """The path of the value that comes next, all indexes as 0 so that like things are counted together."""
    if not stack:
        return ()
    if len(stack[-1].path) > _DEPTH:
        return stack[-1].path  # deeper ones are not told apart, and a path must not grow with the nesting
    return (*stack[-1].path, stack[-1].key if stack[-1].keyed else 0)


def _value(stack: list[_Open], seen: _Seen, kind: str) -> None:
    if not stack:
        return
    here = stack[-1]
    here.count += 1
    if len(here.path) > _DEPTH or here.path not in seen.counts:
        return
    seen.counts[here.path] = max(seen.counts[here.path], here.count)
    if here.keyed and len(seen.keys.setdefault(here.path, {})) <= _KEYS:
        seen.keys[here.path].setdefault(str(here.key), kind)


def _note(opened: _Open, seen: _Seen) -> None:
    if len(opened.path) <= _DEPTH and len(seen.counts) < 60:
        seen.counts.setdefault(opened.path, 0)
        seen.keyed.setdefault(opened.path, opened.keyed)


def _spelled(path: Path) -> str:
    return format_path(path).replace("[0]", "[]")
