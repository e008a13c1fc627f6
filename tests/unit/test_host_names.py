"""Names towards hosts: which profile a client is, and the names of tools in native mode."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types import ListToolsResult

from slimguard import policy
from slimguard.host.native import native_names, native_surface
from slimguard.host.profiles import profile_of
from slimguard.host.surface import own_tool
from slimguard.model import Tool


def tool(server: str, name: str, **more: object) -> Tool:
    definition = {"name": name, "inputSchema": {"type": "object"}, **more}
    return Tool(server=server, name=name, definition=definition, digest="0" * 64)


@pytest.mark.parametrize(
    ("client", "profile"),
    [
        ("claude-code", "claude-code"),
        ("Claude Code", "claude-code"),
        ("claude-ai", "claude-desktop"),
        ("codex-mcp-client", "codex"),
        ("Visual Studio Code", "vscode"),
        ("cursor-vscode", "cursor"),
        ("gemini-cli-mcp-client", "gemini-cli"),
        ("Cline", "cline"),
        ("somebody", "default"),
        ("", "default"),
    ],
)
def test_a_client_is_known_by_its_name(client: str, profile: str) -> None:
    assert profile_of(client) == profile
    assert profile in policy.HOSTS


def test_a_unique_legal_name_stays() -> None:
    assert list(native_names([tool("a", "read"), tool("b", "write")])) == ["read", "write"]


def test_the_same_name_twice_gets_the_server_before_it() -> None:
    assert list(native_names([tool("a", "read"), tool("b", "read")])) == ["a_read", "b_read"]


def test_no_tool_takes_the_name_of_ours() -> None:
    names = native_names([tool("a", "read_result")])
    assert list(names) == ["a_read_result"]


SERVERS = st.text(alphabet="ab._-", min_size=1, max_size=8)
NAMES = st.text(min_size=1, max_size=80)


@given(st.lists(st.tuples(SERVERS, NAMES), unique=True, max_size=12))
@settings(max_examples=80)
def test_names_are_legal_unique_stable_and_lose_no_tool(pairs: list[tuple[str, str]]) -> None:
    tools = [tool(server, name) for server, name in pairs]
    names = native_names(tools)
    assert sorted(found.id for found in names.values()) == sorted(one.id for one in tools)
    assert all(re.fullmatch(rf"[A-Za-z0-9_-]{{1,{policy.NATIVE_NAME_CHARS}}}", name) for name in names)
    assert "read_result" not in names
    assert native_names(tools) == names


def test_a_definition_keeps_what_matters_and_leaves_the_output_schema_out() -> None:
    given_tool = tool("a", "read it", title="T", description="D", annotations={"readOnlyHint": True}, outputSchema={})
    first, last = native_surface([given_tool]).definitions
    assert first == {
        "name": "a_read_it",
        "title": "T",
        "description": "a/read it: D",
        "annotations": {"readOnlyHint": True},
        "inputSchema": {"type": "object"},
    }
    assert last["name"] == "read_result"


def test_a_schema_that_is_none_demands_an_object_only() -> None:
    (first, _) = native_surface([tool("a", "read", inputSchema=True)]).definitions
    assert first["inputSchema"] == {"type": "object"}


@pytest.mark.parametrize(
    "name",
    [
        "find_tool",
        "mcp__slimguard__find_tool",
        "mcp__my_tools__find_tool",
        "slimguard_find_tool",
        "mcp_slimguard_find_tool",
        "slimguard.find_tool",
        "x/find_tool",
        "x:find_tool",
    ],
)
def test_a_name_with_a_hosts_prefix_is_ours(name: str) -> None:
    assert own_tool(name, {"shop"}) == "find_tool"


@pytest.mark.parametrize("name", ["my_find_tool", "find_tools", "FIND_TOOL", "slimguard_", "__find_tool\n", ""])
def test_any_other_name_stays(name: str) -> None:
    assert own_tool(name, {"shop"}) == name


@pytest.mark.parametrize("name", ["shop/call_tool", "shop__call_tool", "mcp__shop__call_tool", "shop.call_tool"])
def test_a_tool_of_a_server_behind_us_is_never_taken_for_ours(name: str) -> None:
    assert own_tool(name, {"shop"}) == name


@pytest.mark.parametrize(
    "definition",
    [
        {"title": 5, "description": None, "annotations": "x"},
        {"description": "half \ud800, hidden \u202e\u200b, bell \x07", "annotations": {"readOnlyHint": "yes"}},
        {"inputSchema": {"type": "object", "properties": {"a": {"maximum": float("inf")}}}},
        {"inputSchema": {"type": "object", "properties": {"a": {"description": "\ud800"}}}},
        {"inputSchema": {"type": "object", "properties": {"a": True, "b": False}}},
        {"inputSchema": {"type": "object", "properties": [1]}},
        {"inputSchema": {"type": "object", "properties": {"a": 5}}},
        {"inputSchema": {"type": "object", "required": "a"}},
    ],
)
def test_no_definition_of_a_server_makes_the_native_list_unreadable(definition: dict[str, object]) -> None:
    listed, _ = native_surface([tool("srv", "odd", **definition)]).definitions
    text = json.dumps(listed, ensure_ascii=False, allow_nan=False)
    text.encode("utf-8")
    read = ListToolsResult.model_validate({"tools": [json.loads(text)]}).tools[0]
    assert all(isinstance(item, dict) for item in read.input_schema.get("properties", {}).values())
    assert not set("\u202e\u200b\x07") & set(read.description or "")
