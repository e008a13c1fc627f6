"""Differences of a host's file that show its structure and none of its values: every value may be a secret."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

import yaml

from slimguard.install.model import NAME, Format
from slimguard.jsonc import BYTE_ORDER_MARK, JsonSyntaxError, Node, parse

HIDDEN = "…"
DIFFERENT_LINES = 2_000
"""Above this many lines between the first and the last change only their place is said: no one reads more."""

CONTEXT_LINES = 2
"""Lines around a change; the rest of the file is nobody's business."""

_JSON_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_TOML_VALUE = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")|\'\'\'.*?\'{3,5}(?!\')|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\r\n]*'
    r"|(?<=[=\[, ])[+-]?\d[\w.:+-]*",
    re.DOTALL,
)
_TOML_OURS = re.compile(rf"^\[mcp_servers\.{NAME}\][^\n]*\n(?:(?!\[)[^\n]*(?:\n|\Z))*", re.MULTILINE)


def difference(old: str, new: str, form: Format, name: str) -> list[str]:
    """A unified diff of two texts of a host's file, values and comments hidden but for those of our own entry.

    Values are compared but never shown, so that a line whose value alone changed stands there twice alike.
    """
    if old == new:
        return []
    plain = _lines(old), _lines(new)
    shown = _lines(masked(old, form)), _lines(masked(new, form))
    first = _common(*plain)
    last = _common(plain[0][first:][::-1], plain[1][first:][::-1])
    ends = len(plain[0]) - last, len(plain[1]) - last
    before, after = plain[0][first : ends[0]], plain[1][first : ends[1]]
    lines = [f"--- {name}", f"+++ {name}"]
    if not before and not after:
        return [*lines, "@@ only line ends, or the end of the file @@"]
    if len(before) + len(after) > DIFFERENT_LINES:
        return [*lines, f"@@ lines {first + 1} to {ends[0]} became {first + 1} to {ends[1]} @@"]
    start = max(0, first - CONTEXT_LINES)
    stops = min(len(plain[0]), ends[0] + CONTEXT_LINES), min(len(plain[1]), ends[1] + CONTEXT_LINES)
    matcher = difflib.SequenceMatcher(None, plain[0][start : stops[0]], plain[1][start : stops[1]], autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        lines += _hunk([(kind, a + start, b + start, c + start, d + start) for kind, a, b, c, d in group], shown)
    return lines


def _hunk(group: list[tuple[str, int, int, int, int]], shown: tuple[list[str], list[str]]) -> Iterator[str]:
    yield f"@@ -{_span(group[0][1], group[-1][2])} +{_span(group[0][3], group[-1][4])} @@"
    for kind, a, b, c, d in group:
        if kind == "equal":
            yield from (f" {line}" for line in shown[0][a:b])
            continue
        yield from (f"-{line}" for line in shown[0][a:b])
        yield from (f"+{line}" for line in shown[1][c:d])


def _common(left: list[str], right: list[str]) -> int:
    """How many lines both begin with."""
    pairs = zip(left, right, strict=False)
    return next((index for index, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right)))


def masked(text: str, form: Format) -> str:
    """The text with the same lines and every value and comment hidden; of a broken file nothing but its lines."""
    try:
        spans = list(_spans(text, form))
    except (JsonSyntaxError, yaml.YAMLError, RecursionError):
        return re.sub(r"[^\r\n]+", HIDDEN, text)
    parts: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if start < at:
            continue
        parts += [text[at:start], _hide(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def _spans(text: str, form: Format) -> Iterator[tuple[int, int]]:
    if form == "toml":
        ours = [match.span() for match in _TOML_OURS.finditer(text)]
        for match in _TOML_VALUE.finditer(text):
            if not any(start <= match.start() < end for start, end in ours) and not _is_toml_key(text, match.end()):
                yield match.span()
        return
    if form == "yaml":
        yield from _yaml_spans(text)
        return
    if text.strip(BYTE_ORDER_MARK + " \t\r\n"):
        yield from _json_values(parse(text))
        for match in _JSON_COMMENT.finditer(text):
            if match[0].startswith("/"):
                yield match.span()


def _json_values(node: Node) -> Iterator[tuple[int, int]]:
    if node.kind in ("string", "number"):
        yield node.start, node.end
    for member in node.members:
        if member.key != NAME:
            yield from _json_values(member.node)
    for item in node.items:
        yield from _json_values(item)


def _is_toml_key(text: str, end: int) -> bool:
    return bool(re.match(r"[ \t]*[=.\]]", text[end : end + 20])) and not re.match(r"[ \t]*\][ \t]*[,#\r\n]", text[end:])


def _yaml_spans(text: str) -> Iterator[tuple[int, int]]:
    for document in yaml.compose_all(text.removeprefix(BYTE_ORDER_MARK), Loader=yaml.SafeLoader):
        yield from _yaml_values(document, 1 if text.startswith(BYTE_ORDER_MARK) else 0)
    for match in re.finditer(r"(?:^|(?<=[ \t]))#[^\r\n]*", text, re.MULTILINE):
        yield match.span()


def _yaml_values(node: yaml.Node | None, shift: int) -> Iterator[tuple[int, int]]:
    if isinstance(node, yaml.ScalarNode) and node.start_mark and node.end_mark:
        if node.end_mark.index > node.start_mark.index:
            yield node.start_mark.index + shift, node.end_mark.index + shift
    elif isinstance(node, yaml.SequenceNode):
        named = [item for item in node.value if isinstance(item, yaml.MappingNode)]
        for item in node.value:
            if not (item in named and any(value.value == NAME for _, value in item.value)):
                yield from _yaml_values(item, shift)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value != NAME:
                yield from _yaml_values(value, shift)


def _hide(text: str) -> str:
    """The hidden form of a value, with as many lines as it had."""
    if text.startswith(("//", "#")):
        return f"{'#' if text[0] == '#' else '//'} {HIDDEN}"
    kept = text[len(text.rstrip("\r\n")) :]
    body = text.rstrip("\r\n")
    quote = text[0] if text[0] in "\"'" else ""
    if "\n" not in body:
        return f"{quote}{HIDDEN}{quote}{kept}"
    return re.sub(r"[^\r\n]+", HIDDEN, body) + kept


def _lines(text: str) -> list[str]:
    """The lines of a text; only line feeds divide them, so that a text and its masked form have as many."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _span(start: int, end: int) -> str:
    return f"{start + 1},{end - start}"
