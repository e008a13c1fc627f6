"""The main job over real pipes: find, call once, read the rest; against a server that counts what it executed."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from slimguard.tokens import Tokens


def wire(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_the_host_sees_three_tools_for_at_most_270_tokens(guard, helpers):
    host = guard()
    listed = host.request("tools/list")
    assert [tool["name"] for tool in listed["tools"]] == ["find_tool", "call_tool", "read_result"]
    assert Tokens().count(wire({"tools": listed["tools"]})) <= 270
    assert all("outputSchema" not in tool for tool in listed["tools"])
    hints = {tool["name"]: tool.get("annotations", {}) for tool in listed["tools"]}
    assert hints["find_tool"]["readOnlyHint"] and hints["read_result"]["idempotentHint"]
    assert not hints["call_tool"].get("readOnlyHint")


def test_claude_code_is_told_to_load_the_tools_always_and_others_are_not(bench):
    bench.counting()
    marked = bench.host(name="claude-code").request("tools/list")["tools"]
    plain = bench.host(name="cursor-vscode").request("tools/list")["tools"]
    assert all(tool["_meta"] == {"anthropic/alwaysLoad": True} for tool in marked)
    assert not any("_meta" in tool for tool in plain)


def test_find_returns_the_exact_schema_and_a_pinned_ref(guard, helpers):
    host = guard()
    text = helpers.text_of(host.call("find_tool", {"query": "write a row to the ledger"}))
    found = re.search(r"tool_ref: (count/record#[0-9]{6})", text)
    assert found, text
    line = next(line for line in text.splitlines() if line.startswith("{"))
    assert json.loads(line)["properties"]["code"] == {
        "type": "string",
        "pattern": "^[A-Z]{3}$",
    }
    assert "recorded hello" in helpers.text_of(host.tool(found[1], {"text": "hello"}))


def test_a_small_result_is_delivered_exactly_and_without_a_ref(guard, bench, helpers):
    host = guard()
    result = host.tool("count/record", {"text": "one"})
    assert result == {"content": [{"type": "text", "text": "recorded one"}]}
    assert len(bench.calls("record")) == 1


@pytest.mark.parametrize(
    ("arguments", "path", "rule"),
    [
        ({}, "arguments", "required"),
        ({"text": 5}, "arguments.text", "type"),
        ({"text": "a", "count": "many"}, "arguments.count", "type"),
        ({"text": "a", "count": 0}, "arguments.count", "minimum"),
        ({"text": "a", "colour": "blue-secret"}, "arguments.colour", "enum"),
        ({"text": "a", "code": "abc-secret"}, "arguments.code", "pattern"),
        ({"text": "a", "surplus": 1}, "arguments", "additionalProperties"),
        ({"text": "a", "nested": {}}, "arguments.nested", "required"),
        ({"text": "a", "nested": {"deep": "secret"}}, "arguments.nested.deep", "type"),
        (["text"], "arguments", "type"),
    ],
)
def test_arguments_that_break_the_schema_never_reach_the_server(guard, bench, helpers, arguments, path, rule):
    host = guard()
    result = host.call("call_tool", {"tool_ref": "count/record", "arguments": arguments})
    text = helpers.text_of(result)
    assert result["isError"] is True
    assert f"{path}: {rule}:" in text
    assert "tool ran: no" in text
    assert "secret" not in text
    assert bench.calls() == []


@pytest.mark.parametrize(
    "request_",
    [
        {"tool_ref": "count/record", "arguments": '{"text":"x"}'},
        {"tool_ref": "count/record", "text": "x"},
        {"arguments": {"tool_ref": "count/record", "arguments": {"text": "x"}}},
        {"tool_ref": "count/record", "arguments": {"arguments": {"text": "x"}}},
        {"tool_ref": "record", "arguments": {"text": "x"}},
        {"tool_ref": "mcp__count__record", "arguments": {"text": "x"}},
        {"name": "record", "arguments": {"text": "x"}},
    ],
)
def test_the_one_valid_reading_of_a_misplaced_request_is_sent_once(guard, bench, helpers, request_):
    host = guard()
    result = host.call("call_tool", request_)
    assert helpers.text_of(result) == "recorded x"
    assert bench.calls() == [{"name": "record", "arguments": {"text": "x"}}]


def test_an_argument_of_the_name_query_goes_to_the_tool_that_has_one(guard, bench, helpers):
    host = guard()
    host.call("call_tool", {"tool_ref": "query_taker", "query": "q"})
    assert bench.calls("query_taker")[0]["arguments"] == {"query": "q"}


def test_a_large_result_comes_as_a_view_and_reads_back_byte_for_byte(guard, bench, helpers):
    host = guard()
    result = host.tool("count/big", {"lines": 20_000})
    text = helpers.text_of(result)
    first, last = text.splitlines()[0], text.splitlines()[-1]
    ref = helpers.ref_of(result)
    assert f"result_ref={ref}" in first and f"result_ref={ref}" in last
    assert len(text.encode()) <= 8_000 and text.count("\n") < 200
    assert Tokens().count(text) <= 2_000
    expected = "".join(f"line {i} of the text, with some words to fill it\n" for i in range(20_000))
    assert "".join(host.pages(ref)) == expected
    raw = "".join(host.pages(ref, "raw:"))
    assert json.loads(raw) == {"content": [{"type": "text", "text": expected}]}
    assert len(bench.calls()) == 1


def test_a_restart_keeps_results_and_the_catalog(bench, helpers):
    bench.counting(START_SLEEP="${SLEEP:-0}")
    host = bench.host()
    ref = helpers.ref_of(host.tool("count/table", {"rows": 3_000}))
    raw = "".join(host.pages(ref, "raw:"))
    host.close()
    bench.environment["SLEEP"] = "30"
    again = bench.host()
    assert "tool_ref: count/table#" in helpers.text_of(again.call("find_tool", {"query": "count/table"}))
    assert "".join(again.pages(ref, "raw:")) == raw
    assert ref in helpers.text_of(again.read())
    assert len(bench.calls()) == 1


def test_a_query_with_the_call_answers_in_one_round_trip(guard, bench, helpers):
    host = guard()
    result = host.tool("count/table", {"rows": 3_000}, result_query="sql:SELECT count(*) FROM rows")
    assert "3000" in helpers.text_of(result)
    wrong = host.tool("count/table", {"rows": 3_000}, result_query="sql:SELECT nothing FROM nowhere")
    assert "result_query failed" in helpers.text_of(wrong)
    assert "tool ran: yes" in helpers.text_of(wrong)
    assert len(helpers.text_of(wrong).encode()) <= 8_000
    assert Tokens().count(helpers.text_of(wrong)) <= 2_000
    assert helpers.ref_of(wrong)
    assert len(bench.calls()) == 2


def test_an_error_of_the_tool_stays_an_error(guard, helpers):
    host = guard()
    assert host.tool("count/tool_error") == {
        "content": [{"type": "text", "text": "it did not work: disk is full"}],
        "isError": True,
    }
    broken = host.tool("count/fail")
    assert broken["isError"] is True
    assert "it broke" in helpers.text_of(broken) and "tool ran: " in helpers.text_of(broken)


def test_a_mirror_is_delivered_once_and_an_image_is_passed_on(guard, helpers):
    host = guard()
    mirrored = host.tool("count/structured")
    assert json.loads(helpers.text_of(mirrored)) == {"a": 1, "b": [1.0, "x"]}
    assert "structuredContent" not in mirrored
    assert [block["type"] for block in host.tool("count/image")["content"]] == ["text", "image"]


def test_refs_are_told_apart_in_the_fixed_words(guard, helpers):
    host = guard()
    malformed = host.read("r0000000000000x")
    missing = host.read("rabcdefgh1234" + "00")
    for result, word in ((malformed, "malformed"), (missing, "malformed")):
        assert result["isError"] is True and word in helpers.text_of(result)
        assert "tool ran: no" in helpers.text_of(result)


def test_an_unknown_tool_is_an_error_with_a_next_call_that_runs(guard, bench, helpers):
    host = guard()
    text = helpers.text_of(host.tool("count/recrod", {"text": "x"}))
    assert "tool ran: no" in text and "find_tool(query=" in text
    query = re.search(r'find_tool\(query="([^"]+)"\)', text)
    assert query and "count/record" in helpers.text_of(host.call("find_tool", {"query": query[1]}))
    assert bench.calls() == []


def test_a_stale_definition_is_refused_before_anything_is_sent(guard, bench, helpers):
    host = guard()
    text = helpers.text_of(host.tool("count/record#000000", {"text": "x"}))
    assert "has changed" in text and "tool ran: no" in text
    assert bench.calls() == []


def test_denied_tools_cannot_be_found_or_called(bench, helpers):
    bench.counting()
    bench.section["tools"] = {"deny": ["count/record"]}
    host = bench.host()
    assert "count/record" not in helpers.text_of(host.call("find_tool", {"query": "record"}))
    assert "tool ran: no" in helpers.text_of(host.tool("count/record", {"text": "x"}))
    assert bench.calls() == []


def test_a_tool_that_a_server_adds_later_is_found(guard, helpers):
    host = guard()
    host.tool("count/grow")
    helpers.eventually(lambda: "count/extra#" in helpers.text_of(host.call("find_tool", {"query": "count/extra"})))


def test_progress_reaches_the_host_that_gave_a_token(guard):
    host = guard()
    host.call("call_tool", {"tool_ref": "count/progress", "arguments": {}}, _meta={"progressToken": "p"})
    progress = [m["params"] for m in host.notifications if m["method"] == "notifications/progress"]
    assert [p["progress"] for p in progress] == [1, 2, 3]
    assert {p["progressToken"] for p in progress} == {"p"}


def test_instructions_of_a_server_are_given_once_a_session(guard, helpers):
    host = guard()
    first = helpers.text_of(host.call("find_tool", {"query": "count/record"}))
    second = helpers.text_of(host.call("find_tool", {"query": "count/record"}))
    assert "Count on it." in first and "Count on it." not in second


def test_two_results_are_compared_and_joined(guard, helpers):
    host = guard()
    first = helpers.ref_of(host.tool("count/table", {"rows": 3_000}))
    second = helpers.ref_of(host.tool("count/table", {"rows": 3_001}))
    assert "3000" in helpers.text_of(host.read(first, f"diff:{second}"))
    joined = helpers.text_of(host.read(f"{first}+{second}", "sql:SELECT _ref, count(*) FROM rows GROUP BY _ref"))
    assert first in joined and second in joined and "3001" in joined


def test_a_prefix_that_the_host_left_on_our_names_is_no_matter(guard, bench, helpers):
    host = guard()
    assert "count/record#" in helpers.text_of(host.call("mcp__slimguard__find_tool", {"query": "count/record"}))
    call = {"tool_ref": "count/record", "arguments": {"text": "x"}}
    assert host.call("slimguard_call_tool", call) == {"content": [{"type": "text", "text": "recorded x"}]}
    assert not host.call("slimguard.read_result").get("isError")
    foreign = host.call("count__call_tool", call)
    assert foreign["isError"] and "tool ran: no" in helpers.text_of(foreign)
    assert [item["name"] for item in bench.calls()] == ["record"]
