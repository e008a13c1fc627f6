"""Nothing that a server answered is lost: deadlines, cancels and hang-ups end a wait, never a capture."""

from __future__ import annotations

import re
import time

import pytest

from raw_host import PATIENCE, least
from slimguard import policy

SOFT = 1.0
REF = re.compile(r"\br[0-9a-z]{14}\b")


@pytest.fixture
def waiting(bench):
    """A guard whose soft deadline is short, ready to call."""

    def start(**timeouts):
        bench.counting()
        bench.section["timeouts"] = {"soft_seconds": SOFT, **timeouts}
        host = bench.host()
        host.await_tool("count/wait")
        return host

    return start


def test_reading_a_running_call_waits_as_long_as_a_call_would_and_then_says_so(waiting, bench, helpers):
    host = waiting()
    go = bench.folder / "go"
    ref = helpers.ref_of(host.tool("count/wait", {"seconds": 0, "until": str(go)}))

    def seconds_until_told() -> float:
        began = time.monotonic()
        text = helpers.text_of(host.read(ref))
        assert "still running" in text and f'read_result(result_ref="{ref}")' in text
        return time.monotonic() - began

    enough = SOFT + 2.1
    assert SOFT * 0.75 < least(seconds_until_told, enough) < enough
    go.touch()
    while "still running" in (text := helpers.text_of(host.read(ref))):
        pass
    assert "done waiting" in text
    assert len(bench.calls("wait")) == 1


def test_an_answer_after_the_calls_own_deadline_is_stored_under_the_ref(waiting, bench, helpers, until):
    host = waiting(call_seconds=0.2)
    go = bench.folder / "go"
    result = host.tool("count/wait", {"seconds": 0, "until": str(go)})
    text = helpers.text_of(result)
    assert result["isError"] is True and "tool ran: unknown" in text
    ref = REF.search(text)[0]
    assert "unknown" in helpers.text_of(host.read(ref))
    go.touch()
    until(lambda: "done waiting" in helpers.text_of(host.read(ref)), what="the late answer")
    assert len(bench.calls("wait")) == 1


@pytest.mark.parametrize(
    "carrier",
    ["stdio", pytest.param("http-json", marks=pytest.mark.faults), pytest.param("http-sse", marks=pytest.mark.faults)],
)
def test_an_answer_within_the_grace_after_the_host_left_is_stored(fault_rig, carrier, until):
    import faulty_common

    rig = fault_rig(carrier)
    for number in range(1, 4):  # a busy machine may use the grace up, and only that may lose the answer
        host = rig.guard()
        arguments = {"text": f"late {number}", "size": 20_000, "delay": 0.6}
        host.post("tools/call", {"name": "call_tool", "arguments": {"tool_ref": "up/act", "arguments": arguments}})
        until(lambda number=number: rig.executed() == number, what="the run of the tool")
        began = time.monotonic()
        host.process.stdin.close()
        host.process.wait(PATIENCE)
        lasted = time.monotonic() - began
        row = max(rig.rows(), key=lambda row: row["created_at"])
        if row["state"] == "stored":
            break
        assert lasted > policy.SHUTDOWN_SECONDS * 0.75, "it did not give the answer its time"
    assert row["state"] == "stored"
    assert rig.exported(row["result_ref"]) == faulty_common.result_of(arguments)
    assert rig.executed() == number


def test_a_call_that_outlasts_the_grace_is_unknown_and_never_sent_again(fault_rig, helpers, until):
    rig = fault_rig("stdio")
    runs = 0

    def seconds_to_leave() -> float:
        nonlocal runs
        runs += 1
        host = rig.guard()
        arguments = {"text": "later", "delay": 600}
        host.post("tools/call", {"name": "call_tool", "arguments": {"tool_ref": "up/act", "arguments": arguments}})
        until(lambda: rig.executed() == runs, what="the run of the tool")
        rig.note_children(host)
        began = time.monotonic()
        host.process.stdin.close()
        host.process.wait(PATIENCE)
        return time.monotonic() - began

    assert least(seconds_to_leave, 3.5) < 3.5, "the grace of two seconds, not the delay of the call"
    rig.assert_no_orphans()
    rows = rig.rows()
    assert {row["state"] for row in rows} == {"unknown"}
    again = rig.guard()
    text = helpers.text_of(again.read(rows[0]["result_ref"]))
    assert "unknown" in text and "tool ran: unknown" in text
    assert rig.executed() == runs


def test_progress_reaches_the_host_while_it_waits_and_only_when_it_gave_a_token(waiting, helpers, until):
    host = waiting()
    call = {"name": "call_tool", "arguments": {"tool_ref": "count/progress", "arguments": {}}}
    host.request("tools/call", call)
    assert host.notifications == []
    host.request("tools/call", {**call, "_meta": {"progressToken": "mine"}})
    sent = until(lambda: [m for m in host.notifications if m["method"] == "notifications/progress"])
    assert {m["params"]["progressToken"] for m in sent} == {"mine"}
    steps = [m["params"]["progress"] for m in sent]
    assert steps == sorted(steps)


def both(host, tool_ref, arguments):
    call = {"name": "call_tool", "arguments": {"tool_ref": tool_ref, "arguments": arguments}}
    first, second = host.post("tools/call", call), host.post("tools/call", call)
    return [helpers_text(host.answer(identifier)["result"]) for identifier in (first, second)]


def helpers_text(result):
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


def test_equal_calls_run_twice_unless_joining_is_asked_for(bench):
    bench.counting()
    host = bench.host()
    host.await_tool("count/wait")
    texts = both(host, "count/wait", {"seconds": 0.5})
    assert texts == ["done waiting", "done waiting"]
    assert len(bench.calls("wait")) == 2


def test_a_duplicate_joins_the_call_in_flight_and_says_so(bench):
    bench.counting()
    bench.section["calls"] = {"join_within_ms": 60_000}
    host = bench.host()
    host.await_tool("count/wait")
    texts = both(host, "count/wait", {"seconds": 2})
    assert len(bench.calls("wait")) == 1
    assert all("done waiting" in text for text in texts)
    assert sum("joined an identical call" in text for text in texts) == 1


def test_read_only_calls_and_other_arguments_never_join(bench):
    bench.counting()
    bench.section["calls"] = {"join_within_ms": 60_000}
    host = bench.host()
    host.await_tool("count/read_rows")
    both(host, "count/read_rows", {})
    assert len(bench.calls("read_rows")) == 2
    call = {"name": "call_tool", "arguments": {"tool_ref": "count/wait", "arguments": {"seconds": 0.3}}}
    other = {"name": "call_tool", "arguments": {"tool_ref": "count/wait", "arguments": {"seconds": 0.31}}}
    for identifier in [host.post("tools/call", call), host.post("tools/call", other)]:
        host.answer(identifier)
    assert len(bench.calls("wait")) == 2


def test_a_call_after_the_first_has_ended_is_a_call_of_its_own(bench):
    bench.counting()
    bench.section["calls"] = {"join_within_ms": 60_000}
    host = bench.host()
    host.tool("count/record", {"text": "x"})
    host.tool("count/record", {"text": "x"})
    assert len(bench.calls("record")) == 2
