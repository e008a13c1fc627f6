"""Catalogs: authorisation by globs, and names that find exactly one tool."""

from __future__ import annotations

import re

import pytest

from slimguard.canonical import definition_digest
from slimguard.catalog import catalog_of, resolve
from slimguard.errors import RequestRejected
from slimguard.model import Tool


def tool(server: str, name: str, **more) -> Tool:
    definition = {"name": name, "inputSchema": {"type": "object"}, **more}
    return Tool(server, name, definition, definition_digest(definition))


TOOLS = (tool("github", "create_issue"), tool("github", "list"), tool("jira", "list"), tool("odd", "a/b#c"))
CATALOG = catalog_of(TOOLS)


@pytest.mark.parametrize(
    "name",
    [
        "github/create_issue",
        "create_issue",
        "Create-Issue",
        "github.create_issue",
        "mcp__github__create_issue",
        TOOLS[0].ref,
    ],
)
def test_a_name_that_means_one_tool_finds_it(name):
    assert resolve(CATALOG, name) is TOOLS[0]


def test_an_ambiguous_name_is_never_guessed():
    with pytest.raises(RequestRejected, match=r"2 tools bear the name 'list'.*github/list#.*jira/list#"):
        resolve(CATALOG, "list")
    assert resolve(CATALOG, "jira/list") is TOOLS[2]


def test_a_name_with_the_separators_of_refs_in_it_is_found():
    assert resolve(CATALOG, "odd/a/b#c") is TOOLS[3]
    assert resolve(CATALOG, TOOLS[3].ref) is TOOLS[3]


def test_a_pin_of_another_definition_is_refused_and_the_new_one_named():
    changed = catalog_of((tool("github", "create_issue", description="now different"),))
    with pytest.raises(RequestRejected, match="has changed") as caught:
        resolve(changed, TOOLS[0].ref)
    assert changed.tools[0].ref in caught.value.next_call


@pytest.mark.parametrize(
    ("allow", "deny", "expected"),
    [
        (("*",), (), 4),
        (("github/*",), (), 2),
        (("github",), (), 2),
        (("*",), ("*/list",), 2),
        (("github/create_*",), ("github/*",), 0),
        ((), (), 0),
    ],
)
def test_globs_authorise_and_a_deny_wins(allow, deny, expected):
    assert len(catalog_of(TOOLS, allow, deny).tools) == expected


def test_the_digest_ignores_what_does_not_change_what_a_tool_does():
    assert tool("s", "t", _meta={"x": 1}).digest == tool("s", "t").digest
    assert tool("s", "t", description="d").digest != tool("s", "t").digest


def test_a_tool_ref_is_pinned_by_six_digits_that_change_with_the_definition():
    one, other = tool("s", "t"), tool("s", "t", description="d")
    assert re.fullmatch(r"s/t#[0-9]{6}", one.ref)
    assert one.ref != other.ref
    with pytest.raises(RequestRejected, match="has changed since"):
        resolve(catalog_of([other]), one.ref)


@pytest.mark.parametrize("name", ["db/delete", "delete", "db/DELETE", "mcp__db__delete", "db.delete"])
def test_the_name_of_a_denied_tool_never_means_another_one_that_is_spelled_alike(name):
    catalog = catalog_of((tool("db", "delete"), tool("db", "Delete"), tool("db", "de_lete")), deny=("db/delete",))
    with pytest.raises(RequestRejected, match="no authorised tool"):
        resolve(catalog, name)


def test_a_plain_name_means_the_one_authorised_tool_that_bears_it():
    catalog = catalog_of((tool("db", "delete"), tool("cache", "delete")), deny=("db/*",))
    assert resolve(catalog, "delete").id == resolve(catalog, "Delete").id == "cache/delete"


@pytest.mark.parametrize("name", ["wiki/创建", "wiki", "wiki/", "创建", "удалит", "***", "wiki/del"])
def test_letters_of_any_script_tell_names_apart(name):
    catalog = catalog_of((tool("wiki", "删除"), tool("wiki", "удалить")))
    with pytest.raises(RequestRejected, match="no authorised tool"):
        resolve(catalog, name)
    assert resolve(catalog, "wiki.удалить").name == "удалить"
