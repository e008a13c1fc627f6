"""What a host's file is to become: pure text to text, for every host and format, checked by reading the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, cast

from slimguard.install import jsonc_edit, toml_edit, yaml_edit
from slimguard.install.model import NAME, Entry, Host, HostFile, HostFileRefused, Imported, Machine, Where
from slimguard.jsonc import list_of, object_of
from slimguard.model import Json


def plan(host: Host, file: HostFile, text: str, entry: Entry, *, remove: Sequence[str] = ()) -> str:
    """The file's new text: `entry` under our name, the servers in `remove` taken out, every other byte as it was.

    `text` is empty for a file that does not exist. Raises `HostFileRefused` when the file is not what the host
    documents, or when the result, read again, holds anything else than what was meant.
    """
    before = read(file, text)
    where = host.locate(before, file.where)
    value = host.entry_at(entry, where) if host.entry_at else host.entry(entry)
    gone = [name for name in dict.fromkeys(remove) if name != NAME]
    expected = _expected(before, where, value, gone, listed=file.listed)
    if same(before, expected):
        return text
    after = _edit(file, text, where, value, gone)
    if not same(read(file, after), expected):
        raise HostFileRefused("the edit would change more than the entry; add it by hand")
    return after


def read(file: HostFile, text: str) -> Json:
    """The file's value, None when it is empty; raises `HostFileRefused` when it cannot be read."""
    if file.format == "toml":
        return toml_edit.read(text)
    return yaml_edit.read(text) if file.format == "yaml" else jsonc_edit.read(text)


def servers(host: Host, file: HostFile, text: str, machine: Machine) -> list[Imported]:
    """The servers in the file, in its order, in the words of `slimguard.json`."""
    value = read(file, text)
    found: list[Imported] = []
    for name, raw in _entries(value, host.locate(value, file.where), listed=file.listed):
        one = host.read(name, raw, machine)
        found.append(replace(one, host=host.name, path=str(file.path)))
    return found


def has_entry(host: Host, file: HostFile, text: str) -> bool:
    """Whether the file holds an entry under our name."""
    value = read(file, text)
    return any(name == NAME for name, _ in _entries(value, host.locate(value, file.where), listed=file.listed))


def same(left: Json, right: Json) -> bool:
    """Whether two parsed files say the same, dates and not-a-numbers included; the order of keys does not count."""
    return _plain(left) == _plain(right)


def _plain(value: Json) -> Json:
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {f"{type(key).__name__}:{key}": _plain(item) for key, item in items}
    if isinstance(value, list):
        return [_plain(item) for item in list_of(value)]
    return f"{type(value).__name__}:{value}"


def _edit(file: HostFile, text: str, where: Where, value: Mapping[str, Json], gone: Sequence[str]) -> str:
    if file.format == "toml":
        text = toml_edit.set_table(text, (*where, NAME), value)
        for name in gone:
            text = toml_edit.remove_table(text, (*where, name))
        return text
    if file.format == "yaml":
        text = yaml_edit.add_entry(text, where[0], NAME, value, listed=file.listed)
        for name in gone:
            text = yaml_edit.remove_entry(text, where[0], name, listed=file.listed)
        return text
    text = jsonc_edit.set_member(text, (*where, NAME), value)
    for name in gone:
        text = jsonc_edit.remove_member(text, (*where, name))
    return text


def _expected(before: Json, where: Where, value: Mapping[str, Json], gone: Sequence[str], *, listed: bool) -> Json:
    """The parsed file as it is to be."""
    root: Any = deepcopy(before) if before is not None else {}
    parent: Any = root
    for key in where[:-1] if listed else where:
        parent = _below(parent, key, {})
    if listed:
        items: list[Any] = _below(parent, where[-1], [])
        kept = [item for item in items if _name_of(item) not in (NAME, *gone)]
        parent[where[-1]] = [*kept, {"name": NAME, **value}]
        return root
    parent[NAME] = dict(value)
    for name in gone:
        parent.pop(name, None)
    return root


def _below(parent: Any, key: str, empty: Any) -> Any:
    if not isinstance(parent, dict):
        raise HostFileRefused("the file is not an object")
    mapping = cast("dict[str, Any]", parent)
    if mapping.get(key) is None:
        mapping[key] = empty
    if not isinstance(mapping[key], type(empty)):
        raise HostFileRefused(f"{key} is not what the host documents")
    return mapping[key]


def _name_of(item: Json) -> Json:
    return object_of(item).get("name")


def _entries(value: Json, where: Where, *, listed: bool) -> list[tuple[str, Mapping[str, Json]]]:
    """The named servers at `where`; entries that are no objects are passed over."""
    for key in where:
        value = object_of(value).get(key)
    if listed:
        pairs = [(_name_of(item), item) for item in list_of(value)]
        return [(name, item) for name, item in pairs if isinstance(name, str)]
    return [(name, item) for name, item in object_of(value).items() if isinstance(item, dict)]
