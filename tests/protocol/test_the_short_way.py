"""Later calls on a connection skip the SDK's session: the host must not be able to tell, in either era."""

from __future__ import annotations

from typing import Any

import pytest

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw-host", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.parametrize(
    "call",
    [
        {"name": "call_tool", "arguments": {"tool_ref": "count/record", "arguments": {"text": "é\u2028"}}},
        {"name": "call_tool", "arguments": '{"tool_ref":"count/record","arguments":{"text":"text"}}'},
        {"name": "call_tool", "arguments": {"tool_ref": "count/none"}},
        {"name": "call_tool"},
        {"name": "read_result", "arguments": {"result_ref": "nonsense"}},
        {"name": "nothing"},
    ],
)
@pytest.mark.parametrize("era", ["handshake", "2026-07-28"])
def test_the_second_answer_is_the_first_one_again(bench, call: dict[str, Any], era: str):
    bench.counting()
    host = bench.host(initialize=era == "handshake")
    meta = {} if era == "handshake" else {"_meta": MODERN}
    answers = [host.request("tools/call", {**call, **meta}) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert ("resultType" in answers[2]) == (era != "handshake")


def test_progress_of_a_later_call_reaches_the_host_before_its_answer(guard):
    host = guard()
    host.call("find_tool", {"query": "count/progress"})
    host.call("call_tool", {"tool_ref": "count/progress", "arguments": {}}, _meta={"progressToken": 5})
    progress = [message["params"] for message in host.notifications if message["method"] == "notifications/progress"]
    assert [item["progress"] for item in progress] == [1, 2, 3]
    assert {item["progressToken"] for item in progress} == {5}


def test_a_request_of_the_other_era_is_refused_later_as_at_first(guard, bench):
    host = guard()
    call = {"name": "call_tool", "arguments": {"tool_ref": "count/record", "arguments": {"text": "x"}}}
    host.request("tools/call", call)
    message = host.answer(host.post("tools/call", {**call, "_meta": MODERN}))
    assert message["error"]["code"] == -32600
    assert len(bench.calls("record")) == 1


def test_a_later_call_in_flight_when_the_host_hangs_up_ran_once(bench, until):
    bench.counting()
    host = bench.host()
    host.call("find_tool", {"query": "count/wait"})
    host.post(
        "tools/call", {"name": "call_tool", "arguments": {"tool_ref": "count/wait", "arguments": {"seconds": 20}}}
    )
    until(lambda: bench.calls("wait"), 20)
    host.process.stdin.close()
    host.process.wait(10)
    assert len(bench.calls("wait")) == 1
