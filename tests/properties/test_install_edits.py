"""Edits of a host's file, on generated files: the value is what was meant, and undoing the text is never needed."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from slimguard.install import jsonc_edit, toml_edit
from slimguard.install.hosts import HOSTS
from slimguard.install.masking import masked
from slimguard.install.model import Entry, HostFileRefused, Machine
from slimguard.install.planning import plan, read, same
from slimguard.jsonc import JsonSyntaxError, duplicates, loads, parse, value_of

MACHINE = Machine("linux", {"HOME": "/h"}, PurePosixPath("/p"))
ENTRY = Entry("/bin/slimguard", ("serve", 'q"uo\\te', "ü\u2028"), ("TOKEN",))
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
GAPS = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", ' // note {"\n', "/* , } */", "\n\n"])


@st.composite
def jsonc(draw: st.DrawFn, value: object) -> str:
    """A text of `value` with white space, comments and trailing commas in random places."""

    def gap() -> str:
        return draw(GAPS)

    def write(item: object) -> str:
        if isinstance(item, dict):
            parts = [f"{gap()}{json.dumps(key)}{gap()}:{gap()}{write(one)}{gap()}" for key, one in item.items()]
            return "{" + ",".join(parts) + ("," if parts and draw(st.booleans()) else "") + gap() + "}"
        if isinstance(item, list):
            parts = [f"{gap()}{write(one)}{gap()}" for one in item]
            return "[" + ",".join(parts) + ("," if parts and draw(st.booleans()) else "") + gap() + "]"
        return json.dumps(item, ensure_ascii=draw(st.booleans()))

    return draw(st.sampled_from(["", "\ufeff"])) + gap() + write(value) + gap()


DOCUMENTS = st.fixed_dictionaries(
    {"before": VALUES, "mcpServers": st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=2), max_size=4)},
    optional={"after": VALUES},
)


@settings(max_examples=40, deadline=None)
@given(st.data(), DOCUMENTS)
def test_a_text_with_comments_reads_as_the_value_it_was_made_of(data: st.DataObject, value: dict[str, object]) -> None:
    assert loads(data.draw(jsonc(value))) == value


@settings(max_examples=80, deadline=None)
@given(st.data(), DOCUMENTS)
def test_setting_and_removing_members_gives_the_value_meant(data: st.DataObject, value: dict[str, object]) -> None:
    text = data.draw(jsonc(value))
    servers = value["mcpServers"]
    assert isinstance(servers, dict)
    gone = data.draw(st.sets(st.sampled_from(sorted(servers)))) if servers else set()
    for name in gone:
        text = jsonc_edit.remove_member(text, ("mcpServers", name))
    text = jsonc_edit.set_member(text, ("mcpServers", "slimguard"), {"command": "x"})
    kept = {name: item for name, item in servers.items() if name not in gone}
    assert loads(text) == {**value, "mcpServers": {**kept, "slimguard": {"command": "x"}}}
    assert not list(duplicates(parse(text)))


@settings(max_examples=40, deadline=None)
@given(st.data(), DOCUMENTS)
def test_taking_our_entry_out_again_leaves_the_value_as_it_was(data: st.DataObject, value: dict[str, object]) -> None:
    text = data.draw(jsonc(value))
    if "slimguard" in value["mcpServers"]:  # type: ignore[operator]
        return
    edited = jsonc_edit.set_member(text, ("mcpServers", "slimguard"), {"command": "x", "args": []})
    assert loads(jsonc_edit.remove_member(edited, ("mcpServers", "slimguard"))) == value


@settings(max_examples=40, deadline=None)
@given(st.text(st.sampled_from('{}[]":, \n\r/*\\a1-.eEtrufalsn\ufeff'), max_size=30))
def test_any_text_parses_or_is_an_error_with_a_place(text: str) -> None:
    try:
        value_of(parse(text))
    except JsonSyntaxError as error:
        place = (error.line, error.column)
    else:
        place = (1, 1)
    assert 1 <= place[0] <= text.count("\n") + 1
    assert place[1] >= 1


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(NAMES, st.dictionaries(st.sampled_from(["command", "env"]), st.text(max_size=9)), max_size=4))
def test_toml_tables_of_any_name_are_added_and_removed(servers: dict[str, dict[str, str]]) -> None:
    servers.pop("slimguard", None)
    text = "top = 1\n\n"
    for name, table in servers.items():
        text = toml_edit.set_table(text, ("mcp_servers", name), table)
    assert toml_edit.read(text).get("mcp_servers", {}) == servers
    for name in servers:
        text = toml_edit.remove_table(text, ("mcp_servers", name))
    assert toml_edit.read(text) == {"top": 1}


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(NAMES, VALUES, max_size=3), st.sampled_from(["goose", "continue"]), st.booleans())
def test_a_yaml_file_is_edited_as_meant_or_refused(value: dict[str, object], name: str, flow: bool) -> None:
    host = HOSTS[name]
    file = next(file for file in host.files(MACHINE) if file.format == "yaml")
    value.pop(file.where[0], None)
    text = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, default_flow_style=flow)
    try:
        after = plan(host, file, text, ENTRY)
    except HostFileRefused:
        return
    found = read(file, after)
    found.pop(file.where[0])
    assert same(found, read(file, text) or {})
    assert masked(after, "yaml").count("\n") == after.count("\n")
