"""Native mode: the host sees the tools themselves, and every promise holds."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def test_the_host_sees_the_authorised_tools_and_read_result(bench, helpers):
    bench.counting()
    bench.section["tools"] = {"deny": ["count/die"]}
    host = bench.host("--mode", "native")
    tools = {tool["name"]: tool for tool in host.request("tools/list")["tools"]}
    assert {"record", "big", "read_result"} <= tools.keys()
    assert "die" not in tools and "find_tool" not in tools
    assert tools["record"]["inputSchema"]["properties"]["code"] == {"type": "string", "pattern": "^[A-Z]{3}$"}
    assert tools["read_rows"]["annotations"] == {"readOnlyHint": True}
    assert all("outputSchema" not in tool for tool in tools.values())


def test_a_tool_is_called_by_its_own_name_once_and_a_large_result_is_a_view(bench, helpers):
    bench.counting()
    host = bench.host("--mode", "native")
    host.request("tools/list")
    assert host.call("record", {"text": "x"}) == {"content": [{"type": "text", "text": "recorded x"}]}
    wrong = host.call("record", {"text": 5})
    assert wrong["isError"] and "arguments.text: type:" in helpers.text_of(wrong)
    ref = helpers.ref_of(host.call("big", {"lines": 5_000}))
    assert "".join(host.pages(ref)).startswith("line 0 of the text")
    assert host.call("mcp__slimguard__read_result", {"result_ref": ref}) == host.read(ref)
    assert [item["name"] for item in bench.calls()] == ["record", "big"]


def test_names_are_legal_unique_and_short_enough_for_the_strictest_hosts(bench, helpers):
    bench.counting("first")
    bench.counting("second")
    host = bench.host("--mode", "native")
    host.call("read_result")

    def listed() -> list[str]:
        names = [tool["name"] for tool in host.request("tools/list")["tools"]]
        return names if len(names) == 27 else []

    names = helpers.eventually(listed)
    assert len(set(names)) == 27
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,50}", name) for name in names)
    assert {"first_record", "second_record"} <= set(names)


def test_a_tool_whose_server_is_still_connecting_is_waited_for(bench, until):
    bench.counting()
    go = bench.folder / "go"
    late = [sys.executable, str(Path(bench.servers["count"]["args"][0]).with_name("faulty_stdio.py"))]
    wait = 'while [ ! -e "$0" ]; do sleep 0.05; done; exec "$@"'
    bench.servers["late"] = {
        "command": "sh",
        "args": ["-c", wait, str(go), *late],
        "env": {"FAULT_FOLDER": str(bench.folder)},
    }
    host = bench.host("--mode", "native")
    until(lambda: "record" in {tool["name"] for tool in host.request("tools/list")["tools"]})
    identifier = host.post("tools/call", {"name": "act", "arguments": {"text": "x"}})
    host.request("tools/list")
    go.touch()
    result = host.answer(identifier)["result"]
    assert not result.get("isError"), result


def test_the_kept_catalog_is_listed_at_once_and_news_are_announced(bench, until):
    bench.counting()
    host = bench.host("--mode", "native")
    host.request("tools/list")
    host.close()
    bench.servers["other"] = {
        "command": sys.executable,
        "args": bench.servers["count"]["args"],
        "env": {"COUNTER_FILE": str(bench.counter), "START_SLEEP": "1"},
    }
    again = bench.host("--mode", "native")

    def names() -> set[str]:
        return {tool["name"] for tool in again.request("tools/list")["tools"]}

    assert "record" in names()
    until(lambda: {"count_record", "other_record"} <= names(), what="the tools of both")
    until(lambda: any(m["method"] == "notifications/tools/list_changed" for m in again.notifications))


def test_the_instructions_speak_of_what_is_listed(bench):
    bench.counting()
    for mode, names in (("native", False), ("compact", True)):
        host = bench.host("--mode", mode, initialize=False)
        told = host.initialize("raw-host")["instructions"]
        assert "read_result" in told
        assert ("find_tool" in told, "call_tool" in told) == (names, names)
        assert len(told) <= 2_048
