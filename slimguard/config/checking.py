"""Check a parsed configuration against the table of keys; finds all problems at once and quotes no value that may be
secret."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slimguard.config.keys import BY_PATH, IGNORED, KEYS, REFUSED, SERVER, Key, Path, children, dotted
from slimguard.jsonc import Node, duplicates, value_of
from slimguard.model import Json

NEAR = 70.0
"""Likeness, of 100, from which a known key is offered as what was meant."""

_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_SERVER_NAME = re.compile(r"[A-Za-z0-9._-]+")
_COMMENT_KEY = re.compile(r"_|//|\$comment$")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong at an offset of the text: the JSON path, what it is and what would be right."""

    offset: int
    path: Path
    message: str


def json_path(path: Sequence[str]) -> str:
    """`$.a.b[0]["c d"]`: how a place is named in messages."""
    text = "$"
    for part in path:
        if part.isdecimal():
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{part}"
        else:
            text += f"[{_shown(part)}]"
    return text


def nearest(word: str, known: Sequence[str], at_least: float = NEAR) -> str | None:
    """The known word that `word` was probably meant to be, or None when none is alike."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only a wrong file pays for it

    found = process.extractOne(word.casefold(), known, scorer=fuzz.ratio, processor=str.casefold, score_cutoff=at_least)
    return found[0] if found else None


def unknown(kind: str, word: str, known: Sequence[str], elsewhere: Sequence[str] = ()) -> str:
    """`unknown key "tokns"; did you mean "tokens"? Known here: …`; `elsewhere` are the places that do know it."""
    near = nearest(word, known)
    if near is None and elsewhere:
        hint = f"it belongs at {' or '.join(elsewhere)}."
    elif near is not None:
        hint = f'did you mean "{near}"?'
    else:
        closest = nearest(word, known, 0.0)
        hint = f'the nearest known one is "{closest}".' if closest else "none is known here."
    listed = f" Known here: {', '.join(known)}" if known else ""
    return f"unknown {kind} {_shown(word)}; {hint}{listed}"


def problems(root: Node) -> list[Problem]:
    """Everything that is wrong with the shape of the file, in its order."""
    doubled = [
        Problem(later.start, path, "appears twice; keep one of them") for path, _first, later in duplicates(root)
    ]
    return sorted([*doubled, *_check(root, (), ())], key=lambda problem: problem.offset)


def ignored(root: Node) -> list[str]:
    """Notes on the keys of hosts in server entries that change nothing here."""
    servers = root.get("mcpServers")
    return [
        f"{json_path(('mcpServers', server.key, entry.key))} is not used: {IGNORED[entry.key]}"
        for server in (servers.members if servers else ())
        for entry in server.node.members
        if entry.key in IGNORED
    ]


def _check(node: Node, place: Path, path: Path) -> Iterator[Problem]:
    """Problems at and under one value; `place` is its path in the table, `path` its path in the file."""
    key = BY_PATH[place]
    wrong = _wrong_type(key, node)
    if wrong:
        yield Problem(node.start, path, wrong)
        return
    if key.type == "map":
        for member in node.members:
            yield from _name(place, path, member.key, member.start)
            yield from _check(member.node, (*place, "*"), (*path, member.key))
    if key.type == "object":
        yield from _members(node, place, path)


def _members(node: Node, place: Path, path: Path) -> Iterator[Problem]:
    known = [key.path[-1] for key in children(place)]
    for member in node.members:
        here = (*path, member.key)
        if member.key in known:
            yield from _check(member.node, (*place, member.key), here)
        elif _COMMENT_KEY.match(member.key) or (place == SERVER and member.key in IGNORED):
            continue
        elif place == SERVER and member.key in REFUSED:
            yield Problem(member.start, here, f"not a key of slimguard; {REFUSED[member.key]}")
        elif place == () and member.key == "servers":
            yield Problem(
                member.start,
                here,
                'unknown key "servers"; did you mean "mcpServers"? Known here: $schema, mcpServers, slimguard',
            )
        else:
            yield Problem(member.start, here, unknown("key", member.key, known, _elsewhere(member.key)))


def _elsewhere(word: str) -> list[str]:
    """Where in the file a key of this name does belong, at most two places."""
    return [dotted(key.path) for key in KEYS if key.path and key.path[-1] == word][:2]


def _name(place: Path, path: Path, name: str, offset: int) -> Iterator[Problem]:
    if place != ("mcpServers",) or _SERVER_NAME.fullmatch(name):
        return
    better = suggested_name(name)
    yield Problem(
        offset,
        (*path, name),
        f'a server\'s name has letters, digits, ".", "_" and "-" only, since it is part of every tool_ref; '
        f'name it "{better}"',
    )


def suggested_name(name: str) -> str:
    """A server name made of allowed characters that still reads like `name`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-") or "server"


def _wrong_type(key: Key, node: Node) -> str:
    """What is wrong with the type or range of a value, or nothing; never quotes the value itself."""
    value = value_of(node) if node.kind not in ("object", "array") else None
    match key.type:
        case "object" | "map":
            return "" if node.kind == "object" else f"must be an object, not {_kind(node)}"
        case "strings":
            return _wrong_strings(node)
        case "texts":
            return _wrong_texts(node)
        case "boolean":
            return "" if isinstance(value, bool) else f"must be true or false, not {_kind(node)}"
        case "string":
            return _wrong_string(key, node)
        case "integer" | "number":
            return _wrong_number(key, node, value)
        case "view":
            return _wrong_view(node)


def _wrong_string(key: Key, node: Node) -> str:
    if node.kind != "string":
        return f"must be a string, not {_kind(node)}"
    if _unwritable(node.value):
        return "holds a NUL character or half of a surrogate pair"
    if key.choices and node.value not in key.choices:
        near = nearest(node.value, key.choices)
        meant = f'; did you mean "{near}"?' if near else ""
        return f"must be one of {', '.join(key.choices)}{meant}"
    return ""


def _wrong_number(key: Key, node: Node, value: Json) -> str:
    whole = key.type == "integer"
    wanted = "a whole number" if whole else "a number"
    if node.kind != "number" or (whole and not (isinstance(value, int) or value == int(value))):
        return f"must be {wanted}, not {_kind(node) if node.kind != 'number' else 'a fraction'}"
    if key.minimum is not None and value < key.minimum:
        return f"must be {wanted} of at least {key.minimum:g}"
    if key.above is not None and value <= key.above:
        return f"must be {wanted} above {key.above:g}"
    return "is too large" if value > 1e15 else ""


def _wrong_strings(node: Node) -> str:
    if node.kind != "array":
        return f"must be a list of strings, not {_kind(node)}"
    for index, item in enumerate(node.items):
        if item.kind != "string":
            return f"must be a list of strings; item {index} is {_kind(item)}"
        if _unwritable(item.value):
            return f"item {index} holds a NUL character or half of a surrogate pair"
    return ""


def _wrong_texts(node: Node) -> str:
    if node.kind != "object":
        return f"must be an object of strings, not {_kind(node)}"
    for member in node.members:
        if member.node.kind != "string":
            return f"the value of {_shown(member.key)} must be a string in quotes, not {_kind(member.node)}"
        if _unwritable(member.node.value):
            return f"the value of {_shown(member.key)} holds a NUL character or half of a surrogate pair"
        if not member.key or "=" in member.key or _unwritable(member.key):
            return "a name must not be empty or hold = or NUL"
    return ""


def _wrong_view(node: Node) -> str:
    right = 'must be "auto", "exact" or {"select": "a JMESPath expression"}'
    if node.kind == "string":
        return "" if node.value in ("auto", "exact") else right
    select = node.member("select")
    if node.kind != "object" or len(node.members) != 1 or select is None or select.node.kind != "string":
        return right
    import jmespath  # noqa: PLC0415 - only a file with a projection pays for it
    from jmespath.exceptions import JMESPathError  # noqa: PLC0415

    try:
        jmespath.compile(select.node.value)
    except JMESPathError:
        return f"{right}; this one is not valid JMESPath"
    return ""


def _kind(node: Node) -> str:
    names = {"object": "an object", "array": "a list", "string": "a string", "number": "a number"}
    if node.kind == "literal":
        return "null" if node.value is None else "true or false"
    return names[node.kind]


def _unwritable(text: str) -> bool:
    return "\0" in text or any("\ud800" <= char <= "\udfff" for char in text)


def _shown(word: str) -> str:
    short = word if len(word) <= 60 else word[:59] + "…"
    return '"' + "".join(char if char.isprintable() else "\ufffd" for char in short) + '"'
